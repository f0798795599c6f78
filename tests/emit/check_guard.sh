#!/bin/sh
# The guard over real processes. usage: check_guard.sh PROGRAM; last line "N passed, N failed".
program=$(realpath "$1")
passed=0
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

ok() { # condition's status, what
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok - $2"
        sed 's/^/#   /' err
    fi
}
guard() { # expected exit code, what, arguments
    expected=$1
    what=$2
    shift 2
    timeout 30 "$program" guard "$@" >out 2>err </dev/null
    status=$?
    [ "$status" -eq "$expected" ]
    ok $? "$what: exit $status, expected $expected"
}
says() {
    grep -q -- "$1" err
    ok $? "standard error lacks: $1"
}
gone() { # a process that sleeps this long must not exist
    sleep 0.1
    ! pgrep -f "sleep $1" >/dev/null
    ok $? "a process is left: sleep $1"
}

# Exit codes are the command's.
guard 0 'a command that succeeds' --deadline 20s -- true
guard 42 'a command that fails' --deadline 20s -- sh -c 'exit 42'
# shellcheck disable=SC2016 # for the inner shell
guard 137 'a command that a signal ends' --deadline 20s -- sh -c 'kill -9 $$'
guard 127 'no such command' --deadline 20s -- no-such-command
says 'No such file'
guard 126 'a file that cannot be run' --deadline 20s -- /etc/passwd

# Limits.
guard 1 'a budget' --budget 0.01 --on aws/p5.48xlarge -- sleep 3311
says '80 %\|8[0-9] % of the limit'
says 'limit is reached'
gone 3311
guard 1 'a deadline' --deadline 500ms --grace 1s -- sleep 3312
gone 3312
guard 1 'a command that ignores SIGTERM' --deadline 300ms --grace 300ms -- sh -c 'trap "" TERM; sleep 3313; sleep 3313'
gone 3313
guard 1 'a command that ends well when asked' --deadline 300ms -- sh -c 'trap "exit 0" TERM; while :; do sleep 0.05; done'
guard 0 'the nearer limit counts' --budget 1000 --price-hour 1 --deadline 20s -- true

# Nothing is left running.
guard 3 'a child in the background' --deadline 20s -- sh -c 'sleep 3314 & exit 3'
gone 3314
guard 4 'a child in a session of its own' --deadline 20s -- sh -c 'setsid sleep 3315 & sleep 0.2; exit 4'
gone 3315
guard 1 'both at the limit' --deadline 400ms --grace 300ms -- sh -c 'trap "" TERM; setsid sleep 3316 & sleep 3316'
gone 3316
"$program" guard --deadline 30s -- sleep 3317 2>err &
victim=$!
sleep 0.3
kill -KILL "$victim"
wait "$victim" 2>/dev/null
gone 3317

# Signals are passed on; after SIGTERM the command has the grace period.
"$program" guard --deadline 30s -- sh -c 'trap "exit 9" USR1; while :; do sleep 0.05; done' 2>err &
victim=$!
sleep 0.3
kill -USR1 "$victim"
wait "$victim"
[ $? -eq 9 ]
ok $? 'SIGUSR1 is passed on'
"$program" guard --deadline 30s --grace 300ms -- sh -c 'trap "" TERM; while :; do sleep 0.05; done' 2>err &
victim=$!
sleep 0.3
kill -TERM "$victim"
wait "$victim"
[ $? -eq 137 ]
ok $? 'SIGTERM, then SIGKILL after the grace period'

# Progress: from the output, which is passed through, and from a log that is rotated.
# shellcheck disable=SC2016
guard 1 'progress from the output' --deadline 2s --price-hour 36 --every 300ms --progress 'step (\d+)/(\d+)' -- sh -c 'for i in 1 2 3 4 5 6; do echo "step $i/100"; sleep 0.2; done; sleep 9'
says 'step 6 of 100, done after'
says 'at this speed the job ends after'
grep -q 'step 6/100' out
ok $? 'the output is passed through'
# shellcheck disable=SC2016
guard 0 'progress from a rotated log' --deadline 20s --every 200ms --steps 50 --log train.log --progress 'it=(\d+)' -- sh -c \
    'echo it=1 >train.log; sleep 0.5; mv train.log old.log; echo it=7 >train.log; sleep 0.6; : >train.log; sleep 0.3; echo it=9 >>train.log; sleep 0.6'
says 'step 7 of 50'
says 'step 9 of 50'

# Usage.
guard 2 'no limit' --price-hour 1 -- true
guard 2 'no price' --budget 1 -- true
guard 2 'no command' --deadline 1s
guard 2 'no --' --deadline 1s true
guard 2 'a faulty expression' --deadline 1s --progress 'a(' -- true
guard 2 'an unknown target' --budget 1 --on aws/p5.48xlarg -- true
guard 2 'a price that is unknown' --budget 1 --on rig/no-such-rig -- true

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
