#!/usr/bin/env bash
# check_public_headers.sh SOURCE: cmake/public_headers.txt is well formed, lists headers that exist, and
# whatever they include. Pages, examples and the programs of test/package include nothing else.
set -euo pipefail
cd "$1"
list=cmake/public_headers.txt
status=0

# complain REASON: prints standard input, if there is any.
complain() {
  local lines
  lines=$(cat)
  if [ -n "$lines" ]; then
    printf '%s:\n%s\n' "$1" "$lines"
    status=1
  fi
}

entries() { grep -vE '^(#|$)' "$list"; }
headers() { entries | awk '{ print $3 }'; }

complain "$list: not PART PROMISE HEADER" \
  < <(entries | grep -vE '^(gemm|nn|tune|quantize|tflite|onnx|c|cuda|nn_cuda) +(stable|changing|internal) +[a-z0-9_/.]+$' || true)
complain "$list: listed twice" < <(headers | sort | uniq -d)
complain "$list: no such file" < <(headers | while read -r header; do [ -f "$header" ] || echo "$header"; done)

# A part may include what is always there when it is there.
parts_with() {
  case $1 in
    gemm) echo 'gemm' ;;
    nn) echo 'gemm|nn' ;;
    tune) echo 'gemm|nn|tune' ;;
    quantize) echo 'gemm|nn|quantize' ;;
    tflite) echo 'gemm|nn|tflite' ;;
    onnx) echo 'gemm|nn|onnx' ;;
    c) echo 'c' ;;
    cuda) echo 'gemm|cuda' ;;
    nn_cuda) echo 'gemm|nn|cuda|nn_cuda' ;;
  esac
}
for part in gemm nn tune quantize tflite onnx c cuda nn_cuda; do
  allowed=$(entries | grep -E "^($(parts_with $part)) " | awk '{ print $3 }')
  complain "the part $part includes headers that are not listed for it" \
    < <(entries | awk -v part=$part '$1 == part { print $3 }' |
      xargs -r grep -HE '^[[:space:]]*#[[:space:]]*include "intaglio/' | sed -E 's/^([^:]*):.*"intaglio\/([^"]*)".*/\1 \2/' |
      while read -r header included; do
        grep -qxF "$included" <<< "$allowed" || echo "$header includes $included"
      done)
done

# What users are told to include, and a stable header, is not internal.
meant=$(entries | awk '$2 != "internal" { print $3 }' | sed 's|^bindings/c/||')
complain "a program of a user includes what is not for programs" \
  < <(grep -rHE '^#include <intaglio/' README.md docs examples test/package | sed -E 's/^([^:]*):.*<intaglio\/([^>]*)>.*/\1 \2/' |
    while read -r file included; do
      grep -qxF "$included" <<< "$meant" || echo "$file includes $included"
    done)
echo "$(headers | wc -l) public headers"
exit $status
