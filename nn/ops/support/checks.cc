#include "intaglio/nn/ops/support/checks.h"

#include <limits>
#include <string>

namespace intaglio::nn {

Result<size_t> AxisOf(const LayerView& layer, int axis, size_t rank) {
  const int dimensions = static_cast<int>(rank);
  if (axis >= -dimensions && axis < dimensions) {
    return static_cast<size_t>(axis < 0 ? axis + dimensions : axis);
  }
  return layer.Invalid("the axis " + std::to_string(axis) + " is no dimension of " +
                       ToString(layer.input(0).shape));
}

Result<std::vector<bool>> AxesOf(const LayerView& layer, const std::vector<int>& axes) {
  const size_t rank = layer.input(0).shape.size();
  std::vector<bool> named(rank, false);
  for (const int axis : axes) {
    const Result<size_t> dimension = AxisOf(layer, axis, rank);
    if (!dimension.ok()) return dimension.status();
    named[*dimension] = true;
  }
  return named;
}

Status CheckOneType(const LayerView& layer, size_t first) {
  const Type type = layer.output().type;
  for (size_t i = first; i < layer.input_count(); ++i) {
    if (!layer.has_input(i) || layer.input(i).type == type) continue;
    return layer.Unsupported("input " + std::to_string(i) + " is " + NameOf(layer.input(i).type) +
                             ", but the output is " + NameOf(type));
  }
  for (size_t i = 1; i < layer.layer().outputs.size(); ++i) {
    if (layer.output(i).type == type) continue;
    return layer.Unsupported("output " + std::to_string(i) + " is " + NameOf(layer.output(i).type) +
                             ", but output 0 is " + NameOf(type));
  }
  return {};
}

bool IsPlain(const LayerView& layer) {
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (layer.has_input(i) && layer.input(i).quantization.quantized()) return false;
  }
  for (size_t i = 0; i < layer.layer().outputs.size(); ++i) {
    if (layer.output(i).quantization.quantized()) return false;
  }
  return true;
}

Status CheckPlain(const LayerView& layer) {
  return IsPlain(layer) ? Status() : layer.Unsupported("quantized numbers");
}

Status CheckType(const LayerView& layer, const Tensor& tensor, Type type) {
  if (tensor.type == type) return {};
  return layer.Unsupported("tensor '" + tensor.name + "' is " + NameOf(tensor.type) + ", not " +
                           NameOf(type));
}

Result<int> CheckExtent(const LayerView& layer, int64_t extent) {
  if (extent >= 0 && extent <= std::numeric_limits<int>::max()) return static_cast<int>(extent);
  return layer.Invalid("a dimension of the output would have " + std::to_string(extent) +
                       " elements");
}

Result<size_t> QuantizedStride(const LayerView& layer) {
  const Shape& shape = layer.input(0).shape;
  const Quantization& q = layer.input(0).quantization;
  const auto axis = static_cast<size_t>(q.axis);
  if (axis >= shape.size() || q.zero_points.size() != q.scales.size() ||
      std::cmp_not_equal(shape[axis], q.scales.size())) {
    return layer.Invalid("the input has " + std::to_string(q.scales.size()) +
                         " scales along axis " + std::to_string(q.axis));
  }
  size_t stride = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) stride *= static_cast<size_t>(shape[i]);
  return stride;
}

Status CheckImage(const LayerView& layer) {
  if (layer.input(0).shape.size() == 4) return {};
  return layer.Invalid("the input's shape is " + ToString(layer.input(0).shape) +
                       ", not [batch, height, width, channels]");
}

}  // namespace intaglio::nn
