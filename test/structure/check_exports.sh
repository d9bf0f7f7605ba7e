#!/usr/bin/env bash
# check_exports.sh COMPILER NM SOURCE INCLUDE_ROOT WORK GEMM_OBJECT... -- NN_OBJECT...
# Links the libraries as a shared build does, with the lists in cmake/*.exports. Each line of a list
# must name something, programs of users must find all that they need, and internals must not be
# reachable.
set -euo pipefail
compiler=$1 nm=$2 source=$3 include=$4 work=$5
shift 5
mkdir -p "$work"
gemm=()
while [ "$1" != -- ]; do
  gemm+=("$1")
  shift
done
shift
status=0

link() {  # LIBRARY OBJECT...
  "$compiler" -shared -pthread -Wl,--no-undefined "-Wl,--version-script=$source/cmake/$1.exports" \
    -o "$work/lib$1.so" "${@:2}"
  "$nm" -DC --defined-only "$work/lib$1.so" | cut -d' ' -f3- > "$work/$1.symbols"
  echo "$(wc -l < "$work/$1.symbols") symbols of $1"
}

# Reads each line of a list as a regular expression.
names_nothing() {  # LIBRARY
  local pattern
  while read -r pattern; do
    grep -qE "^$pattern$" "$work/$1.symbols" || echo "$1.exports: nothing is named $pattern"
  done < <(sed -nE 's/^ *(intaglio::[^;]*);$/\1/p' "$source/cmake/$1.exports" |
    sed -E 's/\*/.*/g; s/\?/./g')
}

link intaglio_gemm "${gemm[@]}"
link intaglio_nn "$@" "$work/libintaglio_gemm.so"
stale=$(names_nothing intaglio_gemm; names_nothing intaglio_nn)
if [ -n "$stale" ]; then
  echo "$stale"
  status=1
fi
internals='intaglio::(k[A-Z]|Block\(|Execute|WorkerPool|PanelParams|Kernel([^N]|$)|nn::(Make|Plan|Infer(Conv|Add))[A-Za-z]*\()'
if grep -E "$internals" "$work"/*.symbols; then
  echo "internals are exported"
  status=1
fi
for program in gemm planned stages nn network; do
  "$compiler" -std=c++20 -O1 -I"$include" -o "$work/$program" "$source/test/package/consumer/$program.cc" \
    "$work/libintaglio_nn.so" "$work/libintaglio_gemm.so" -Wl,-rpath,"$work" -pthread
  "$work/$program" || { echo "$program fails"; status=1; }
done
exit $status
