#!/usr/bin/env bash
# check_statics.sh NM OBJECT...
# Checks that no static object of the libraries is destroyed: threads may still use it while the
# process exits. Also checks that none is made behind a lock, as a local static with a constructor
# is: the lock may be held by a thread that a forked child does not have. fixedpoint/make_once.h
# serves instead.
set -euo pipefail
nm=$1
shift
status=0
for object in "$@"; do
  # Protobuf's headers include <iostream>, whose guard of the streams is destroyed last of all.
  undefined=$("$nm" --undefined-only "$object")
  allowed=-
  if [[ $undefined == *_ZNSt8ios_base4InitC1Ev* ]]; then allowed=__cxa_atexit; fi
  found=$(grep -oE '__cxa_(thread_)?atexit|__aeabi_atexit|__cxa_guard_acquire' <<< "$undefined" | grep -vxF -e "$allowed" || true)
  if [ -n "$found" ]; then
    printf '%s: a static variable needs %s\n' "$object" "$(tr '\n' ' ' <<< "$found")"
    status=1
  fi
done
echo "$# objects"
[ $# -gt 0 ] || status=1
exit $status
