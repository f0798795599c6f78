#!/bin/sh
# House rules of size: no source file over 500 lines, no function over 100 lines.
set -eu
status=0
for file in src/*/*.[ch] include/accelpick/*.h tools/*.c; do
    [ -f "$file" ] || continue
    lines=$(wc -l < "$file")
    if [ "$lines" -gt 500 ]; then
        echo "$file: $lines lines (limit 500)"
        status=1
    fi
    # A function starts at a line that begins in column 1 and is followed by "{" alone; it ends at "}" in column 1.
    awk -v file="$file" '
        /^\{/ { start = NR }
        /^\}/ { if (start && NR - start > 100) { print file ":" start ": function of " NR - start " lines (limit 100)"; bad = 1 }
                start = 0 }
        END { exit bad }' "$file" || status=1
done
exit $status
