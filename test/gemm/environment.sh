#!/usr/bin/env bash
# environment.sh PROBE...: what INTAGLIO_ISA and INTAGLIO_VERBOSE do. PROBE is a program, or the words of
# an emulator and a program.
set -uo pipefail
probe=("$@")
status=0

# expect NAME PATTERN TEXT: the text matches the extended regular expression.
expect() {
  if ! grep -qE "$2" <<< "$3"; then
    printf '%s: expected /%s/, got:\n%s\n' "$1" "$2" "$3"
    status=1
  fi
}

unset INTAGLIO_ISA INTAGLIO_VERBOSE
expect "silent" '^ok$' "$("${probe[@]}" 2>&1)"
expect "silent where it is 0" '^ok$' "$(INTAGLIO_VERBOSE=0 "${probe[@]}" 2>&1)"
[ -z "$("${probe[@]}" 2>&1 >/dev/null)" ] || { echo "writes to stderr without INTAGLIO_VERBOSE"; status=1; }

line=$(INTAGLIO_VERBOSE=1 "${probe[@]}" 2>&1 > /dev/null)
expect "one line per call" '^1$' "$(wc -l <<< "$line")"
expect "what ran" '^intaglio: 3 rows x 3 channels x K 4, kernel [a-z0-9._-]+, panels of rhs' "$line"

best=$(sed -E 's/.*, kernel ([a-z0-9._-]+),.*/\1/' <<< "$line")
line=$(INTAGLIO_ISA=scalar INTAGLIO_VERBOSE=1 "${probe[@]}" 2>&1 > /dev/null)
expect "the forced kernel" 'kernel scalar,' "$line"
if [ "$best" != scalar ]; then
  expect "why not the best one" "; not $best: INTAGLIO_ISA=scalar" "$line"
fi

text=$(INTAGLIO_ISA=mmx "${probe[@]}" 2>&1)
[ $? -eq 1 ] || { echo "INTAGLIO_ISA=mmx is taken"; status=1; }
expect "an unknown name" '^INTAGLIO_ISA=mmx is none of .*scalar$' "$text"
expect "a kernel by its name" '^ok ok $' "$("${probe[@]}" scalar 2>&1 | tr '\n' ' ')"
text=$(INTAGLIO_ISA=mmx "${probe[@]}" scalar 2>&1)
[ "$(grep -c '^INTAGLIO_ISA=mmx is none of .*scalar$' <<< "$text")" -eq 2 ] ||
  { echo "INTAGLIO_ISA=mmx and a kernel by its name: $text"; status=1; }
exit $status
