#!/bin/sh
# Static analysis and the rules of the house. FAST=1 looks only at C files that changed since the last commit but one (CI).
set -u
status=0
run() {
    echo "lint: $1"
    shift
    "$@" || status=1
}
files=$(git ls-files 'src/*.c' 'tools/*.c')
if [ "${FAST:-0}" = 1 ]; then
    changed=$(git diff --name-only --diff-filter=d HEAD~1 -- 'src/*.c' 'tools/*.c' 2>/dev/null | head -n 12)
    files=${changed:-src/base/num.c}
fi
set -- -std=gnu17 -Isrc -Iinclude -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 '-DAP_VERSION="x"' '-DAP_IMAGE_PATH="/dev/null"'
# The functions are called through run.
# shellcheck disable=SC2317
tidy() {
    # shellcheck disable=SC2086
    clang-tidy --quiet $files -- "$@" 2>/dev/null
}
# shellcheck disable=SC2317
check() {
    # shellcheck disable=SC2086
    cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --suppress=missingIncludeSystem --suppress=unknownMacro --suppress=preprocessorErrorDirective -Isrc -Iinclude \
        -DAP_VERSION='"x"' $files
}
# shellcheck disable=SC2317
analyze() {
    for file in $files; do
        gcc -fanalyzer -O1 "$@" -c "$file" -o /dev/null -Wno-analyzer-possible-null-dereference || return 1
    done
}
run layers tools/check_layers.sh
run sizes tools/check_size.sh
command -v shellcheck >/dev/null && run shellcheck shellcheck -x tools/*.sh tests/cli/run.sh .ci/run
command -v yamllint >/dev/null && run yamllint yamllint -s -c .yamllint data
command -v mandoc >/dev/null && run mandoc mandoc -T lint -W warning docs/man/accelpick.1
command -v cppcheck >/dev/null && run cppcheck check
command -v clang-tidy >/dev/null && run clang-tidy tidy "$@"
[ "${ANALYZE:-0}" = 1 ] && run analyzer analyze "$@"
exit $status
