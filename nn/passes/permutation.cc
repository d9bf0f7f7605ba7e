#include "intaglio/nn/passes/permutation.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace intaglio::nn {

bool IsIdentity(const Permutation& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int>(i)) return false;
  }
  return true;
}

Permutation InverseOf(const Permutation& permutation) {
  Permutation inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int>(i);
  }
  return inverse;
}

Permutation Compose(const Permutation& inner, const Permutation& outer) {
  Permutation both;
  for (const int dimension : outer) both.push_back(inner[static_cast<size_t>(dimension)]);
  return both;
}

bool KeepsOrder(const Permutation& permutation, const Shape& source) {
  int last = -1;
  for (const int dimension : permutation) {
    if (source[static_cast<size_t>(dimension)] == 1) continue;
    if (dimension < last) return false;
    last = dimension;
  }
  return true;
}

namespace {

// Copies elements that lie `step` bytes apart.
template <size_t kSize>
void Gather(const uint8_t* from, size_t step, size_t count, uint8_t* to) {
  for (size_t i = 0; i < count; ++i) std::memcpy(to + i * kSize, from + i * step, kSize);
}

void Gather(const uint8_t* from, size_t step, size_t size, size_t count, uint8_t* to) {
  if (size == step) {
    std::memcpy(to, from, size * count);
    return;
  }
  switch (size) {
    case 1:
      return Gather<1>(from, step, count, to);
    case 2:
      return Gather<2>(from, step, count, to);
    case 4:
      return Gather<4>(from, step, count, to);
    default:
      return Gather<8>(from, step, count, to);
  }
}

}  // namespace

Tensor Permuted(const Tensor& constant, const Permutation& permutation) {
  Tensor permuted = constant;
  for (size_t i = 0; i < permutation.size(); ++i) {
    permuted.shape[i] = constant.shape[static_cast<size_t>(permutation[i])];
  }
  if (constant.quantization.per_axis()) {
    const Permutation inverse = InverseOf(permutation);
    permuted.quantization.axis = inverse[static_cast<size_t>(constant.quantization.axis)];
  }
  if (constant.data_bytes == 0 || KeepsOrder(permutation, constant.shape)) return permuted;
  const size_t size = SizeOf(constant.type);
  // Bytes from one index of a dimension of the source to the next.
  std::vector<size_t> strides(constant.shape.size());
  size_t stride = size;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= static_cast<size_t>(constant.shape[i]);
  }
  const auto bytes = std::make_shared<std::vector<uint8_t>>(constant.data_bytes);
  const auto* const from = static_cast<const uint8_t*>(constant.data);
  // A rank of 0 or 1 keeps the order. Lines are those of the last dimension.
  const size_t last = permutation.size() - 1;
  const auto count = static_cast<size_t>(permuted.shape[last]);
  const size_t last_step = strides[static_cast<size_t>(permutation[last])];
  std::vector<int> place(last);
  size_t source = 0;
  for (size_t to = 0; to < bytes->size(); to += size * count) {
    Gather(from + source, last_step, size, count, bytes->data() + to);
    for (size_t i = last; i-- > 0;) {
      const size_t step = strides[static_cast<size_t>(permutation[i])];
      source += step;
      if (++place[i] < permuted.shape[i]) break;
      source -= step * static_cast<size_t>(place[i]);
      place[i] = 0;
    }
  }
  permuted.data = bytes->data();
  permuted.owner = bytes;
  return permuted;
}

}  // namespace intaglio::nn
