// Products of 8 bits whose zero points, and perhaps a scale, each run tells: ONNX's MatMulInteger,
// ConvInteger and MatMulIntegerToFloat. If the zero points are constants, BATCH_MATMUL and CONV_2D
// do the same faster, with the scalings kNone and kToFloat (nn/graph/numerics.h).
#ifndef INTAGLIO_NN_OPS_LINEAR_INTEGER_PRODUCTS_H_
#define INTAGLIO_NN_OPS_LINEAR_INTEGER_PRODUCTS_H_

#include "intaglio/nn/graph/operator_row.h"
#include "intaglio/nn/ops/linear/operators.h"

namespace intaglio::nn {

// Inputs of both, of which all but the first two may be absent:
//   0  x, int8 or uint8, whose quantization does not matter
//   1  weights, int8 or uint8, in any combination with x
//   2  the zero point of x, one element of its type
//   3  the zero point of all weights, one element of their type; without it, their quantization
//      has it, also per output channel, where the weights are constants
//   4  the scale of x, one float32
//   5  bias, float32, one element per output channel; only with a scale
// The output is int32, the sums, or, with a scale, float32:
//   float32(sum) * (scale * weight scale) + bias, each step rounded. The weights' quantization has
//   their scales.
// No .tflite form.

// x [..., M, K]; weights [..., K, N], per tensor or per the last axis. The other dimensions
// broadcast.
struct IntegerMatMul {
  static const OperatorRow kRow;
};

// As CONV_2D. Padding has the zero point of x.
struct IntegerConv2D {
  static const OperatorRow kRow;
  Conv2D conv = {};
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_INTEGER_PRODUCTS_H_
