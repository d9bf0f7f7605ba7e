// The operators that work element by element, along rows, or reduce. See operators.h.
#ifndef INTAGLIO_NN_OPERATORS_ELEMENTWISE_H_
#define INTAGLIO_NN_OPERATORS_ELEMENTWISE_H_

#include <cstdint>
#include <vector>

namespace intaglio::nn {

// Clamps the real value of the output: kRelu to [0, inf), kRelu6 to [0, 6], kReluN1To1 to [-1, 1].
enum class Activation : uint8_t { kNone, kRelu, kRelu6, kReluN1To1 };

// Two inputs whose shapes broadcast as NumPy's do. int16 with power-of-two scales and
// pot_scale_int16 is added by shifting, as TFLite does.
struct Add {
  Activation activation = Activation::kNone;
  bool pot_scale_int16 = true;
};
struct Sub {
  Activation activation = Activation::kNone;
  bool pot_scale_int16 = true;
};
struct Mul {
  Activation activation = Activation::kNone;
};
struct Div {
  Activation activation = Activation::kNone;
};
// Without a change of quantization: the numbers are compared as they are.
struct Maximum {};
struct Minimum {};
struct SquaredDifference {};
// Integers and float32; division by zero makes the run fail for integers.
struct FloorDiv {};
struct FloorMod {};
struct Pow {};

// Comparisons of real values give bool.
struct Equal {};
struct NotEqual {};
struct Less {};
struct LessEqual {};
struct Greater {};
struct GreaterEqual {};

// On bool.
struct LogicalAnd {};
struct LogicalOr {};
struct LogicalNot {};

struct Abs {};
struct Neg {};
struct Exp {};
struct Log {};
struct Sqrt {};
struct Rsqrt {};
struct Square {};
struct Floor {};
struct Ceil {};
struct Round {};  // ties to even
struct Sin {};
struct Cos {};

struct Logistic {};
struct Tanh {};
struct Relu {};
struct Relu6 {};
struct ReluN1To1 {};
struct HardSwish {};
struct Elu {};
struct Gelu {
  bool approximate = false;
};
// x, or alpha x where x is negative.
struct LeakyRelu {
  float alpha = 0;
};
// Inputs: x; alpha, which broadcasts to x.
struct Prelu {};

// Over the last dimension.
struct Softmax {
  float beta = 1.0f;
};
struct LogSoftmax {};
struct L2Normalization {};

// Over the axes (negative ones count from the end; duplicates count once; none: x itself).
struct Mean {
  std::vector<int> axes = {};
  bool keep_dims = false;
};
struct Sum {
  std::vector<int> axes = {};
  bool keep_dims = false;
};
struct ReduceMax {
  std::vector<int> axes = {};
  bool keep_dims = false;
};
struct ReduceMin {
  std::vector<int> axes = {};
  bool keep_dims = false;
};
struct ReduceProd {
  std::vector<int> axes = {};
  bool keep_dims = false;
};
struct ReduceAny {
  std::vector<int> axes = {};
  bool keep_dims = false;
};
struct ReduceAll {
  std::vector<int> axes = {};
  bool keep_dims = false;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPERATORS_ELEMENTWISE_H_
