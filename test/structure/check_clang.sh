#!/usr/bin/env bash
# check_clang.sh SOURCE CLANG COMPILE_COMMANDS
# Fails where clang does not take a source of the engine with the flags that it is built with, warnings
# as errors: g++ forgives what the standard does not, and a backend may be built with either.
set -euo pipefail
source=$1 clang=$2 commands=$3
engine="-c $source/(fixedpoint|pipeline|pack|kernels|gemm)/[^ ]*\.cc\$"
# Less what is g++'s alone, and what asks for an object.
mapfile -t checks < <(
  sed -nE 's/^ *"command": "(.*)",$/\1/p' "$commands" | grep -E -- "$engine" |
    sed -E 's/\\(.)/\1/g; s/^[^ ]+( [^-"][^ ]*)*//; s/ "?-(mtune-ctrl=|falign-loops=|fno-ipa-cp-clone)[^ ]*//g' |
    sed -E 's/ -o [^ ]*//; s/ -c / -fsyntax-only /'
)
printf '%s\n' "${checks[@]}" |
  xargs -d '\n' -P "$(nproc)" -I '{}' sh -c "$clang -Wno-unknown-warning-option {}"
echo "${#checks[@]} sources"
[ "${#checks[@]}" -gt 0 ]
