#!/usr/bin/env bash
# check_library_size.sh COMPILER LIMIT OUTPUT OBJECT...: the engine as a stripped shared library stays
# under LIMIT bytes, and needs nothing but the C++ library and threads.
set -euo pipefail
compiler=$1 limit=$2 output=$3
shift 3
"$compiler" -shared -s -Wl,--no-undefined -pthread -o "$output" "$@"
size=$(stat -c %s "$output")
echo "$size bytes of $limit"
[ "$size" -lt "$limit" ]
