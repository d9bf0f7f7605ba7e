// The operators that work along rows or reduce axes.
#ifndef INTAGLIO_NN_OPS_REDUCE_OPERATORS_H_
#define INTAGLIO_NN_OPS_REDUCE_OPERATORS_H_

#include <vector>

#include "intaglio/nn/graph/operator_row.h"

namespace intaglio::nn {

// x / (bias + alpha sum of x^2)^beta, the sum over the channels from c - radius to c + radius - 1.
struct LocalResponseNormalization {
  static const OperatorRow kRow;
  int radius = 0;
  float bias = 1;
  float alpha = 1;
  float beta = 0.5f;
};

// Over the last dimension.
struct Softmax {
  static const OperatorRow kRow;
  float beta = 1.0f;
};
struct LogSoftmax {
  static const OperatorRow kRow;
};
struct L2Normalization {
  static const OperatorRow kRow;
};

// Inputs: x, float32; scale and bias, each of which may be absent and broadcasts to a row, that is
// all dimensions from `axis` on. Each row becomes
//   (x - mean) / sqrt(variance + epsilon) * scale + bias
// Both sums are of float32 numbers in 32 interleaved sums, which float64 adds up, so that the bits
// depend neither on the CPU nor on threads; the mean and 1 / sqrt are rounded to float32. No
// .tflite form.
struct LayerNormalization {
  static const OperatorRow kRow;
  int axis = -1;
  float epsilon = 1e-5f;
};
// The same without mean and bias: x / sqrt(mean of x^2 + epsilon) * scale.
struct RmsNormalization {
  static const OperatorRow kRow;
  int axis = -1;
  float epsilon = 1e-5f;
};

// Over the axes (negative ones count from the end; duplicates count once; none: x itself).
struct Mean {
  static const OperatorRow kRow;
  std::vector<int> axes = {};
  bool keep_dims = false;
};
struct Sum {
  static const OperatorRow kRow;
  std::vector<int> axes = {};
  bool keep_dims = false;
};
// Means of int8 or uint8 by ONNX Runtime's rules (docs/numerics.md): exact sums as int32, scaled in
// float32. No .tflite form.
struct QLinearMean {
  static const OperatorRow kRow;
  std::vector<int> axes = {};
  bool keep_dims = false;
};
// Float32 maxima and minima lie between the lowest and the greatest number, as in TFLite, unless
// keeps_infinities is set, which .tflite files cannot say.
struct ReduceMax {
  static const OperatorRow kRow;
  std::vector<int> axes = {};
  bool keep_dims = false;
  bool keeps_infinities = false;
};
struct ReduceMin {
  static const OperatorRow kRow;
  std::vector<int> axes = {};
  bool keep_dims = false;
  bool keeps_infinities = false;
};
struct ReduceProd {
  static const OperatorRow kRow;
  std::vector<int> axes = {};
  bool keep_dims = false;
};
struct ReduceAny {
  static const OperatorRow kRow;
  std::vector<int> axes = {};
  bool keep_dims = false;
};
struct ReduceAll {
  static const OperatorRow kRow;
  std::vector<int> axes = {};
  bool keep_dims = false;
};

// Outputs: the k greatest elements along the axis, the greatest first, or the smallest ones, the
// smallest first; and their places (int16, int32 or int64). The first of equal ones comes first,
// and NaN last. .tflite files have the greatest of the last dimension only.
struct TopK {
  static const OperatorRow kRow;
  int k = 0;
  int axis = -1;
  bool greatest = true;
};

// 1 at the first greatest element along the axis, where NaN counts as greater than all numbers; 0
// elsewhere. No .tflite form.
struct Hardmax {
  static const OperatorRow kRow;
  int axis = -1;
};

// The place of the first greatest or smallest element along the axis, int32 or int64.
struct ArgMax {
  static const OperatorRow kRow;
  int axis = 0;
};
struct ArgMin {
  static const OperatorRow kRow;
  int axis = 0;
};

// Running sums along the axis: `exclusive` ones leave out the element itself, `reverse` ones begin
// at the end. Integers wrap.
struct Cumsum {
  static const OperatorRow kRow;
  int axis = 0;
  bool exclusive = false;
  bool reverse = false;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_REDUCE_OPERATORS_H_
