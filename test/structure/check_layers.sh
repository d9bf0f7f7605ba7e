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
allow bindings fixedpoint pipeline pack gemm nn bindings
allow bindings/python fixedpoint pipeline pack gemm nn bindings/python
allow tools fixedpoint pipeline pack gemm nn tools

for room in fixedpoint pipeline pack kernels gemm; do
  complain "$room has no third-party dependency" \
    < <(includes "$room" | grep -E '<(flatbuffers|google|gtest|gmock|benchmark|CLI|nlohmann)/' || true)
done
# The wings of nn, each with the wings and headers that it may know. A family of operators knows the
# helpers in ops/support and itself.
wings=()
wing() {  # WING ALLOWED...
  local wing=$1 allowed
  wings+=("$wing")
  allowed=$(IFS='|'; echo "${*:2}")
  complain "nn/$wing may include of nn only: ${*:2}" \
    < <(includes "nn/$wing" | grep -F 'intaglio/nn/' | grep -vE "\"intaglio/nn/($allowed)[/\"]" || true)
}

# The files of a folder itself, whose subfolders are wings.
root() {  # FOLDER ALLOWED...
  local folder=$1 allowed
  allowed=$(IFS='|'; echo "${*:2}")
  complain "the files of nn/$folder itself may include of nn only: ${*:2}" \
    < <(includes "nn/$folder" | grep -E "^nn/$folder/[^/]*:" | grep -F 'intaglio/nn/' \
        | grep -vE "\"intaglio/nn/($allowed)[/\"]" || true)
}

families=(control detection elementwise linear movement recurrent reduce window)
wing files files
wing graph files graph
wing routine files graph routine
wing ops/support graph routine ops/support
for family in "${families[@]}"; do
  more=()
  if [ "$family" = recurrent ]; then more=(ops/linear); fi
  # Childnets of a family may have layers of another one.
  if [ "$family" = linear ]; then more=(ops/movement/operators.h); fi
  wing "ops/$family" graph routine ops/support "ops/$family" ${more[@]+"${more[@]}"}
done
root ops graph ops/builder.h ops/operators.h $(printf 'ops/%s/operators.h ' "${families[@]}")
wing passes files graph routine ops passes
wing runtime files graph routine ops passes runtime
wing tune files graph routine ops passes runtime quantize tune
wing quantize graph routine ops passes runtime quantize
for format in tflite onnx; do
  wing "formats/$format" files graph routine ops passes formats/input_constant.h formats/model_file.h formats/signature.h formats/survey_row.h \
    formats/take_constants.h formats/write_model_file.h "formats/$format"
done
root formats files graph passes formats
wing cuda graph routine ops runtime cuda
complain "a file of nn lies in no wing: add the wing, and what it may include, to check_layers.sh" \
  < <(find nn \( -name '*.h' -o -name '*.cc' -o -name '*.inc' -o -name '*.cuh' -o -name '*.cu' \) \
      | grep -vE "^nn/((ops|formats)/[^/]*$|($(IFS='|'; echo "${wings[*]}"))/)" || true)

for room in fixedpoint pipeline pack gemm nn bindings tools; do
  complain "instruction sets belong into kernels/" \
    < <(includes "$room" | grep -E '<([a-z]*mmintrin|immintrin|x86intrin|arm_[a-z]+)\.h>' || true)
done
exit $status
