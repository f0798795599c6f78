#!/bin/sh
# The main job on real input, as a first-time user would run it: usage demo.sh PROGRAM
set -eu
program=$1
show() {
    echo
    echo "\$ accelpick $*"
    "$program" "$@"
}
show recommend --model llama-3.1-8b --method lora --tokens 200M -n 5
show recommend --model resnet50 --dataset imagenet-1k --epochs 90 -n 5
show recommend --model xgboost --dataset higgs -n 5
show estimate --model llama-3.1-8b --method lora --tokens 200M --on h100-sxm5-80gb:1 --on gcp/v5litepod-16
