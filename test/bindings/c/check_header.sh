#!/usr/bin/env bash
# check_header.sh COMPILER HEADER: every C and C++ compiler mode takes the header, with all warnings.
set -euo pipefail
compiler=$1 header=$2
warnings=(-Wall -Wextra -pedantic -Werror -fsyntax-only)
for standard in c99 c11 c17; do
  "$compiler" -x c -std=$standard "${warnings[@]}" -Wstrict-prototypes -Wmissing-prototypes - <<< "#include \"$header\""
done
for standard in c++11 c++14 c++17 c++20; do
  "$compiler" -x c++ -std=$standard "${warnings[@]}" -Wconversion - <<< "#include \"$header\""
done
