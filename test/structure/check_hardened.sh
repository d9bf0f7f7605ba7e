#!/usr/bin/env bash
# check_hardened.sh READELF PROGRAM SYMBOL...
# Checks that a program of an optimized build is hardened: the loader binds everything at its start
# and then protects the table (full RELRO), and the program refers to each SYMBOL, which the compiler
# puts where it guards the stack or the length of a copy.
set -euo pipefail
readelf=$1 program=$2
shift 2
status=0
dynamic=$("$readelf" --dynamic --wide "$program")
grep -qE 'BIND_NOW|FLAGS_1.*NOW' <<< "$dynamic" || { echo "$program is not bound at its start"; status=1; }
headers=$("$readelf" --program-headers --wide "$program")
grep -q GNU_RELRO <<< "$headers" || { echo "$program has no part that becomes read-only"; status=1; }
symbols=$("$readelf" --dyn-syms --wide "$program")
for symbol in "$@"; do
  grep -q " $symbol" <<< "$symbols" || { echo "$program never calls $symbol"; status=1; }
done
exit $status
