#!/bin/sh
# Usage: check_jobs.sh PROGRAM. Job files with known answers, and the forms of check read by other programs.
here=$(dirname "$0")
passed=0
failed=0
run() {
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "# failed: $*"; fi
}
python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3
run "$python" "$here/score.py" "$1" "$here"
run "$python" "$here/forms.py" "$1" "$here"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
