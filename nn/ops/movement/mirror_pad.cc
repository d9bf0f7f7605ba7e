#include <string>
#include <vector>

#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/indexed.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {

namespace {

ShapesResult InferMirrorPad(const LayerView& layer) {
  const MirrorPad& op = layer.op<MirrorPad>();
  Shape shape = layer.input(0).shape;
  if (op.paddings.size() != shape.size()) {
    return layer.Invalid("has paddings for " + std::to_string(op.paddings.size()) +
                         " dimensions; the input's shape is " + ToString(shape));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto [before, after] = op.paddings[i];
    const int most = shape[i] - (op.symmetric ? 0 : 1);
    if (before < 0 || after < 0 || before > most || after > most) {
      return layer.Invalid("cannot mirror " + std::to_string(before) + " and " +
                           std::to_string(after) + " elements of dimension " + std::to_string(i) +
                           " of " + ToString(shape));
    }
    const Result<int> extent = CheckExtent(layer, int64_t{shape[i]} + before + after);
    if (!extent.ok()) return extent.status();
    shape[i] = *extent;
  }
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareMirrorPad(const LayerView& layer, const LayerOptions&) {
  const MirrorPad& op = layer.op<MirrorPad>();
  const Shape& in = layer.input(0).shape;
  const int skip = op.symmetric ? 1 : 0;  // the border element once more
  std::vector<std::vector<int>> indices(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    for (int o = 0; o < layer.output().shape[i]; ++o) {
      int at = o - op.paddings[i].first;
      if (at < 0) at = -at - skip;
      if (at >= in[i]) at = 2 * (in[i] - 1) - at + skip;
      indices[i].push_back(at);
    }
  }
  return PrepareIndexed(layer, indices);
}

}  // namespace

constinit const OperatorRow MirrorPad::kRow = {.name = "MIRROR_PAD",
                                               .min_inputs = 1,
                                               .max_inputs = 1,
                                               .types = kAnyType,
                                               .infer = InferMirrorPad,
                                               .candidates = Moves("copy", PrepareMirrorPad),
                                               .list_bytes = BoundPlaces};

}  // namespace intaglio::nn
