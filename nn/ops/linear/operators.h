// The linear operators: products of an activation by weights.
#ifndef INTAGLIO_NN_OPS_LINEAR_OPERATORS_H_
#define INTAGLIO_NN_OPS_LINEAR_OPERATORS_H_

#include "intaglio/nn/graph/operator_row.h"
#include "intaglio/nn/graph/tensor.h"
#include "intaglio/nn/ops/support/activation.h"
#include "intaglio/nn/ops/support/padding.h"

namespace intaglio::nn {

// The linear operators take x, weights and bias of these types:
//   8 bits    x and weights int8 or uint8 (one of them), bias int32
//   16x8      x int16, weights int8, bias int64 or int32
//   hybrid    x float32, weights int8, bias float32; x is quantized on the fly, per batch item
//   float32   all three; sums in the order of the filter (FloatSums of numerics.h)
//
// Inputs: x [N, H, W, C]; filter [O, KH, KW, C / groups], per tensor or per axis 0; optional bias
// [O]. The number of groups is what the channels of x and of the filter say.
struct Conv2D {
  static const OperatorRow kRow;
  Extent stride = {};
  Extent dilation = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};

// Inputs: x [N, H, W, C]; filter [1, KH, KW, C * multiplier], per tensor or per axis 3; optional
// bias [C * multiplier]. Output channel o reads input channel o / multiplier.
struct DepthwiseConv2D {
  static const OperatorRow kRow;
  Extent stride = {};
  Extent dilation = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};

// Inputs: x of any shape with K elements per row; weights [O, K], per tensor or per axis 0;
// optional bias [O]. Output [elements / K, O], or x's shape with the last dimension O where
// keep_num_dims.
struct FullyConnected {
  static const OperatorRow kRow;
  Activation activation = Activation::kNone;
  bool keep_num_dims = false;
  // float32 inputs of int8 weights are quantized with a zero point.
  bool asymmetric_inputs = false;
};

// Inputs: x [N, H, W, C]; filter [O, KH, KW, C], per tensor or per axis 0; optional bias [O];
// optional int32 [4], which must be `shape` when the layer runs. The output has the shape `shape`,
// [N, OH, OW, O], which a convolution with this filter, stride and padding (kValid or kSame) would
// bring to that of x.
struct TransposeConv {
  static const OperatorRow kRow;
  Shape shape = {};
  Extent stride = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};

// Inputs: a [..., M, K], or [..., K, M] where adjoint_a; b [..., K, N], or [..., N, K] where
// adjoint_b. The other dimensions broadcast. Where a is float32 and b
// constant int8, the rows of a are quantized as they come, with zero points where
// asymmetric_quantize_inputs.
struct BatchMatMul {
  static const OperatorRow kRow;
  bool adjoint_a = false;
  bool adjoint_b = false;
  bool asymmetric_quantize_inputs = false;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_OPERATORS_H_
