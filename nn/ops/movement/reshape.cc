// RESHAPE, SQUEEZE, EXPAND_DIMS: the same elements under another shape.
#include <cstring>
#include <limits>
#include <string>

#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {

namespace {

ShapesResult InferReshape(const LayerView& layer) {
  const Shape& from = layer.input(0).shape;
  Shape shape = layer.op<Reshape>().shape;
  const Status error =
      layer.Invalid("cannot give " + ToString(from) + " the shape " + ToString(shape));
  int* open = nullptr;
  for (int& extent : shape) {
    if (extent >= 0) continue;
    if (extent < -1 || open != nullptr) return error;
    open = &extent;
    extent = 1;
  }
  const Result<int64_t> have = CountElements(from);
  const Result<int64_t> known = CountElements(shape);
  if (!have.ok() || !known.ok()) return error;
  if (open != nullptr) {
    if (*known == 0 || *have % *known != 0) return error;
    const int64_t extent = *have / *known;
    if (extent > std::numeric_limits<int>::max()) return error;
    *open = static_cast<int>(extent);
  } else if (*known != *have) {
    return error;
  }
  return std::vector<Shape>{shape};
}

ShapesResult InferSqueeze(const LayerView& layer) {
  const Shape& from = layer.input(0).shape;
  const std::vector<int>& axes = layer.op<Squeeze>().axes;
  const Result<std::vector<bool>> named = AxesOf(layer, axes);
  if (!named.ok()) return named.status();
  Shape shape;
  for (size_t i = 0; i < from.size(); ++i) {
    if ((*named)[i] && from[i] != 1) {
      return layer.Invalid("cannot drop dimension " + std::to_string(i) + " of " + ToString(from));
    }
    if (axes.empty() ? from[i] != 1 : !(*named)[i]) shape.push_back(from[i]);
  }
  return std::vector<Shape>{shape};
}

ShapesResult InferExpandDims(const LayerView& layer) {
  Shape shape = layer.input(0).shape;
  const Result<size_t> axis = AxisOf(layer, layer.op<ExpandDims>().axis, shape.size() + 1);
  if (!axis.ok()) return axis.status();
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(*axis), 1);
  return std::vector<Shape>{shape};
}

}  // namespace

Result<PreparedLayer> PrepareReshape(const LayerView& layer, const LayerOptions&) {
  const Tensor& in = layer.input(0);
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  PreparedLayer prepared;
  prepared.routine =
      RoutineOf([bytes = *CountBytes(in.shape, in.type)](const RunArguments& arguments) {
        if (arguments.outputs[0] == arguments.inputs[0] || bytes == 0) return;
        std::memcpy(arguments.outputs[0], arguments.inputs[0], bytes);
      });
  prepared.alias = true;
  return prepared;
}

constinit const OperatorRow Reshape::kRow = {.name = "RESHAPE",
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .types = kAnyType,
                                             .infer = InferReshape,
                                             .candidates = Moves("copy", PrepareReshape)};

constinit const OperatorRow Squeeze::kRow = {.name = "SQUEEZE",
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .types = kAnyType,
                                             .infer = InferSqueeze,
                                             .candidates = Moves("copy", PrepareReshape)};

constinit const OperatorRow ExpandDims::kRow = {.name = "EXPAND_DIMS",
                                                .min_inputs = 1,
                                                .max_inputs = 1,
                                                .types = kAnyType,
                                                .infer = InferExpandDims,
                                                .candidates = Moves("copy", PrepareReshape)};

}  // namespace intaglio::nn
