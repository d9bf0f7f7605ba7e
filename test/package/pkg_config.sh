#!/usr/bin/env bash
# pkg_config.sh COMPILER PREFIX LIBRARY_DIRECTORY CONSUMER WORK_DIRECTORY WITH_NN [EMULATOR...]
# Compiles the consumer programs as C++20 with what pkg-config says, and runs them. One more file
# includes every installed header. Each of them also compiles alone.
set -euo pipefail
compiler=$1 prefix=$2 libraries=$3 consumer=$4 work=$5 with_nn=$6
shift 6
emulator=("$@")
export PKG_CONFIG_PATH=$libraries/pkgconfig LD_LIBRARY_PATH=$libraries
mkdir -p "$work"
cd "$work"

build() {  # NAME MODULE SOURCE [FLAG...]
  local flags
  flags=$(pkg-config --cflags --libs "$2")
  # shellcheck disable=SC2086  # the flags are words
  "$compiler" -std=c++20 -O2 "${@:4}" -o "$1" "$3" $flags
}
build_and_run() {  # the same
  build "$@"
  "${emulator[@]}" "./$1"
}

root=$consumer/../../..

# The N-th program that the README shows. Its lines that are not directives become the body of main.
program_of_readme() {  # N
  awk -v wanted="$1" '
    /^```cpp$/ { inside = ++blocks == wanted; next }
    /^```$/ { inside = 0 }
    inside && /^#include/ { print }
    inside && !/^#include/ { body = body $0 "\n" }
    END { print "#include <cstdint>\nint main() {\n" body "return status.ok() ? 0 : 1;\n}" }
  ' "$root/README.md"
}

# The only program that a page of docs/ shows.
program_of_page() {  # PAGE
  sed -n '/^```cpp$/,/^```$/p' "$root/docs/$1" | grep -v '^```'
}

build_and_run gemm intaglio "$consumer/gemm.cc"
build_and_run planned intaglio "$consumer/planned.cc"
program_of_readme 1 > readme_gemm.cc
build_and_run readme_gemm intaglio readme_gemm.cc
module=intaglio
if [ "$with_nn" = 1 ]; then
  build_and_run nn intaglio-nn "$consumer/nn.cc"
  build_and_run network intaglio-nn "$consumer/network.cc"
  program_of_readme 2 > readme_model.cc
  cp "$root/examples/digits/digits.tflite" .
  build_and_run readme_model intaglio-nn readme_model.cc
  program_of_page small_program.md > classify.cc
  build classify intaglio-nn classify.cc
  "${emulator[@]}" ./classify digits.tflite
  operator=$root/examples/custom_operator
  build custom_operator intaglio-nn "$operator/custom_operator.cc" "$operator/hard_shrink.cc"
  "${emulator[@]}" ./custom_operator shrink.tflite
  # The installed command has the functions that a library of operators needs.
  if [ ${#emulator[@]} = 0 ] && [ -x "$prefix/bin/intaglio" ]; then
    # shellcheck disable=SC2046  # the flags are words
    "$compiler" -std=c++20 -O2 -shared -fPIC $(pkg-config --cflags intaglio-nn) -o hard_shrink.so \
      "$operator/hard_shrink.cc" "$operator/library.cc"
    "$prefix/bin/intaglio" verify shrink.tflite --inputs 1 --operators hard_shrink.so
  fi
  module=intaglio-nn
fi

# The flags may be any. If nothing is emulated, they may be those of this machine.
build_and_run stages intaglio "$consumer/stages.cc"
build_and_run stages_by_flags intaglio "$consumer/stages.cc" -DINTAGLIO_STAGES_BY_FLAGS
if [ ${#emulator[@]} = 0 ]; then
  build_and_run stages_native intaglio "$consumer/stages.cc" -march=native
  build_and_run stages_by_flags_native intaglio "$consumer/stages.cc" -march=native \
    -DINTAGLIO_STAGES_BY_FLAGS
fi

# The caller chooses the language: a later standard that the caller asked for stays.
if pkg-config --cflags "$module" | grep -e -std=; then
  echo "the flags name a language"
  exit 1
fi

# A compiler that is given an older language says what is wrong.
# shellcheck disable=SC2046  # the flags are words
refusal=$(echo '#include <intaglio/gemm/gemm.h>' |
  "$compiler" -x c++ -fsyntax-only $(pkg-config --cflags-only-I intaglio) -std=c++17 - 2>&1 || true)
grep -q 'error.*Intaglio needs C++20: compile with -std=c++20' <<< "$refusal" ||
  { echo "of C++17, it says: $(head -n 5 <<< "$refusal")"; exit 1; }

# Those of an instruction set come in through the header that asks for the compiler's flags.
{
  (cd "$prefix/include" && find intaglio -name '*.h' -not -path '*/kernels/*/*' | sort |
    sed 's/.*/#include "&"/')
  echo 'int main() { return 0; }'
} > all_headers.cc
build_and_run all_headers "$module" all_headers.cc
compiles_alone() {  # HEADER COMPILER [FLAG...]
  "${@:2}" -std=c++20 -fsyntax-only -x c++ - <<< "$1" || { echo "does not compile alone: $1"; return 1; }
}
export -f compiles_alone
# shellcheck disable=SC2046  # the flags are words
grep '^#include' all_headers.cc | xargs -d '\n' -P 2 -I LINE bash -c 'compiles_alone "$@"' alone LINE \
  "$compiler" $(pkg-config --cflags "$module")
if [[ $("$compiler" -dumpmachine) == x86_64* ]]; then
  for flags in -msse4.1 '-mavx2 -mfma' '-mavx512bw -mavx512dq -mavx512vl'; do
    # shellcheck disable=SC2086,SC2046  # the flags are words
    "$compiler" -std=c++20 -fsyntax-only $flags $(pkg-config --cflags "$module") all_headers.cc
  done
fi
