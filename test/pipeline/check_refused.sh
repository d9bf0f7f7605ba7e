#!/usr/bin/env bash
# check_refused.sh FILE COMPILER [option...]: the first line is `// compiles`, or `// refused: TEXT`
# where the compiler has to fail with this text in its message.
set -uo pipefail
file=$1
shift
first=$(head -n 1 "$file")
output=$("$@" -fsyntax-only -x c++ "$file" 2>&1)
compiled=$?
case $first in
  '// compiles')
    [ $compiled -eq 0 ] && exit 0
    printf 'does not compile:\n%s\n' "$output"
    ;;
  '// refused: '*)
    if [ $compiled -eq 0 ]; then
      echo "compiles, but should be refused: ${first#// refused: }"
    elif grep -qF "${first#// refused: }" <<< "$output"; then
      exit 0
    else
      printf 'is refused without saying: %s\n%s\n' "${first#// refused: }" "$output"
    fi
    ;;
  *) echo "$file: the first line says neither" ;;
esac
exit 1
