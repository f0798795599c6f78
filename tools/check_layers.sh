#!/bin/sh
# Includes may only point down the layers (STYLE: the folder is the layer). Prints each include that points up.
set -eu
layers="base io schema report rules catalog prices workload estimate plan jobs emit view api cli"
status=0
rank() {
    n=0
    for layer in $layers; do
        [ "$layer" = "$1" ] && { echo "$n"; return; }
        n=$((n + 1))
    done
    echo -1
}
for file in src/*/*.[ch]; do
    own=$(rank "$(basename "$(dirname "$file")")")
    if [ "$own" -lt 0 ]; then
        echo "$file: folder is no layer (see docs/architecture.md)"
        status=1
        continue
    fi
    for target in $(sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$file" | sort -u); do
        other=$(rank "$target")
        if [ "$other" -gt "$own" ]; then
            echo "$file: includes $target/, a layer above its own"
            status=1
        fi
    done
done
exit $status
