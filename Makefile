# accelpick: one non-recursive Makefile. `make help` lists the targets.
VERSION := 0.1.0
VARIANT ?= release
B := build/$(VARIANT)
CC ?= cc
PREFIX ?= /usr/local
DESTDIR ?=

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
LIBS := -lyaml -lcjson -lpcre2-8 -lm

LIB_SRC := $(filter-out src/cli/% src/catalog/builtin.c,$(sort $(wildcard src/*/*.c)))
CLI_SRC := $(sort $(wildcard src/cli/*.c))
TEST_SRC := $(sort $(wildcard tests/unit/test_*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
DATA := $(sort $(shell find data -name '*.yaml' 2>/dev/null))
obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
LIB := $(B)/libaccelpick.a
BIN := $(B)/accelpick
TESTS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(TEST_SRC))
FUZZERS := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(FUZZ_SRC))

.PHONY: all
all: $(BIN)

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

# The catalog is compiled into the program by the loader itself: a first program without it writes the image.
$(B)/libcore.a: $(call obj,$(LIB_SRC))
	@rm -f $@
	$(AR) rcs $@ $^
$(B)/mkimage: $(call obj,tools/mkimage.c) $(B)/libcore.a
	$(CC) $(LINK_$(VARIANT)) $(LDFLAGS) $^ $(LIBS) -o $@
$(B)/catalog.img: $(B)/mkimage $(DATA)
	$(B)/mkimage data $@
$(B)/obj/src/catalog/builtin.o: ALL_CFLAGS += -DAP_IMAGE_PATH='"$(B)/catalog.img"'
$(B)/obj/src/catalog/builtin.o: $(B)/catalog.img
$(LIB): $(call obj,$(LIB_SRC) src/catalog/builtin.c)
	@rm -f $@
	$(AR) rcs $@ $^
$(BIN): $(call obj,$(CLI_SRC)) $(LIB)
	$(CC) $(LINK_$(VARIANT)) $(LDFLAGS) $^ $(LIBS) -o $@

# Fits data/calibration (for developers).
$(B)/apfit: $(call obj,tools/apfit.c) $(LIB)
	$(CC) $(LINK_$(VARIANT)) $(LDFLAGS) $^ $(LIBS) -o $@

$(B)/tests/%: $(B)/obj/tests/unit/%.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LINK_$(VARIANT)) $(LDFLAGS) $^ $(LIBS) -lcmocka -o $@
$(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LINK_$(VARIANT)) -fsanitize=fuzzer $(LDFLAGS) $^ $(LIBS) -o $@

# What help says, as files; a test compares them with the program.
.PHONY: docs check-cli
docs: $(BIN)
	@mkdir -p docs/man docs/cli
	$(BIN) help --man > docs/man/accelpick.1
	$(BIN) help --markdown > docs/cli/reference.md
check-cli: $(BIN)
	tests/cli/run.sh $(BIN)

.PHONY: clean
clean:
	rm -rf build

-include $(shell find build -name '*.d' 2>/dev/null)
