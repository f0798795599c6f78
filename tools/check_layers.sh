#!/bin/sh
# Includes may only point down the layers (STYLE: the folder is the layer). Prints each include that points up.
set -eu
awk '
BEGIN {
    count = split("base io schema report rules catalog prices workload estimate plan jobs emit view api cli", names, " ")
    for (i = 1; i <= count; i++)
        rank[names[i]] = i
}
FNR == 1 {
    split(FILENAME, parts, "/")
    own = parts[2]
    if (!(own in rank)) {
        print FILENAME ": folder is no layer (see docs/architecture.md)"
        status = 1
    }
}
own in rank && /^#include "[a-z]*\// {
    split($0, parts, /["\/]/)
    if (rank[parts[2]] > rank[own]) {
        print FILENAME ":" FNR ": includes " parts[2] "/, a layer above its own"
        status = 1
    }
}
END { exit status }' src/*/*.[ch]
