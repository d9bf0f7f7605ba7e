// Tensors of a graph: what is known of them before anything runs.
#ifndef INTAGLIO_NN_GRAPH_TENSOR_H_
#define INTAGLIO_NN_GRAPH_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/fixedpoint/type.h"

namespace intaglio::nn {

// Dimensions, outermost first; images are batch, height, width, channels. Every dimension of a
// graph that is prepared is >= 0. A scalar has no dimensions and one element.
using Shape = std::vector<int>;

// real = scale * (q - zero_point). One scale: the whole tensor. Several: scales[i] and
// zero_points[i] belong to index i of dimension `axis`. No scale: the tensor is not quantized.
struct Quantization {
  std::vector<float> scales;
  std::vector<int32_t> zero_points;  // as many as scales
  int axis = 0;

  bool quantized() const { return !scales.empty(); }
  bool per_axis() const { return scales.size() > 1; }
};

inline Quantization PerTensor(float scale, int32_t zero_point) {
  return {{scale}, {zero_point}, 0};
}
// Zero points of 0.
Quantization PerAxis(std::vector<float> scales, int axis);

struct Tensor {
  std::string name;  // for messages and files; may be empty, need not be unique
  Type type = Type::kInt8;
  Shape shape;
  Quantization quantization;

  // A constant's elements: dense, row-major, little-endian, at any address. Null only where the
  // constant has no elements. The graph does not copy them: `owner` keeps the memory alive (a
  // mapped file, a vector) and may be null where someone else does.
  bool constant = false;
  const void* data = nullptr;
  size_t data_bytes = 0;  // what `data` points to; must equal the size that type and shape tell
  std::shared_ptr<const void> owner;

  // Keeps its elements from one run of an instance to the next. `data`, if it is not null, holds
  // their first values, in the form of a constant's. Otherwise they start as the zero point if the
  // type is int8, else as 0. Only the recurrent operators and ASSIGN_VARIABLE write the variables
  // among their inputs.
  bool variable = false;
};

// The number of elements, and of bytes. It is an error if a dimension is negative, or if there are
// more elements or bytes than memory can hold. 2^31 and more elements are legal here; operators
// that cannot count so far refuse them. Errors name no tensor.
Result<int64_t> CountElements(const Shape& shape);
Result<size_t> CountBytes(const Shape& shape, Type type);

// The bytes of a line of the last dimension. A scalar is one line.
ptrdiff_t LineBytes(const Tensor& tensor);

// "[1, 224, 224, 3]"
std::string ToString(const Shape& shape);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_TENSOR_H_
