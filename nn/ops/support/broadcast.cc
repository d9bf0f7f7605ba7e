#include "intaglio/nn/ops/support/broadcast.h"

#include <algorithm>
#include <string>

#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

Status Join(const LayerView& layer, const Shape& other, Shape& shape) {
  const Shape before = shape;
  if (other.size() > shape.size()) shape.insert(shape.begin(), other.size() - shape.size(), 1);
  for (size_t back = 1; back <= other.size(); ++back) {
    int& extent = shape[shape.size() - back];
    const int with = other[other.size() - back];
    if (extent != with && extent != 1 && with != 1) {
      return layer.Invalid("the shapes " + ToString(before) + " and " + ToString(other) +
                           " do not broadcast");
    }
    if (extent == 1) extent = with;
  }
  return {};
}

}  // namespace

Result<Shape> BroadcastShape(const LayerView& layer) {
  Shape shape = layer.input(0).shape;
  for (size_t i = 1; i < layer.input_count(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(Join(layer, layer.input(i).shape, shape));
  }
  return shape;
}

std::vector<ptrdiff_t> BroadcastStrides(const Shape& shape, const Shape& to) {
  const std::vector<ptrdiff_t> dense = DenseStrides(shape);
  std::vector<ptrdiff_t> strides(to.size(), 0);
  for (size_t back = 1; back <= shape.size(); ++back) {
    if (shape[shape.size() - back] == 1) continue;
    strides[to.size() - back] = dense[shape.size() - back];
  }
  return strides;
}

ShapesResult InferBroadcast(const LayerView& layer) {
  Result<Shape> shape = BroadcastShape(layer);
  if (!shape.ok()) return shape.status();
  return std::vector<Shape>{std::move(*shape)};
}

}  // namespace intaglio::nn
