// Inputs of a model that become constants when its file is read: axes, shapes, sizes and zero
// points that a file declares as inputs although it makes sense for few values of them.
#ifndef INTAGLIO_NN_FORMATS_INPUT_CONSTANT_H_
#define INTAGLIO_NN_FORMATS_INPUT_CONSTANT_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/type.h"
#include "intaglio/nn/graph/tensor.h"

namespace intaglio::nn {

// The value of an input. It has the type and the shape that the file says. A dimension to which the
// file gives no number may be any.
struct InputConstant {
  std::string name;  // of the input
  Type type = Type::kInt8;
  Shape shape;
  std::vector<uint8_t> bytes;  // the elements: dense, row-major, little-endian
};

// MakeInputConstant<int64_t>("axes", {2}, {0, 1})
template <class T>
InputConstant MakeInputConstant(std::string name, Shape shape, const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return {std::move(name), TypeOf<T>, std::move(shape), std::move(bytes)};
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_INPUT_CONSTANT_H_
