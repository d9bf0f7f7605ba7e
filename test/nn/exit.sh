#!/usr/bin/env bash
# exit.sh ROUNDS PROBE...: checks that a process ends well while its threads prepare and run models.
# PROBE is a program, or the words of an emulator and a program.
set -uo pipefail
rounds=$1
shift
for ((i = 0; i < rounds; ++i)); do
  timeout 60 "$@" $((i * 137 % 20000))
  status=$?
  if [ $status -ne 0 ]; then
    echo "round $i: exit status $status"
    exit 1
  fi
done
