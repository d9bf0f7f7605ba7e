// Inside the .onnx reader: arithmetic as this format means it.
#ifndef INTAGLIO_NN_FORMATS_ONNX_ARITHMETIC_H_
#define INTAGLIO_NN_FORMATS_ONNX_ARITHMETIC_H_

#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/layer_maker.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::onnx {

// An operator on IEEE numbers. By default ours take the greatest number for infinity, as TFLite
// does.
template <class Op>
Op Ieee() {
  Op op;
  if constexpr (requires { op.keeps_infinities; }) op.keeps_infinities = true;
  if constexpr (requires { op.keeps_nan; }) op.keeps_nan = true;
  return op;
}

// The same for a reduction.
template <class Op>
Op IeeeReduction(std::vector<int> axes, bool keep_dims) {
  Op op = Ieee<Op>();
  op.axes = std::move(axes);
  op.keep_dims = keep_dims;
  return op;
}

// x^2 or x^3 as a product, as in ONNX Runtime: exact roundings, and many times as fast as a power.
inline TensorId SquareOrCube(LayerMaker& make, TensorId x, bool cube) {
  const TensorId square = make.AddLike(Square{}, {x});
  return cube ? make.AddLike(Ieee<Mul>(), {square, x}) : square;
}

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_ARITHMETIC_H_
