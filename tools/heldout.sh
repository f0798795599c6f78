#!/bin/sh
# Stores predictions of rows that the fit never saw (tests/measured/heldout.csv) and, with --write, the fitted constants
# and bands. usage: heldout.sh APFIT [--write]
set -eu
apfit=$1
shift
out=tests/measured/heldout.csv
rm -f "$out"
for engine in llm dl tree env; do
    "$apfit" "$engine" --holdout rows,source,chip --dump "$out" "$@" > "$(dirname "$apfit")/heldout-$engine.txt"
done
grep -v '^in,' "$out" > "$out.new"
mv "$out.new" "$out"
