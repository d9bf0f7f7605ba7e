#!/usr/bin/env bash
# install.sh CMAKE BUILD_DIRECTORY PREFIX CONFIG [EMULATOR...]: installs into an empty prefix.
set -euo pipefail
cmake=$1 build=$2 prefix=$3 config=$4
shift 4
rm -rf "$prefix"
"$cmake" --install "$build" --prefix "$prefix" --config "$config"
if [ -x "$prefix/bin/intaglio" ]; then
  "$@" "$prefix/bin/intaglio" cpu
fi
