#!/bin/sh
# docs/diagnostics.md has a row for every code that the sources can print and every assumption that they make, docs/rules.md one for every fact.
# usage: check_reference.sh PROGRAM; last line "N passed, N failed"
program=$1
passed=0
failed=0
check() { # page, what must be in it
    if grep -qF "| $2 |" "$1"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok - $1 lacks a row for $2"
    fi
}
codes() {
    cat src/*/*.c | grep -oE '(AP_ERROR|AP_WARNING|AP_NOTE|ap_cli_usage\(cli|complain\(&?c), *[0-9]{1,3}\b' | grep -oE '[0-9]+$'
    cat src/*/*.h | grep -oE 'AP_(CODE|CEL)_[A-Z_]+ = [0-9]+' | grep -oE '[0-9]+$'
}
for code in $(codes | sort -n | uniq); do
    check docs/diagnostics.md "AP$(printf '%04d' "$code")"
done
for id in $(cat src/plan/*.c | grep -oE '"AP8[0-9]{3}"' | tr -d '"' | sort -u); do
    check docs/diagnostics.md "$id"
done
for name in $(cat src/*/*.c | grep -oE '_assume\([a-z_]+, "[a-z_.]+"' | cut -d'"' -f2 | sort -u); do
    check docs/diagnostics.md "$name"
done
for fact in $("$program" rules facts -f csv --fields fact | tr -d '\r' | tail -n +2); do
    check docs/rules.md "$fact"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
