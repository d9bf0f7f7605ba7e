// ADD, SUB and MUL by ONNX's rules of two tensors of 8 bits, or of one and a tensor of float32:
// what is quantized is dequantized, both are computed in
// float32, and quantized half to even, in one pass over memory. QLINEAR_ADD and QLINEAR_MUL, too.
#ifndef INTAGLIO_NN_OPS_ELEMENTWISE_HALF_EVEN_PAIRS_H_
#define INTAGLIO_NN_OPS_ELEMENTWISE_HALF_EVEN_PAIRS_H_

#include <cstdint>

#include "intaglio/nn/ops/support/activation.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

enum class PairKind : uint8_t {
  kAdd,        // a + b
  kSub,        // a - b
  kMul,        // a * b
  kAddScaled,  // a * scale_a + (b * scale_b + offset), each product and sum rounded at once
  kMulScaled,  // (a * b) * scale_a + offset
};

// QLINEAR_ADD and QLINEAR_MUL: sums and products are counted in steps of the output and have its
// zero point in them before they are rounded.
Result<PreparedLayer> PrepareQLinearAdd(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareQLinearMul(const LayerView& layer, const LayerOptions& options);

// Inputs and output are int8 or uint8 in any combination. The second input may be float32.
Result<PreparedLayer> PrepareHalfEvenPair(const LayerView& layer, const LayerOptions& options,
                                          PairKind kind, Activation activation);

// A candidate's prepare, of an operator with an activation.
template <class Op, PairKind kKind>
Result<PreparedLayer> PrepareHalfEven(const LayerView& layer, const LayerOptions& options) {
  return PrepareHalfEvenPair(layer, options, kKind, layer.op<Op>().activation);
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_ELEMENTWISE_HALF_EVEN_PAIRS_H_
