#!/bin/sh
# Runs every fuzzer for some seconds on its corpus: usage fuzz.sh BUILD-DIR SECONDS. Findings stay in BUILD-DIR/crashes.
set -u
build=$1
seconds=$2
failed=0
count=0
mkdir -p "$build/crashes"
for fuzzer in "$build"/fuzz/fuzz_*; do
    [ -x "$fuzzer" ] || continue
    name=$(basename "$fuzzer")
    seeds=tests/fuzz/corpus/${name#fuzz_}
    corpus=$build/corpus/$name
    mkdir -p "$corpus"
    set -- "$corpus"
    [ -d "$seeds" ] && set -- "$corpus" "$seeds"
    count=$((count + 1))
    if ! "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=0 \
        -artifact_prefix="$build/crashes/$name-" "$@" > "$build/$name.log" 2>&1; then
        failed=$((failed + 1))
        echo "FAILED $name"
        grep -E 'ERROR|SUMMARY|runtime error|Test unit' "$build/$name.log" | head -n 5
    fi
done
echo "$((count - failed)) fuzzers passed, $failed failed"
[ "$failed" -eq 0 ]
