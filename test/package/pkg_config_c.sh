#!/usr/bin/env bash
# pkg_config_c.sh COMPILER PREFIX LIBRARY_DIRECTORY SOURCE WORK_DIRECTORY [EMULATOR...]
# Compiles programs in C99 with what pkg-config says of the installed C interface, and runs them: the
# consumer, and the program that docs/c_abi.md shows, whose output is the one that stands there.
set -euo pipefail
compiler=$1 libraries=$3 source=$4 work=$5
shift 5
emulator=("$@")
export PKG_CONFIG_PATH=$libraries/pkgconfig LD_LIBRARY_PATH=$libraries
mkdir -p "$work"
cd "$work"

build() {  # NAME SOURCE
  # Objects first: the language is not that of the library behind them.
  # shellcheck disable=SC2046  # the flags are words
  "$compiler" -x c -std=c99 -Wall -Wextra -pedantic -Werror -O2 $(pkg-config --cflags intaglio-c) -c -o "$1.o" "$2"
  # shellcheck disable=SC2046  # the flags are words
  "$compiler" -o "$1" "$1.o" $(pkg-config --libs intaglio-c)
}

digits=$source/examples/digits
build digits "$source/test/package/consumer_c/digits.c"
"${emulator[@]}" ./digits "$digits"

page=$source/docs/c_abi.md
sed -n '/^```c$/,/^```$/p' "$page" | grep -v '^```' > page.c
build page page.c
cp "$digits/digits.tflite" .
"${emulator[@]}" ./page digits.tflite > page.out
diff <(sed -n '/^```output$/,/^```$/p' "$page" | grep -v '^```') page.out ||
  { echo "docs/c_abi.md shows another output"; exit 1; }
