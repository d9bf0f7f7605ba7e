#!/usr/bin/env bash
# check_layers.sh SOURCE: fails where a file includes from a room that its own may not know.
set -euo pipefail
cd "$1"
status=0

# complain REASON: prints the grep hits on standard input, if there are any.
complain() {
  local hits
  hits=$(cat)
  if [ -n "$hits" ]; then
    printf '%s:\n%s\n' "$1" "$hits"
    status=1
  fi
}

includes() {  # ROOM: every include line of the room, as file:line:text
  grep -rnE --include='*.h' --include='*.cc' --include='*.inc' --include='*.cuh' --include='*.cu' '^[[:space:]]*#[[:space:]]*include' \
    "$1" || true
}

allow() {  # ROOM ALLOWED_ROOM...
  local room=$1 allowed
  allowed=$(IFS='|'; echo "${*:2}")
  complain "$room may include only from: ${*:2}" \
    < <(includes "$room" | grep -F 'intaglio/' | grep -vE "[\"<]intaglio/($allowed)/" || true)
  complain "$room includes a project header in another form than \"intaglio/<room>/<header>\"" \
    < <(includes "$room" | grep '"' | grep -vF '"intaglio/' || true)
}

allow fixedpoint fixedpoint
allow pipeline fixedpoint pipeline
allow pack fixedpoint pipeline pack
allow kernels fixedpoint pipeline pack kernels
allow gemm fixedpoint pipeline pack kernels gemm
allow nn fixedpoint pipeline pack gemm nn
allow tools fixedpoint pipeline pack gemm nn tools

for room in fixedpoint pipeline pack kernels gemm; do
  complain "$room has no third-party dependency" \
    < <(includes "$room" | grep -E '<(flatbuffers|google|gtest|gmock|benchmark|CLI|nlohmann)/' || true)
done
# The wings of nn, each with the wings that it may know. A family of operators knows the helpers in
# ops/support and itself.
wing() {  # WING ALLOWED...
  local wing=$1 allowed
  allowed=$(IFS='|'; echo "${*:2}")
  complain "nn/$wing may include of nn only: ${*:2}" \
    < <(includes "nn/$wing" | grep -F 'intaglio/nn/' | grep -vE "\"intaglio/nn/($allowed)[/\"]" || true)
}

wing files files
wing graph graph
wing routine files graph routine
wing ops/support graph routine ops/support
for family in detection elementwise movement reduce window; do
  wing "ops/$family" graph routine ops/support "ops/$family"
done
wing ops/control graph routine ops/support ops/control
wing ops/linear graph routine ops/support ops/linear
wing ops/recurrent graph routine ops/support ops/linear ops/recurrent
wing passes graph routine ops passes
wing runtime files graph routine ops passes runtime
wing formats files graph routine ops passes formats
wing cuda graph routine ops runtime cuda
complain "a file of nn lies in no wing" < <(find nn -maxdepth 1 -name '*.h' -o -maxdepth 1 -name '*.cc')

for room in fixedpoint pipeline pack gemm nn tools; do
  complain "instruction sets belong into kernels/" \
    < <(includes "$room" | grep -E '<([a-z]*mmintrin|immintrin|x86intrin|arm_[a-z]+)\.h>' || true)
done
exit $status
