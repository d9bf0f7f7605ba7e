#!/usr/bin/env bash
# check_frozen.sh COMPILER SOURCE FROZEN LIBRARY WORK: a program that was built with the header of a released
# version (FROZEN) runs with today's library. Today's header still has every declaration of the other one, in
# the same form, and every constant, with the same value.
set -euo pipefail
compiler=$1 source=$2 frozen=$3 library=$4 work=$5
today=$source/bindings/c/intaglio.h
folder=$(dirname "$library")
rm -rf "$work"
mkdir -p "$work/intaglio"
cp "$frozen" "$work/intaglio/intaglio.h"
cd "$work"
c=("$compiler" -x c -std=c11 -Wall -Wextra -pedantic -Werror)

# One program that does something, and one that needs every function.
"${c[@]}" -I"$work" -c -o digits.o "$source/test/package/consumer_c/digits.c"
functions=$(sed -nE 's/^IT_(API|CHECKED) .*[ *](it_[a-z0-9_]+)\(.*/\2/p' "$frozen")
{
  echo '#include <intaglio/intaglio.h>'
  echo 'typedef void (*function)(void);'
  echo 'const function all[] = {'
  sed 's/.*/  (function)&,/' <<< "$functions"
  echo '};'
  echo 'int main(void) { return all[0] == 0; }'
} > all.c
"${c[@]}" -I"$work" -c -o all.o all.c
for program in digits all; do
  "$compiler" -o $program $program.o "$library" -Wl,-rpath,"$folder"
done
./digits "$source/examples/digits"
./all

# The old declarations behind the new ones: a difference is a conflict.
constants=$(sed -nE 's/^ *(IT_[A-Z0-9_]+) = (-?[0-9]+).*/\1 \2/p; s/^.*enum \{ (IT_[A-Z_]+) = ([0-9]+), (IT_[A-Z_]+) = ([0-9]+) \};.*/\1 \2\n\3 \4/p' "$frozen")
{
  echo "#include \"$today\""
  "$compiler" -x c -std=c11 -E -P "$frozen" | tr '\n' ' ' | sed 's/;/;\n/g' |
    grep -E '^ *(__attribute__|typedef) ?.*\bit_' | grep -v '\benum\b'
  awk '{ print "_Static_assert(" $1 " == " $2 ", \"" $1 "\");" }' <<< "$constants"
} > both.c
"${c[@]}" -Wno-redundant-decls -fsyntax-only both.c
echo "$(wc -l <<< "$functions") functions, $(wc -l <<< "$constants") constants as before"
