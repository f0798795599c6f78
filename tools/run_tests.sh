#!/bin/sh
# Runs all tests of a variant and counts them: usage run_tests.sh BUILD-DIR. The last line is "N passed, N failed".
# Prints only what failed; full output of each part lies in BUILD-DIR/log/.
set -u
build=$1
passed=0
failed=0
mkdir -p "$build/log"

# Adds the counts that a part printed; a part that died without counting is one failure.
part() {
    name=$1
    log=$build/log/$name.log
    shift
    "$@" > "$log" 2>&1
    status=$?
    ok=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p; s/^\([0-9]*\) passed, [0-9]* failed$/\1/p' "$log" | tail -n 1)
    bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p; s/^[0-9]* passed, \([0-9]*\) failed$/\1/p' "$log" | tail -n 1)
    ok=${ok:-0}
    bad=${bad:-0}
    [ "$status" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
    [ "$status" -eq 0 ] && [ "$ok" -eq 0 ] && ok=1
    passed=$((passed + ok))
    failed=$((failed + bad))
    if [ "$bad" -gt 0 ]; then
        echo "FAILED $name (exit $status)"
        grep -E '^not ok|\[  FAILED  \]|\[ *ERROR|ERROR: |runtime error|^# |: error' "$log" | head -n 40
    fi
}

for test in "$build"/tests/test_*; do
    [ -x "$test" ] && [ ! -d "$test" ] && part "$(basename "$test")" "$test"
done
part cli tests/cli/run.sh "$build/accelpick"
part layers tools/check_layers.sh
part size tools/check_size.sh
for script in tests/*/check_*.sh; do
    [ -f "$script" ] && part "$(basename "$script" .sh)" sh "$script" "$build/accelpick"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
