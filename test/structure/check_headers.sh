#!/usr/bin/env bash
# check_headers.sh SOURCE ARCH ISA_FLAGS ABSENT WITHOUT COMMANDS COMPILER [option...]
# Compiles a file that includes nothing but one header, for each header of the tree that no source file
# includes before all else: the build has compiled those alone. COMMANDS, compile_commands.json, lists the
# source files. ISA_FLAGS holds lines "isa flag...": a header x_<isa>.h of kernels/ARCH gets these flags.
# Rooms of other architectures are left out, and headers of the instruction sets ABSENT (a|b); with
# WITHOUT = nn, so is what needs FlatBuffers; where the compiler finds no CUDA Toolkit, bench/cuda; and
# bindings/python, which needs nanobind.
set -euo pipefail
source=$1 arch=$2 isa_flags=$3 absent=$4 without=$5 commands=$6
shift 6
cd "$source"

no_cuda='^$'
if ! "$@" -fsyntax-only -x c++ - <<< '#include <cuda_runtime_api.h>' 2> /dev/null; then
  no_cuda='^bench/cuda/'
fi

headers() {
  find fixedpoint pipeline pack kernels gemm nn bindings tools examples bench test -name '*.h' -not -path 'bindings/python/*' | sort |
    grep -E "^kernels/$arch/|^kernels/(cuda|depthwise|elementwise|float32|reference|tile|winograd)/|^kernels/[^/]*$|^[^k]" | grep -vE "$no_cuda" |
    grep -vE "^kernels/$arch/.*_(${absent:-none})\.h$" |
    if [ "$without" = nn ]; then grep -vE '^(nn|bindings|tools|examples|test/nn|test/bindings|test/tools|bench/nn)/'; else cat; fi
}

included_first() {
  sed -n 's/^ *"file": "\(.*\.cc\)".*/\1/p' "$commands" | sort -u | xargs -r -d '\n' awk '
    FNR == 1 { found = 0 }
    /^#[ \t]*include/ && !found {
      found = 1
      if (sub(/^[^"]*"intaglio\//, "") && sub(/".*/, "")) print
    }' | sort -u
}

# "header flag..." per line.
with_flags() {
  local header isa
  while read -r header; do
    isa=$(basename "$header" .h)
    isa=${isa##*_}
    echo "$header $(sed -n "s/^$isa //p" "$isa_flags")"
  done
}

check() {  # "HEADER FLAG..." COMPILER [option...]
  local line=$1
  shift
  local -a words
  local errors
  read -ra words <<< "$line"
  if ! errors=$("$@" "${words[@]:1}" -fsyntax-only -x c++ - 2>&1 \
    <<< "#include \"intaglio/${words[0]}\""); then
    printf 'does not compile alone: %s\n%s\n' "${words[0]}" "$(head -n 8 <<< "$errors")"
    return 1
  fi
}
export -f check

count=$(headers | wc -l)
headers | comm -23 - <(included_first) | with_flags | xargs -r -d '\n' -P 2 -I LINE bash -c 'check "$@"' check LINE "$@"
echo "$count headers compile alone"
