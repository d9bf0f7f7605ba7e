#!/usr/bin/env bash
# check_steady_loops.sh OBJDUMP OBJECT...
# The innermost loops over depth keep their accumulators in registers: none that multiplies stores a
# vector to the stack. g++ keeps them in memory at little provocation, several times slower. Those of
# kernels/depthwise/depthwise_slide.h, which also finish what they multiply and need every register, may store
# one for six products: accumulators in memory would be a store for every product or two. Those of 5 x 5 taps
# have the sums of sixteen unfinished vectors in memory, each of which meets up to ten products in between.
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
      products = spills = 0
      for (i = line_at[$3]; i < lines; ++i) {
        if (text[i] ~ /vpdp|vpmadd/) ++products
        if (text[i] ~ /mm[0-9]+,(-?0x[0-9a-f]+)?\(%rsp\)|mm[0-9]+,-0x[0-9a-f]+\(%rbp\)/) { ++spills; last = i }
      }
      ended = lines
      if (products < 8) next
      ++loops
      most = name ~ /SlideLines|LinesApart/ ? products / 6 : name ~ /DenseFives/ ? products / 4 : 0
      if (spills > most) {
        print object ": " name "\n" spills " spills to " products " products, as " text[last]
        bad = 1
      }
    }
    END { print object ": " loops + 0 " loops"; exit bad || loops == 0 }' || status=1
done
[ $# -gt 0 ] || status=1
exit $status
