// The operators: one small struct of parameters each. A layer says what is computed; how is a
// routine's business.
//
// Everything that fixes shapes or constants of the arithmetic stands here as a plain value: an
// importer resolves parameters that a file stores as constant tensors (paddings, axes, new shapes),
// so that the inputs of a layer are only data, weights and biases.
#ifndef INTAGLIO_NN_OPERATORS_H_
#define INTAGLIO_NN_OPERATORS_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "intaglio/nn/operators_control.h"
#include "intaglio/nn/operators_detection.h"
#include "intaglio/nn/operators_elementwise.h"
#include "intaglio/nn/operators_movement.h"
#include "intaglio/nn/operators_recurrent.h"
#include "intaglio/nn/tensor.h"

namespace intaglio::nn {

struct Extent {
  int height = 1;
  int width = 1;
};

// How a window meets the border, per spatial dimension, with e = (kernel - 1) * dilation + 1:
//   kValid     out = (in - e) / stride + 1, no padding;
//   kSame      out = ceil(in / stride); the total padding max(0, (out - 1) * stride + e - in) is
//   split
//              with the odd element at the bottom and right (TensorFlow's rule);
//   kExplicit  the four numbers below.
struct Padding {
  enum class Kind : uint8_t { kValid, kSame, kExplicit };
  Kind kind = Kind::kValid;
  int top = 0;
  int bottom = 0;
  int left = 0;
  int right = 0;

  static Padding Valid() { return {}; }
  static Padding Same() { return {Kind::kSame, 0, 0, 0, 0}; }
  static Padding Explicit(int top, int bottom, int left, int right) {
    return {Kind::kExplicit, top, bottom, left, right};
  }
};

// The linear operators take x, weights and bias of these types:
//   8 bits    x and weights int8 or uint8 (one of them), bias int32
//   16x8      x int16, weights int8, bias int64 or int32
//   hybrid    x float32, weights int8, bias float32; x is quantized on the fly, per batch item
//   float32   all three; sums in the order of the filter, without fused multiply-adds
//
// Inputs: x [N, H, W, C]; filter [O, KH, KW, C / groups], per tensor or per axis 0; optional bias
// [O]. The number of groups is what the channels of x and of the filter say.
struct Conv2D {
  Extent stride = {};
  Extent dilation = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};

// Inputs: x [N, H, W, C]; filter [1, KH, KW, C * multiplier], per tensor or per axis 3; optional
// bias [C * multiplier]. Output channel o reads input channel o / multiplier.
struct DepthwiseConv2D {
  Extent stride = {};
  Extent dilation = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};

// Inputs: x of any shape with K elements per row; weights [O, K], per tensor or per axis 0;
// optional bias [O]. Output [elements / K, O], or x's shape with the last dimension O where
// keep_num_dims.
struct FullyConnected {
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
  Shape shape = {};
  Extent stride = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};

// Inputs: a [..., M, K], or [..., K, M] where adjoint_a; b [..., K, N], or [..., N, K] where
// adjoint_b. The other dimensions broadcast. Of float32 by constant int8, rows of a are quantized
// as they come, with zero points where asymmetric_quantize_inputs.
struct BatchMatMul {
  bool adjoint_a = false;
  bool adjoint_b = false;
  bool asymmetric_quantize_inputs = false;
};

// x [N, H, W, C]. Padding does not count in the average. The operator does not rescale between the
// quantizations of x and the output.
struct AveragePool2D {
  Extent filter = {};
  Extent stride = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};
struct MaxPool2D {
  Extent filter = {};
  Extent stride = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};

// float32: the root of the mean of squares.
struct L2Pool2D {
  Extent filter = {};
  Extent stride = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};

// x / (bias + alpha sum of x^2)^beta, the sum over the channels from c - radius to c + radius - 1.
struct LocalResponseNormalization {
  int radius = 0;
  float bias = 1;
  float alpha = 1;
  float beta = 0.5f;
};

// Any number >= 1 of inputs along one axis (negative ones count from the end).
struct Concatenation {
  int axis = 0;
  Activation activation = Activation::kNone;
};

// From float32 to a quantized type, or from one quantization to another (requantization).
struct Quantize {};
// From a quantized type to float32.
struct Dequantize {};

// The order is that of the rows of the operator table.
using OperatorVariant = std::variant<
    Conv2D, DepthwiseConv2D, FullyConnected, Add, AveragePool2D, MaxPool2D, Pad, Reshape, Softmax,
    Logistic, Tanh, Relu, Relu6, Mean, Concatenation, Quantize, Dequantize, Squeeze, ExpandDims,
    MirrorPad, Transpose, Split, SplitV, Pack, Unpack, Slice, StridedSlice, Gather, GatherNd,
    EmbeddingLookup, Tile, BroadcastTo, Fill, ShapeOf, Sequence, Cast, OneHot, TopK, ResizeBilinear,
    ResizeNearestNeighbor, SpaceToDepth, DepthToSpace, SpaceToBatch, BatchToSpace, Reverse, ArgMax,
    ArgMin, Select, SelectV2, Cumsum, Sub, Mul, Div, Maximum, Minimum, SquaredDifference, FloorDiv,
    FloorMod, Pow, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, LogicalAnd, LogicalOr,
    LogicalNot, Abs, Neg, Exp, Log, Sqrt, Rsqrt, Square, Floor, Ceil, Round, Sin, Cos, ReluN1To1,
    HardSwish, Elu, Gelu, LeakyRelu, Prelu, LogSoftmax, L2Normalization, Sum, ReduceMax, ReduceMin,
    ReduceProd, ReduceAny, ReduceAll, TransposeConv, BatchMatMul, Lstm, BasicLstm,
    UnidirectionalSequenceLstm, Rnn, UnidirectionalSequenceRnn, Svdf, DetectionPostProcess,
    L2Pool2D, LocalResponseNormalization, ReadVariable, AssignVariable, While, If,
    DynamicUpdateSlice, DynamicSlice, ScatterNd>;

template <class T, class... Ts>
constexpr size_t PlaceAmong(const std::variant<Ts...>*) {
  static_assert((std::is_same_v<T, Ts> || ...),
                "an operator is one of the types of OperatorVariant");
  size_t place = 0;
  static_cast<void>(((std::is_same_v<T, Ts> || (++place, false)) || ...));
  return place;
}

// One of the above, read with std::get_if and std::holds_alternative. Compilers take seconds to
// make the special members of a variant of a hundred types, and a tenth of a second to make it of a
// value: so all of that is made once, in operators.cc, and a value names its place among the types.
class Operator : public OperatorVariant {
 public:
  Operator();  // Conv2D
  template <class T>
  requires(!std::derived_from<T, OperatorVariant>) Operator(T op)
      : Operator(PlaceAmong<T>(static_cast<OperatorVariant*>(nullptr)), &op) {}
  Operator(const Operator& other);
  Operator(Operator&& other) noexcept;
  Operator& operator=(const Operator& other);
  Operator& operator=(Operator&& other) noexcept;
  ~Operator();

 private:
  Operator(size_t place, void* op);  // takes what it points at: the type of that place
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPERATORS_H_
