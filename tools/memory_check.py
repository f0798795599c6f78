#!/usr/bin/env python3
"""Checks the estimator's memory verdicts against what users reported (tests/measured/memory.jsonl).

usage: memory_check.py ACCELPICK [--all]    prints wrong verdicts (all with --all), then the share that is right"""
import collections
import json
import subprocess
import sys


def workload_of(case):
    workload = dict(case["workload"])
    if isinstance(workload["model"], dict):
        workload["model"] = {("class" if k == "family" else k): v for k, v in workload["model"].items()}
    if workload.get("optimizer") == "adam":
        workload["optimizer"] = "adamw"
    return workload


def verdict_of(program, case):
    run = subprocess.run([program, "estimate", "-", "--on", case["target"], "--json"], input=json.dumps(workload_of(case)),
                         capture_output=True, text=True)
    try:
        return json.loads(run.stdout)["results"][0]["memory"], None
    except (ValueError, KeyError, IndexError, TypeError):
        return None, (run.stderr or run.stdout).strip().split("\n")[0]


def main():
    program, show_all = sys.argv[1], "--all" in sys.argv
    counts = collections.Counter()
    with open("tests/measured/memory.jsonl", encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    for case in cases:
        memory, error = verdict_of(program, case)
        said = memory and memory["verdict"]
        right = said is not None and (said != "does-not-fit") == case["fits"]
        counts[case["margin"], right] += 1
        if show_all or not right:
            print(case["id"], case["basis"], case["margin"], "fitted" if case["fits"] else "out of memory", "-", said or error,
                  f'{memory["peak_gib"]:.1f} of {memory["capacity_gib"]:.1f} GiB' if memory and memory["peak_gib"] else "",
                  f'(measured {case["peak_gib"]})' if case["peak_gib"] else "", case["target"], case["why"])
    total = sum(counts.values())
    for margin in ("clear", "borderline"):
        good, bad = counts[margin, True], counts[margin, False]
        print(f"{margin}: {good} of {good + bad} right")
    print(f"all: {counts['clear', True] + counts['borderline', True]} of {total} right")


main()
