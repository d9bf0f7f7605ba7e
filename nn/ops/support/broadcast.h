// Broadcasting as NumPy's: shapes are aligned at their ends, and an extent of 1 repeats.
#ifndef INTAGLIO_NN_OPS_SUPPORT_BROADCAST_H_
#define INTAGLIO_NN_OPS_SUPPORT_BROADCAST_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The shape that the inputs of the layer broadcast to.
Result<Shape> BroadcastShape(const LayerView& layer);

// The strides of a dense tensor that is broadcast to `to`: one per dimension of `to`, 0 where it
// repeats.
std::vector<ptrdiff_t> BroadcastStrides(const Shape& shape, const Shape& to);

// Loops over the output of a layer and its first kTensors - 1 inputs, in this order: the inputs,
// the output.
template <size_t kTensors>
Loops<kTensors> BroadcastLoops(const LayerView& layer) {
  const Shape& out = layer.output().shape;
  std::vector<ptrdiff_t> strides[kTensors];
  for (size_t t = 0; t + 1 < kTensors; ++t) {
    strides[t] = BroadcastStrides(layer.input(t).shape, out);
  }
  strides[kTensors - 1] = DenseStrides(out);
  Loops<kTensors> loops;
  for (size_t i = 0; i < out.size(); ++i) {
    typename Loops<kTensors>::Offsets offsets;
    for (size_t t = 0; t < kTensors; ++t) offsets[t] = strides[t][i];
    loops.Add(out[i], offsets);
  }
  return loops;
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_BROADCAST_H_
