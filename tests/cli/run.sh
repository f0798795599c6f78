#!/usr/bin/env bash
# Golden tests of the command line. Usage: tests/cli/run.sh PROGRAM [CASE-FILE...]
#
# A case file holds cases; each begins with a command line and goes on with what is expected of it:
#   $ accelpick version        the command, run by sh in a fresh folder (all cases of a file share it)
#   ? 2                        exit code, 0 when absent
#   > text                     standard output has this text          >! text   has it not
#   >= text                    standard output is exactly this line   >~ regex  some line matches
#   2> text  2>! text  2>~ regex   the same for standard error;  2>- nothing on it;  >- nothing on standard output
#   @ name                     a file of that name is written before the case; its lines follow, each after "| "
#   # comment
# Prints TAP and ends with "N passed, N failed".
set -u
program=$(realpath "$1")
shift
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -gt 0 ] || set -- "$here"/cases/*.case
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$program" "$scratch/bin/accelpick"
unset XDG_CONFIG_HOME XDG_DATA_HOME NO_COLOR COLUMNS PAGER SOURCE_DATE_EPOCH CLICOLOR_FORCE
for name in $(compgen -e ACCELPICK_); do unset "$name"; done
export PATH="$scratch/bin:$PATH" ROOT="$root" HOME="$scratch/home" LC_ALL=C TERM=dumb
passed=0 failed=0 number=0

fail() { problems+="# $1"$'\n'; }

matches() { # KIND TEXT FOUND WHERE
    case $1 in
    has) [[ $3 == *"$2"* ]] || fail "$4 lacks: $2" ;;
    not) [[ $3 != *"$2"* ]] || fail "$4 must not have: $2" ;;
    is) [[ $3 == "$2" ]] || fail "$4 is not exactly: $2" ;;
    regex) grep -Eq -- "$2" <<<"$3" || fail "no line of $4 matches: $2" ;;
    empty) [[ -z $3 ]] || fail "$4 is not empty" ;;
    esac
}

run_case() {
    [ -n "$command" ] || return 0
    number=$((number + 1))
    problems=''
    local status=0 out err
    (cd "$dir" && timeout 20 sh -c "$command") >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    out=$(tr -d '\0' <"$scratch/out") err=$(tr -d '\0' <"$scratch/err")
    [ "$status" -eq "$expected" ] || fail "exit code $status, expected $expected"
    for i in "${!kinds[@]}"; do
        if [ "${streams[i]}" = 1 ]; then
            matches "${kinds[i]}" "${texts[i]}" "$out" 'standard output'
        else
            matches "${kinds[i]}" "${texts[i]}" "$err" 'standard error'
        fi
    done
    if [ -z "$problems" ]; then
        passed=$((passed + 1))
        echo "ok $number - $label: $command"
    else
        failed=$((failed + 1))
        echo "not ok $number - $label: $command"
        printf '%s' "$problems"
        sed 's/^/# stdout: /' "$scratch/out" | head -20
        sed 's/^/# stderr: /' "$scratch/err" | head -20
    fi
}

expect() { kinds+=("$1") streams+=("$2") texts+=("$3"); }

reset_case() { command=$1 expected=0 kinds=() streams=() texts=() file=''; }

read_case_file() {
    label=$(basename "$1" .case)
    dir=$scratch/work-$label
    mkdir -p "$dir" "$HOME"
    reset_case ''
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        '$ '*) run_case; reset_case "${line#??}" ;;
        '? '*) expected=${line#??} ;;
        '>! '*) expect not 1 "${line#???}" ;;
        '>= '*) expect is 1 "${line#???}" ;;
        '>~ '*) expect regex 1 "${line#???}" ;;
        '>-') expect empty 1 '' ;;
        '> '*) expect has 1 "${line#??}" ;;
        '2>! '*) expect not 2 "${line#????}" ;;
        '2>~ '*) expect regex 2 "${line#????}" ;;
        '2>-') expect empty 2 '' ;;
        '2> '*) expect has 2 "${line#???}" ;;
        '@ '*) run_case; reset_case ''; file=$dir/${line#??}; mkdir -p "$(dirname "$file")"; : >"$file" ;;
        '| '*) printf '%s\n' "${line#??}" >>"$file" ;;
        '|') echo >>"$file" ;;
        '#'* | '') ;;
        *) echo "Bail out! $1: what is this: $line"; exit 1 ;;
        esac
    done <"$1"
    run_case
}

# Every example that help, manual page and reference print, and every command of README's sh blocks, must work. Those of
# README that use the network or install things are marked there by a comment "# not run".
run_examples() {
    label=examples
    dir=$scratch/examples
    mkdir -p "$dir"
    cp "$here"/examples/* "$dir"
    ln -s "$root/tests" "$root/data" "$dir"
    while IFS= read -r line; do
        reset_case "accelpick $line"
        expect has 1 ''
        run_case
    done < <(accelpick help --examples)
    label=readme
    [ -f "$root/README.md" ] || return 0
    while IFS= read -r line; do
        reset_case "$line"
        run_case
    done < <(awk '/^```/ {inside = ($0 == "```sh"); next} inside' "$root/README.md" |
        grep -E '^(printf .*\| *)?accelpick ' | grep -v '# not run')
}

for path in "$@"; do read_case_file "$path"; done
[ $# -gt 1 ] && run_examples
echo "1..$number"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
