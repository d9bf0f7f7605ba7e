#!/usr/bin/env bash
# check_listed.sh SOURCE WITHOUT LISTED ABSENT
# LISTED names the files that CMake builds, one per line. Fails for a kernel or a test that lies in the
# tree and that nobody builds, but for kernels of the instruction sets ABSENT (a|b) and for what a build
# WITHOUT nn, or c, leaves out; for a kernel or loops over float32 that have no row in their table, and for
# lookups that no kernel has.
set -euo pipefail
source=$1 without=$2 listed=$3 absent=$4
status=0
missing=$(
  {
    find "$source"/kernels -name '*.cc' -not -path '*/cuda/*' | grep -vE "_(${absent:-none})\.cc$"
    find "$source"/test -name '*_test.cc' -not -path '*/cuda/*'
  } | case $without in
    nn) grep -vE '/test/(nn|bindings|tools)/' ;;
    c) grep -vE '/test/bindings/' ;;
    *) cat ;;
  esac |
    sort | comm -23 - <(sort -u "$listed")
)
if [ -n "$missing" ]; then
  echo "in the tree, but in no CMakeLists.txt (a kernel's name ends in its instruction set):"
  echo "$missing"
  status=1
fi

kernels=0
while read -r file; do
  lookups=$(sed -nE 's/^extern const LookupRoutines (k[A-Za-z0-9]+) = .*/\1/p' "$file")
  if [ -n "$lookups" ]; then
    if ! grep -qrE "\.lookups = &$lookups\b" "$source/kernels"; then
      echo "$file: no kernel has $lookups"
      status=1
    fi
    continue
  fi
  loops=$(sed -nE 's/^extern constinit const FloatLoops (k[A-Za-z0-9]+) =.*/\1/p' "$file")
  for row in $loops; do
    if ! grep -qE "&$row\b" "$source/kernels/float_table.cc"; then
      echo "$file: $row has no row in kernels/float_table.cc"
      status=1
    fi
  done
  if [ -n "$loops" ]; then
    continue
  fi
  rows=$(sed -nE 's/^extern constinit const Kernel (k[A-Za-z0-9]+) =.*/\1/p' "$file")
  if [ -z "$rows" ]; then
    echo "$file: defines no kernel (extern constinit const Kernel kName = ...)"
    status=1
  fi
  for row in $rows; do
    kernels=$((kernels + 1))
    if ! grep -qE "\b$row\b" "$source/kernels/kernel_table.cc"; then
      echo "$file: $row has no row in kernels/kernel_table.cc"
      status=1
    fi
  done
done < <(find "$source"/kernels -mindepth 2 -name '*.cc' -not -path '*/cuda/*')
echo "$kernels kernels"
exit $status
