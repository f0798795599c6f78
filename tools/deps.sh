#!/bin/sh
# Installs what building and testing need, if anything is missing. As root or through sudo; otherwise prints the one line
# that does it and stops.
set -eu
packages="gcc make pkg-config libyaml-dev libcjson-dev libcurl4-openssl-dev zlib1g-dev libpcre2-dev libcmocka-dev"
[ "${1:-}" = lint ] && packages="clang clang-tidy python3-yaml python3-jsonschema slurmctld slurm-client cppcheck shellcheck yamllint mandoc valgrind libclang-rt-14-dev"
missing=""
for package in $packages; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "make deps knows Debian and Ubuntu; please install:$missing" >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    sudo=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    sudo="sudo"
else
    echo "missing packages; please run: sudo apt-get install -y$missing" >&2
    exit 1
fi
echo "installing$missing"
# shellcheck disable=SC2086
$sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
