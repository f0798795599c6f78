# accelpick: one non-recursive Makefile. `make help` lists the targets.
VERSION := 0.1.0
VARIANT ?= release
B := build/$(VARIANT)
CC ?= cc
PREFIX ?= /usr/local
DESTDIR ?=
# make V=1 shows the commands.
Q := $(if $(V),,@)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion -Wformat=2 -Wundef -Wvla \
        -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings
HARDEN := -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
OPT_release := -O2 $(HARDEN)
OPT_asan := -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all
OPT_debug := -O0 -g
OPT_coverage := -O0 -g --coverage
OPT_fuzz := -O1 -g -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined
LINK_release := -pie -Wl,-z,relro,-z,now
LINK_asan := -fsanitize=address,undefined
LINK_coverage := --coverage
LINK_fuzz := -fsanitize=address,undefined

DEFS := -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 -DAP_VERSION='"$(VERSION)"'
ALL_CFLAGS = -std=gnu17 $(WARN) $(OPT_$(VARIANT)) $(DEFS) -Isrc -Iinclude -ffile-prefix-map=$(CURDIR)=. -MMD -MP $(CFLAGS)
LIBS := -lyaml -lcjson -lpcre2-8 -lz -lm -pthread
ifdef NO_CURL
DEFS += -DAP_NO_CURL
else
LIBS += -ldl
endif

