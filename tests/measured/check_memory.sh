#!/bin/sh
# What users reported to fit or not (memory.jsonl) against the verdicts: at least 95 % of the clear-cut reports and 90 % of
# all must be right. usage: check_memory.sh PROGRAM; last line "N passed, N failed"
set -eu
report=$(python3 tools/memory_check.py "$1" | tail -n 3)
echo "$report" | sed 's/^/# /'
# Lines such as "clear: 45 of 46 right".
echo "$report" | awk '
    /^clear:/ { ok = $2 >= 0.95 * $4; print (ok ? "ok" : "not ok") " - clear-cut reports"; passed += ok; failed += !ok }
    /^all:/ { ok = $2 >= 0.90 * $4; print (ok ? "ok" : "not ok") " - all reports"; passed += ok; failed += !ok }
    END { print passed + 0 " passed, " failed + 0 " failed"; exit failed + 0 > 0 || passed < 2 }'
