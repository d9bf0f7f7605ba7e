// The operators that compute each element of the output from one element of each input.
#ifndef INTAGLIO_NN_OPS_ELEMENTWISE_OPERATORS_H_
#define INTAGLIO_NN_OPS_ELEMENTWISE_OPERATORS_H_

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
// pot_scale_int16 is added by shifting, as TFLite does.
struct Add {
  static const OperatorRow kRow;
  Activation activation = Activation::kNone;
  bool pot_scale_int16 = true;
};
struct Sub {
  static const OperatorRow kRow;
  Activation activation = Activation::kNone;
  bool pot_scale_int16 = true;
};
struct Mul {
  static const OperatorRow kRow;
  Activation activation = Activation::kNone;
};
struct Div {
  static const OperatorRow kRow;
  Activation activation = Activation::kNone;
};
// Without a change of quantization: the numbers are compared as they are.
struct Maximum {
  static const OperatorRow kRow;
};
struct Minimum {
  static const OperatorRow kRow;
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
struct LogicalNot {
  static const OperatorRow kRow;
};

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
struct Elu {
  static const OperatorRow kRow;
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
