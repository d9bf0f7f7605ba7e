// Orders of dimensions. Dimension i of a permuted tensor is dimension permutation[i] of the source.
#ifndef INTAGLIO_NN_PASSES_PERMUTATION_H_
#define INTAGLIO_NN_PASSES_PERMUTATION_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/graph/tensor.h"

namespace intaglio::nn {

using Permutation = std::vector<int>;

bool IsIdentity(const Permutation& permutation);
Permutation InverseOf(const Permutation& permutation);
// First `inner`, then `outer`.
Permutation Compose(const Permutation& inner, const Permutation& outer);
// Whether the elements of a source of this shape keep their order: only dimensions of extent 1
// move.
bool KeepsOrder(const Permutation& permutation, const Shape& source);

// values[i] of the permuted tensor belongs to dimension permutation[i] of the source.
template <class T>
std::vector<T> InSourceOrder(const std::vector<T>& values, const Permutation& permutation) {
  std::vector<T> ordered(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ordered[static_cast<size_t>(permutation[i])] = values[i];
  }
  return ordered;
}

// A constant as TRANSPOSE would make it, with memory of its own if its elements change their order.
// Its size fits memory, as that of every constant.
Tensor Permuted(const Tensor& constant, const Permutation& permutation);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_PERMUTATION_H_
