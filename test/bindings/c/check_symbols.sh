#!/usr/bin/env bash
# check_symbols.sh NM LIBRARY LIST HEADER: the library exports exactly the functions of LIST, and HEADER
# declares exactly these. After an addition, which goes into LIST by hand, nothing may be missing.
set -euo pipefail
nm=$1 library=$2 list=$3 header=$4

same() {  # WHAT: compares standard input with the list
  diff <(sort "$list") - || { echo "$1 are not those of $(basename "$list") (<)"; exit 1; }
}

# A version stands behind each name: name@@INTAGLIO_0.
"$nm" -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sed 's/@@INTAGLIO_0$//' | sort |
  same "the symbols that the library exports"
sed -nE 's/^IT_(API|CHECKED) .*[ *](it_[a-z0-9_]+)\(.*/\2/p' "$header" | sort |
  same "the functions that the header declares"
echo "$(wc -l < "$list") functions"