LIB_SRC := $(filter-out src/cli/% src/catalog/builtin.c,$(sort $(wildcard src/*/*.c)))
CLI_SRC := $(sort $(wildcard src/cli/*.c))
TEST_SRC := $(sort $(wildcard tests/unit/test_*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
DATA := $(sort $(shell find data -name '*.yaml' -o -name '*.tmpl' 2>/dev/null))
obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
LIB := $(B)/libaccelpick.a
BIN := $(B)/accelpick
TESTS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(TEST_SRC))
FUZZERS := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(FUZZ_SRC))

.SECONDARY:
.PHONY: all
all: $(BIN) docs/man/accelpick.1

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@

# Building with and without libcurl in turn must not mix the two.
.PHONY: force
$(B)/curl.flag: force
	@mkdir -p $(@D)
	@echo "NO_CURL=$(NO_CURL)" | cmp -s - $@ || echo "NO_CURL=$(NO_CURL)" > $@
$(B)/obj/src/prices/transport.o: $(B)/curl.flag

# The catalog is compiled into the program by the loader itself: a first program without it writes the image.
$(B)/libcore.a: $(call obj,$(LIB_SRC))
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(B)/mkimage: $(call obj,tools/mkimage.c) $(B)/libcore.a
	$(Q)$(CC) $(LINK_$(VARIANT)) $(LDFLAGS) $^ $(LIBS) -o $@
$(B)/catalog.img: $(B)/mkimage $(DATA) $(wildcard docs/model.md docs/model-other.md docs/diagnostics.md)
	$(Q)$(B)/mkimage data $@
$(B)/obj/src/catalog/builtin.o: private ALL_CFLAGS += -DAP_IMAGE_PATH='"$(B)/catalog.img"'
$(B)/obj/src/catalog/builtin.o: $(B)/catalog.img
$(LIB): $(call obj,$(LIB_SRC) src/catalog/builtin.c)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BIN): $(call obj,$(CLI_SRC)) $(LIB)
	$(Q)$(CC) $(LINK_$(VARIANT)) $(LDFLAGS) $^ $(LIBS) -o $@

# Fits data/calibration (for developers).
$(B)/apfit: $(call obj,tools/apfit.c) $(LIB)
	$(Q)$(CC) $(LINK_$(VARIANT)) $(LDFLAGS) $^ $(LIBS) -o $@

$(B)/accdoc: $(call obj,tools/accdoc.c) $(LIB)
	$(Q)$(CC) $(LINK_$(VARIANT)) $(LDFLAGS) $^ $(LIBS) -o $@

$(B)/tests/%: $(B)/obj/tests/unit/%.o $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_$(VARIANT)) $(LDFLAGS) $^ $(LIBS) -lcmocka -o $@
$(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(LIB)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_$(VARIANT)) -fsanitize=fuzzer $(LDFLAGS) $^ $(LIBS) -o $@

# What help says, as files; a test compares them with the program.
.PHONY: docs
docs: $(BIN)
	@mkdir -p docs/man docs/cli
	$(BIN) help --man > docs/man/accelpick.1
	$(BIN) help --markdown > docs/cli/reference.md
	sed -i '/^| Fact | Kind/,$$d' docs/rules.md
	$(BIN) rules facts -f markdown | sed 's/\\_/_/g' >> docs/rules.md

.PHONY: help deps demo check check-asan check-valgrind fuzz-smoke fuzz accuracy bench lint format coverage
help: ## this list
	@sed -n 's/^\([a-z-]*\):.* ## /\1\t/p' Makefile | sort | expand -t 18
deps: ## install missing packages (Debian, Ubuntu)
	@tools/deps.sh
demo: deps ## build, then run the main job on real input
	@$(MAKE) --no-print-directory all
	@tools/demo.sh $(BIN)
check: deps ## build and run all tests
	@$(MAKE) --no-print-directory tests
	@tools/run_tests.sh $(B)
.PHONY: tests fuzzers
tests: $(BIN) $(TESTS)
fuzzers: $(FUZZERS)
check-asan: ## all tests under AddressSanitizer and UBSan (clang)
	@$(MAKE) --no-print-directory VARIANT=asan CC=clang tests
	@tools/run_tests.sh build/asan
.PHONY: check-net
check-net: $(BIN) ## price sources against servers on loopback that misbehave
	@sh tests/net/check_net.sh $(BIN)
check-valgrind: tests ## unit tests under valgrind
	@for t in $(TESTS); do valgrind -q --error-exitcode=9 --leak-check=full $$t >/dev/null || exit 1; done; echo "valgrind: clean"
fuzz-smoke: ## ten seconds of each fuzzer
	@$(MAKE) --no-print-directory VARIANT=fuzz CC=clang fuzzers
	@tools/fuzz.sh build/fuzz 10
fuzz: ## ten minutes of each fuzzer
	@$(MAKE) --no-print-directory VARIANT=fuzz CC=clang fuzzers
	@tools/fuzz.sh build/fuzz 600
accuracy: $(B)/accdoc ## back-test against the published measurements, in-sample and held out; writes docs/accuracy.md
	@$(B)/accdoc
.PHONY: heldout
heldout: $(B)/apfit ## refit without each fold, source and chip (about ten minutes); what accuracy shows as held out
	@tools/heldout.sh $(B)/apfit
bench: $(BIN) $(B)/bench $(B)/bench_rules ## speed and size, as ratios in one run
	@tools/bench.sh $(BIN) $(B)/bench
$(B)/bench $(B)/bench_rules: $(B)/%: $(B)/obj/tests/bench/%.o $(LIB)
	$(Q)$(CC) $(LINK_$(VARIANT)) $(LDFLAGS) $^ $(LIBS) -o $@
lint: $(BIN) ## static analysis and house rules
	@tools/lint.sh
format: ## clang-format the C sources
	clang-format -i src/*/*.[ch] tests/unit/*.[ch] tools/*.c
coverage: ## line coverage of the tests
	@$(MAKE) --no-print-directory VARIANT=coverage tests
	@tools/run_tests.sh build/coverage
	@cd build/coverage && gcov -b obj/src/*/*.o 2>/dev/null | grep -A1 "^File 'src" | grep -E 'File|Lines' | paste - - | sort

MAN := $(DESTDIR)$(PREFIX)/share/man/man1
.PHONY: install uninstall dist distcheck clean
install: all ## install program, library, header, man page (PREFIX, DESTDIR)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/accelpick $(MAN)
	install -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/accelpick
	install -m 644 $(LIB) $(DESTDIR)$(PREFIX)/lib/libaccelpick.a
	install -m 644 include/accelpick/*.h $(DESTDIR)$(PREFIX)/include/accelpick/
	install -m 644 docs/man/accelpick.1 $(MAN)/
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' tools/accelpick.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/accelpick.pc
	for s in bash:share/bash-completion/completions/accelpick zsh:share/zsh/site-functions/_accelpick \
	    fish:share/fish/vendor_completions.d/accelpick.fish; do f=$(DESTDIR)$(PREFIX)/$${s#*:}; \
	    install -d $$(dirname $$f) && $(BIN) completion $${s%%:*} > $$f || exit 1; done
uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/accelpick $(DESTDIR)$(PREFIX)/lib/libaccelpick.a $(DESTDIR)$(PREFIX)/lib/pkgconfig/accelpick.pc \
	    $(MAN)/accelpick.1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions/accelpick \
	    $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_accelpick $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/accelpick.fish
	rm -rf $(DESTDIR)$(PREFIX)/include/accelpick
dist: ## source archive of HEAD
	@mkdir -p build
	git archive --prefix=accelpick-$(VERSION)/ HEAD | gzip -9n > build/accelpick-$(VERSION).tar.gz
distcheck: dist ## unpack, build and test the archive
	rm -rf build/distcheck && mkdir -p build/distcheck && tar -xzf build/accelpick-$(VERSION).tar.gz -C build/distcheck
	$(MAKE) -C build/distcheck/accelpick-$(VERSION) check
clean: ## remove everything built
	rm -rf build

-include $(shell find build -name '*.d' 2>/dev/null)
