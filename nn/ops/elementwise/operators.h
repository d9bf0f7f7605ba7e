// The operators that compute each element of the output from one element of each input.
#ifndef INTAGLIO_NN_OPS_ELEMENTWISE_OPERATORS_H_
#define INTAGLIO_NN_OPS_ELEMENTWISE_OPERATORS_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "intaglio/nn/graph/operator_row.h"
#include "intaglio/nn/ops/support/activation.h"

namespace intaglio::nn {

// From float32 to a quantized type, or from one quantization to another (requantization).
struct Quantize {
  static const OperatorRow kRow;
};
// From a quantized type to float32.
struct Dequantize {
  static const OperatorRow kRow;
};

// Two inputs whose shapes broadcast as NumPy's do. int16 with power-of-two scales and
// pot_scale_int16 is added by shifting, as TFLite does. Integers without quantizations wrap; their
// quotients are cut off, and division by zero makes the run fail. The greatest float32 stands for
// infinity, as in TFLite, unless keeps_infinities is set, which .tflite files cannot say.
struct Add {
  static const OperatorRow kRow;
  Activation activation = Activation::kNone;
  bool pot_scale_int16 = true;
  bool keeps_infinities = false;
};
struct Sub {
  static const OperatorRow kRow;
  Activation activation = Activation::kNone;
  bool pot_scale_int16 = true;
  bool keeps_infinities = false;
};
struct Mul {
  static const OperatorRow kRow;
  Activation activation = Activation::kNone;
  bool keeps_infinities = false;
};
// Sums and products of 8 bits by ONNX Runtime's rules, which add the output's zero point before
// they round (docs/numerics.md).
struct QLinearAdd {
  static const OperatorRow kRow;
};
struct QLinearMul {
  static const OperatorRow kRow;
};
struct Div {
  static const OperatorRow kRow;
  Activation activation = Activation::kNone;
  bool keeps_infinities = false;
};
// Without a change of quantization: the numbers are compared as they are. NaN is the result where
// the second number is NaN and, with keeps_nan, which .tflite files cannot say, where one is.
struct Maximum {
  static const OperatorRow kRow;
  bool keeps_nan = false;
};
struct Minimum {
  static const OperatorRow kRow;
  bool keeps_nan = false;
};
struct SquaredDifference {
  static const OperatorRow kRow;
};
// Integers and float32; division by zero makes the run fail for integers.
struct FloorDiv {
  static const OperatorRow kRow;
};
struct FloorMod {
  static const OperatorRow kRow;
};
// What division towards zero leaves, with the sign of the first. Not quantized; integer division by
// zero makes the run fail. No .tflite form.
struct Fmod {
  static const OperatorRow kRow;
};
// The output has the type of the first: float32, int32 or int64; so has the second, or another of
// these. Integers wrap; a negative integer power of them makes the run fail. Real powers of
// integers are cut off and saturate (NaN gives the highest value).
struct Pow {
  static const OperatorRow kRow;
};

// Comparisons of real values give bool.
struct Equal {
  static const OperatorRow kRow;
};
struct NotEqual {
  static const OperatorRow kRow;
};
struct Less {
  static const OperatorRow kRow;
};
struct LessEqual {
  static const OperatorRow kRow;
};
struct Greater {
  static const OperatorRow kRow;
};
struct GreaterEqual {
  static const OperatorRow kRow;
};

// On bool.
struct LogicalAnd {
  static const OperatorRow kRow;
};
struct LogicalOr {
  static const OperatorRow kRow;
};
struct LogicalXor {
  static const OperatorRow kRow;
};  // no .tflite form
struct LogicalNot {
  static const OperatorRow kRow;
};

// Bit by bit, on integers of one type. No .tflite form.
struct BitwiseAnd {
  static const OperatorRow kRow;
};
struct BitwiseOr {
  static const OperatorRow kRow;
};
struct BitwiseXor {
  static const OperatorRow kRow;
};
struct BitwiseNot {
  static const OperatorRow kRow;
};
// The bits of the first, moved by as many places as the second says, to the right or to the left;
// zeros come in, even for negative numbers. All bits are gone where it says as many places as there
// are bits, or more, or a negative number. No .tflite form.
struct BitShift {
  static const OperatorRow kRow;
  bool right = false;
};

// Abs and Neg of integers without quantizations wrap.
struct Abs {
  static const OperatorRow kRow;
};
struct Neg {
  static const OperatorRow kRow;
};
struct Exp {
  static const OperatorRow kRow;
};
struct Log {
  static const OperatorRow kRow;
};
struct Sqrt {
  static const OperatorRow kRow;
};
struct Rsqrt {
  static const OperatorRow kRow;
};
struct Square {
  static const OperatorRow kRow;
};
struct Floor {
  static const OperatorRow kRow;
};
struct Ceil {
  static const OperatorRow kRow;
};
struct Round {
  static const OperatorRow kRow;
};  // ties to even
struct Sin {
  static const OperatorRow kRow;
};
struct Cos {
  static const OperatorRow kRow;
};

struct Logistic {
  static const OperatorRow kRow;
};
struct Tanh {
  static const OperatorRow kRow;
};
struct Relu {
  static const OperatorRow kRow;
};
struct Relu6 {
  static const OperatorRow kRow;
};
struct ReluN1To1 {
  static const OperatorRow kRow;
};
struct HardSwish {
  static const OperatorRow kRow;
};
// x, or alpha (e^x - 1) where x is negative.
struct Elu {
  static const OperatorRow kRow;
  float alpha = 1;
};
struct Gelu {
  static const OperatorRow kRow;
  bool approximate = false;
};
// x, or alpha x where x is negative.
struct LeakyRelu {
  static const OperatorRow kRow;
  float alpha = 0;
};
// Inputs: x; alpha, which broadcasts to x.
struct Prelu {
  static const OperatorRow kRow;
};

// Functions of float32 numbers, which have no .tflite form. Most are computed in float64 and
// rounded once. HardSigmoid, Reciprocal, Shrink and ThresholdedRelu are computed in float32, where
// each operation rounds. What real numbers have no value for is NaN, or as the formula says.
struct Erf {
  static const OperatorRow kRow;
};
struct Reciprocal {
  static const OperatorRow kRow;
};  // 1 / x
struct Softplus {
  static const OperatorRow kRow;
};  // log(1 + e^x)
struct Softsign {
  static const OperatorRow kRow;
};  // x / (1 + |x|)
struct Mish {
  static const OperatorRow kRow;
};  // x tanh(log(1 + e^x))
struct Tan {
  static const OperatorRow kRow;
};
struct Asin {
  static const OperatorRow kRow;
};
struct Acos {
  static const OperatorRow kRow;
};
struct Atan {
  static const OperatorRow kRow;
};
struct Sinh {
  static const OperatorRow kRow;
};
struct Cosh {
  static const OperatorRow kRow;
};
struct Asinh {
  static const OperatorRow kRow;
};
struct Acosh {
  static const OperatorRow kRow;
};
struct Atanh {
  static const OperatorRow kRow;
};
// gamma x, or gamma alpha (e^x - 1) where x is negative.
struct Selu {
  static const OperatorRow kRow;
  float alpha = 1.67326319217681884765625f;
  float gamma = 1.05070102214813232421875f;
};
// x, or alpha (e^(x / alpha) - 1) where x is negative.
struct Celu {
  static const OperatorRow kRow;
  float alpha = 1;
};
// x / (1 + e^(-alpha x))
struct Swish {
  static const OperatorRow kRow;
  float alpha = 1;
};
// alpha x + beta, inside [0, 1].
struct HardSigmoid {
  static const OperatorRow kRow;
  float alpha = 0.2f;
  float beta = 0.5f;
};
// x where it is above alpha, else 0.
struct ThresholdedRelu {
  static const OperatorRow kRow;
  float alpha = 1;
};
// x + bias below -threshold, x - bias above threshold, else 0.
struct Shrink {
  static const OperatorRow kRow;
  float bias = 0;
  float threshold = 0.5f;
};

// float32 to bool. No .tflite form.
struct IsNan {
  static const OperatorRow kRow;
};
struct IsInf {
  static const OperatorRow kRow;
  bool negative = true;  // counts
  bool positive = true;  // counts
};

// 1, 0 or -1, of the type of x; NaN stays NaN. No .tflite form.
struct Sign {
  static const OperatorRow kRow;
};
// min(max(x, low), high): where low is above high, high. A bound is a number of x's type, exactly;
// one that is missing, or NaN, does not bound. NaN stays NaN. Numbers are taken as they are, so
// quantizations must not change. No .tflite form.
struct Clip {
  static const OperatorRow kRow;
  using Bound = std::variant<double, int64_t>;
  std::optional<Bound> low = {};
  std::optional<Bound> high = {};
};

// From one element type to another. Integers keep their low bits, floats are cut off and saturate
// (NaN gives the highest value).
struct Cast {
  static const OperatorRow kRow;
};

// Inputs: condition, bool; what is taken where it holds; what elsewhere. SELECT_V2 broadcasts all
// three; SELECT takes a condition of the others' shape, or one per index of dimension 0.
struct Select {
  static const OperatorRow kRow;
};
struct SelectV2 {
  static const OperatorRow kRow;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_ELEMENTWISE_OPERATORS_H_
