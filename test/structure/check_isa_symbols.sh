#!/usr/bin/env bash
# check_isa_symbols.sh NM OBJECT...
# The objects are compiled for a newer CPU than the rest of the library. A weak symbol in them, such as
# an inline function that was not inlined, competes with its copies from everywhere else, and the
# linker may keep the one that an older CPU cannot run. So the only weak symbols allowed are those that
# nobody else can have: x_<isa>.cc.o may define what has the instruction set in its name, template
# arguments included, such as F<Avx2> in x_avx2.cc.o.
# For the same reason nothing here may run at start-up.
set -euo pipefail
nm=$1
shift
status=0
for object in "$@"; do
  isa=$(basename "${object%%.cc.*}")
  isa=${isa##*_}
  weak=$("$nm" -C --defined-only "$object" | sed -nE 's/^[0-9a-f]* [WVu] //p' |
    grep -viE "$isa([^a-z0-9]|$)" | grep -vF 'DW.ref.__gxx_personality' || true)
  if [ -n "$weak" ]; then
    printf '%s: weak symbols that the linker could give to older CPUs:\n%s\n' "$object" "$weak"
    status=1
  fi
  if "$nm" --defined-only "$object" | grep -E '_GLOBAL__sub_I_|__cxx_global_var_init'; then
    printf '%s: runs code at start-up\n' "$object"
    status=1
  fi
done
echo "$# objects"
[ $# -gt 0 ] || status=1
exit $status
