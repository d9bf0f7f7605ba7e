#include "intaglio/nn/ops/control/require.h"

#include <cstdint>
#include <cstring>

#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

ShapesResult InferRequire(const LayerView& layer) {
  const Result<int64_t> elements = CountElements(layer.input(1).shape);
  if (!elements.ok() || *elements != 1) return layer.Invalid("the condition is not one bool");
  return std::vector<Shape>{layer.input(0).shape};
}

Result<PreparedLayer> PrepareRequire(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(1), Type::kBool));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), layer.input(0).type));
  const size_t bytes = *CountBytes(layer.output().shape, layer.output().type);
  PreparedLayer prepared;
  prepared.alias = true;
  prepared.routine = RoutineOf([bytes, op = layer.op<Require>()](const RunArguments& a) -> Status {
    const bool condition = *static_cast<const uint8_t*>(a.inputs[1]) != 0;
    if (condition != op.expected) return InvalidArgument(op.reason);
    if (bytes > 0 && a.outputs[0] != a.inputs[0]) std::memcpy(a.outputs[0], a.inputs[0], bytes);
    return {};
  });
  return prepared;
}

}  // namespace

constinit const OperatorRow Require::kRow = {.name = "REQUIRE",
                                             .min_inputs = 2,
                                             .max_inputs = 2,
                                             .types = kAnyType,
                                             .infer = InferRequire,
                                             .candidates = Moves("copy", PrepareRequire)};

}  // namespace intaglio::nn
