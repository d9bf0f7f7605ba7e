// TRILU: a triangle of each matrix.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

ShapesResult InferTrilu(const LayerView& layer) {
  const Shape& shape = layer.input(0).shape;
  if (shape.size() >= 2) return std::vector<Shape>{shape};
  return layer.Invalid("the input " + ToString(shape) + " is no matrix");
}

Result<PreparedLayer> PrepareTrilu(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  INTAGLIO_RETURN_IF_ERROR(CheckPlain(layer));
  const Shape& shape = layer.input(0).shape;
  const int64_t rows = shape[shape.size() - 2];
  const int64_t columns = shape.back();
  const int64_t count = columns == 0 ? 0 : *CountElements(shape) / columns;  // rows of all matrices
  const auto size = static_cast<ptrdiff_t>(SizeOf(layer.output().type));
  const bool upper = layer.op<Trilu>().upper;
  // Beyond these, k makes no difference.
  const int64_t k = std::clamp<int64_t>(layer.op<Trilu>().k, -rows - 1, columns + 1);
  PreparedLayer prepared;
  prepared.in_place_inputs = 1;
  prepared.routine = RoutineOf([=](const RunArguments& arguments) {
    const auto* in = static_cast<const std::byte*>(arguments.inputs[0]);
    auto* out = static_cast<std::byte*>(arguments.outputs[0]);
    for (int64_t row = 0; row < count; ++row, in += columns * size, out += columns * size) {
      const int64_t first = row % rows + k + (upper ? 0 : 1);
      const auto split = static_cast<ptrdiff_t>(std::clamp<int64_t>(first, 0, columns)) * size;
      const auto end = static_cast<ptrdiff_t>(columns) * size;
      const ptrdiff_t kept = upper ? split : 0;
      const ptrdiff_t kept_end = upper ? end : split;
      std::memset(out + (upper ? 0 : split), 0, static_cast<size_t>(upper ? split : end - split));
      if (out != in) {
        std::memcpy(out + kept, in + kept, static_cast<size_t>(kept_end - kept));
      }
    }
  });
  return prepared;
}

}  // namespace

constinit const OperatorRow Trilu::kRow = {.name = "TRILU",
                                           .min_inputs = 1,
                                           .max_inputs = 1,
                                           .types = kAnyType,
                                           .infer = InferTrilu,
                                           .candidates = Moves("triangle", PrepareTrilu),
                                           .remark = "not quantized"};

}  // namespace intaglio::nn
