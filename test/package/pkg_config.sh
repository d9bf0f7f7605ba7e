#!/usr/bin/env bash
# pkg_config.sh COMPILER PREFIX LIBRARY_DIRECTORY CONSUMER WORK_DIRECTORY WITH_NN [EMULATOR...]
# Compiles the consumer programs with nothing but what pkg-config says, and runs them. One more file
# includes every installed header, to see that none of them needs one that is not installed.
set -euo pipefail
compiler=$1 prefix=$2 libraries=$3 consumer=$4 work=$5 with_nn=$6
shift 6
emulator=("$@")
export PKG_CONFIG_PATH=$libraries/pkgconfig LD_LIBRARY_PATH=$libraries
mkdir -p "$work"
cd "$work"

build_and_run() {  # NAME MODULE SOURCE
  local flags
  flags=$(pkg-config --cflags --libs "$2")
  # shellcheck disable=SC2086  # the flags are words
  "$compiler" -std=c++20 -O1 -o "$1" "$3" $flags
  "${emulator[@]}" "./$1"
}

build_and_run gemm intaglio "$consumer/gemm.cc"
module=intaglio
if [ "$with_nn" = 1 ]; then
  build_and_run nn intaglio-nn "$consumer/nn.cc"
  module=intaglio-nn
fi

# Those of an instruction set come in through the header that asks for the compiler's flags.
{
  (cd "$prefix/include" && find intaglio -name '*.h' -not -path '*/kernels/*/*' | sort |
    sed 's/.*/#include "&"/')
  echo 'int main() { return 0; }'
} > all_headers.cc
build_and_run all_headers "$module" all_headers.cc
if [[ $("$compiler" -dumpmachine) == x86_64* ]]; then
  for flags in -msse4.1 '-mavx2 -mfma' '-mavx512bw -mavx512dq -mavx512vl'; do
    # shellcheck disable=SC2086,SC2046  # the flags are words
    "$compiler" -std=c++20 -fsyntax-only $flags $(pkg-config --cflags "$module") all_headers.cc
  done
fi
