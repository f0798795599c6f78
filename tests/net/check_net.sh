#!/bin/sh
# Price sources against servers on loopback that misbehave. usage: check_net.sh PROGRAM; last line "N passed, N failed"
exec python3 "$(dirname "$0")/check_net.py" "$1"
