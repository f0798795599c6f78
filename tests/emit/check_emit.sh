#!/bin/sh
# Recipes as others see them: bash and shellcheck read the scripts, YAML and JSON readers the rest, `accelpick check` all
# that it knows. usage: check_emit.sh PROGRAM; last line "N passed, N failed".
here=$(cd "$(dirname "$0")" && pwd)
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import yaml' 2>/dev/null && python=$candidate && break
done
if [ -z "$python" ]; then
    echo "# skipped: needs python3 with PyYAML (apt-get install python3-yaml)"
    echo "0 passed, 0 failed"
    exit 0
fi
exec "$python" "$here/recipes.py" "$(realpath "$1")"
