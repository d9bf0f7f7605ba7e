#include "intaglio/nn/graph/tensor.h"

#include <limits>
#include <utility>

namespace intaglio::nn {

Quantization PerAxis(std::vector<float> scales, int axis) {
  std::vector<int32_t> zero_points(scales.size(), 0);
  return {std::move(scales), std::move(zero_points), axis};
}

Result<int64_t> CountElements(const Shape& shape) {
  bool empty = false;
  for (const int extent : shape) {
    if (extent < 0)
      return InvalidArgument("shape " + ToString(shape) + " has a negative dimension");
    empty = empty || extent == 0;
  }
  if (empty) return int64_t{0};
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 16;
  int64_t count = 1;
  for (const int extent : shape) {
    if (count > kMax / extent) {
      return OutOfMemory("shape " + ToString(shape) + " has more elements than memory can hold");
    }
    count *= extent;
  }
  return count;
}

Result<size_t> CountBytes(const Shape& shape, Type type) {
  const Result<int64_t> count = CountElements(shape);
  if (!count.ok()) return count.status();
  const uint64_t bytes = static_cast<uint64_t>(*count) * SizeOf(type);
  if (bytes > static_cast<uint64_t>(std::numeric_limits<ptrdiff_t>::max())) {
    return OutOfMemory("shape " + ToString(shape) + " has more bytes than memory can hold");
  }
  return static_cast<size_t>(bytes);
}

ptrdiff_t LineBytes(const Tensor& tensor) {
  const ptrdiff_t count = tensor.shape.empty() ? 1 : tensor.shape.back();
  return count * static_cast<ptrdiff_t>(SizeOf(tensor.type));
}

std::string ToString(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace intaglio::nn
