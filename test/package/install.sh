#!/usr/bin/env bash
# install.sh CMAKE BUILD_DIRECTORY PREFIX CONFIG LIST PARTS [EMULATOR...]: installs into an empty prefix.
# The installed headers are those of LIST (cmake/public_headers.txt) whose part is one of PARTS, a|b. That
# of the C interface lies in the folder itself.
set -euo pipefail
cmake=$1 build=$2 prefix=$3 config=$4 list=$5 parts=$6
shift 6
rm -rf "$prefix"
"$cmake" --install "$build" --prefix "$prefix" --config "$config"
diff <(grep -E "^($parts) " "$list" | awk '{ print $3 }' | sed 's|^bindings/c/||' | sort) \
  <(cd "$prefix/include/intaglio" && find . -type f | sed 's|^\./||' | sort) ||
  { echo "the installed headers are not those of the list"; exit 1; }
if [ -x "$prefix/bin/intaglio" ]; then
  "$@" "$prefix/bin/intaglio" cpu
fi
