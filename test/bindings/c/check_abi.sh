#!/usr/bin/env bash
# check_abi.sh BASELINE LIBRARY HEADER: the library still has the binary interface of BASELINE, an XML file
# of abidw. Additions are no change. Skipped, with exit code 77, where there is no abidiff.
#   check_abi.sh --record BASELINE LIBRARY HEADER    writes the baseline of a new release
set -euo pipefail
record=0
if [ "$1" = --record ]; then
  record=1
  shift
fi
baseline=$1 library=$2 header=$3
if ! command -v abidiff > /dev/null; then
  echo "abi: SKIPPED, there is no abidiff: install abigail-tools"
  exit 77
fi
options=(--header-file "$header" --drop-private-types --exported-interfaces-only)
if [ $record = 1 ]; then
  # Without what depends on the machine.
  abidw "${options[@]}" --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --out-file "$baseline" "$library"
  exit
fi
# Something must be compared: a library without debug information has symbols alone.
described=$(abidw "${options[@]}" "$library")
grep -q "function-decl name='it_product_run'" <<< "$described" || { echo "the library has no debug information"; exit 1; }
abidiff --header-file2 "$header" "${options[@]:2}" --no-added-syms "$baseline" "$library"
echo "the binary interface is that of $(basename "$baseline")"
