#!/bin/sh
# Speed as ratios in one run on one machine: usage bench.sh PROGRAM BENCH
set -eu
program=$1
bench=$2
"$bench"
"${bench}_rules"
python=/usr/bin/python3
"$python" -c 'import json,argparse,yaml,csv' 2>/dev/null || { echo "no python3-yaml here: no ratios"; exit 0; }
# Median wall time in ms of 15 runs.
median() {
    i=0
    while [ $i -lt 15 ]; do
        start=$(date +%s%N)
        "$@" >/dev/null
        end=$(date +%s%N)
        echo $(((end - start) / 1000))
        i=$((i + 1))
    done | sort -n | sed -n 8p
}
base=$(median "$python" -c 'import json,argparse,yaml,csv')
recommend=$(median "$program" recommend --model llama-3.1-8b --method lora --tokens 200M)
json=$(median "$program" recommend --model llama-3.1-8b --method lora --tokens 200M --json -n 20)
version=$(median "$program" version)
echo "python3 -c 'import json,argparse,yaml,csv' $base us"
echo "recommend                 $recommend us, ratio $(awk "BEGIN{printf \"%.2f\", $recommend/$base}") (below 1 wanted)"
echo "recommend --json -n 20    $json us, ratio $(awk "BEGIN{printf \"%.2f\", $json/$base}")"
echo "version                   $version us, ratio $(awk "BEGIN{printf \"%.2f\", $version/$base}") (below 0.2 wanted)"
if [ -x /usr/bin/time ]; then
    peak=$(/usr/bin/time -f %M "$program" recommend --model llama-3.1-8b --method lora --tokens 200M 2>&1 >/dev/null | tail -n 1)
    echo "recommend peak memory     $((peak / 1024)) MiB (below 64 wanted)"
fi
