#!/usr/bin/env bash
# check_steady_loops.sh OBJDUMP OBJECT...
# The innermost loops over depth keep their accumulators in registers: none that multiplies stores a
# vector to the stack. g++ keeps them in memory at little provocation, several times slower.
set -euo pipefail
objdump=$1
shift
status=0
for object in "$@"; do
  # Of each function, an innermost loop is what a jump back encloses that encloses no other.
  "$objdump" -d -C --no-show-raw-insn "$object" | awk -v object="$(basename "$object")" '
    /^[0-9a-f]+ <.*>:$/ { name = $0; split("", line_at); lines = 0; ended = 0; next }
    /^ *[0-9a-f]+:\t/ {
      address = $1; sub(":", "", address)
      line_at[address] = ++lines; text[lines] = $0
      if ($2 !~ /^j/ || !($3 in line_at) || line_at[$3] <= ended) next
      products = spilled = 0
      for (i = line_at[$3]; i < lines; ++i) {
        if (text[i] ~ /vpdp|vpmadd/) ++products
        if (text[i] ~ /mm[0-9]+,(-?0x[0-9a-f]+)?\(%rsp\)|mm[0-9]+,-0x[0-9a-f]+\(%rbp\)/) spilled = i
      }
      ended = lines
      if (products < 8) next
      ++loops
      if (spilled) { print object ": " name "\n" text[spilled]; bad = 1 }
    }
    END { print object ": " loops + 0 " loops"; exit bad || loops == 0 }' || status=1
done
[ $# -gt 0 ] || status=1
exit $status
