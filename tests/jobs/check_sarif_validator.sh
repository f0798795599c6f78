#!/bin/sh
# The official validator's word on our SARIF, where it is installed: npm package @microsoft/sarif-multitool-linux (or
# -darwin), its program named by SARIF_MULTITOOL or on the PATH. usage: check_sarif_validator.sh PROGRAM
set -eu
program=$1
tool=${SARIF_MULTITOOL:-$(command -v Sarif.Multitool || true)}
if [ -z "$tool" ]; then
    echo "# skipped: no Sarif.Multitool here (npm pack @microsoft/sarif-multitool-linux, then SARIF_MULTITOOL=…/Sarif.Multitool)"
    echo "0 passed, 0 failed"
    exit 0
fi
report=$(mktemp)
trap 'rm -f "$report"' EXIT
"$program" check tests/jobs --fail-on never -f sarif > "$report"
if DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 "$tool" validate "$report" | grep -q ': error '; then
    echo "not ok - the validator finds errors in the SARIF of tests/jobs"
    echo "0 passed, 1 failed"
    exit 1
fi
echo "1 passed, 0 failed"
