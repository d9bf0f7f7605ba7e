// RECURRENT_SEQUENCE: whole sequences of the cells of ONNX.
#ifndef INTAGLIO_NN_OPS_RECURRENT_SEQUENCE_H_
#define INTAGLIO_NN_OPS_RECURRENT_SEQUENCE_H_

#include <cstdint>
#include <vector>

#include "intaglio/nn/graph/operator_row.h"

namespace intaglio::nn {

// A function of one element x, with the parameters a and b.
enum class Curve : uint8_t {
  kSigmoid,
  kTanh,
  kRelu,
  kAffine,           // a x + b
  kLeakyRelu,        // x, or a x where x < 0
  kThresholdedRelu,  // x, or 0 where x <= a
  kScaledTanh,       // a tanh(b x)
  kHardSigmoid,      // a x + b, inside [0, 1]
  kElu,              // x, or a (exp(x) - 1) where x < 0
  kSoftsign,         // x / (1 + |x|)
  kSoftplus,         // log(1 + exp(x))
};
struct CellFunction {
  Curve curve = Curve::kTanh;
  float a = 0;
  float b = 0;
};

enum class SequenceCell : uint8_t { kRnn, kGru, kLstm };
enum class SequenceDirection : uint8_t { kForward, kReverse, kBoth };

// Whole sequences of a cell of H units, in one direction or in both, each with weights of its own:
// D = 1 or 2. The cell has G gates, one function f each, and follows from x, its last h and c:
//   kRnn   G = 1: h = f(W x + R h)
//   kGru   G = 3: z = f(W x + R h);  r = f(W x + R h);  n = g(W x + R (r * h)), or
//          g(W x + r * (R h)) with reset_after;  h = (1 - z) * n + z * h
//   kLstm  G = 4, in the order i, o, f, c:  i = f(W x + R h + p_i * c);
//          f = f(W x + R h + p_f * c), or 1 - i if coupled;  c = f * c + i * g(W x + R h);
//          o = f(W x + R h + p_o * c), of the new c;  h = o * h(c)
// where each product has a bias, and what a function is given is clipped.
//
// Inputs: 0 x [T, B, I]; the constants 1 W [D G H, I], 2 R [D G H, H] and, optional, 3 the biases
// [D, 2 G H], those of W first. Optional are also 4 the lengths of the sequences [B], int32; 5 h
// and 6 c [D, B, H] before the first step, else 0; and 7 the constant p [D, 3 H] in the order i, o,
// f. Outputs: all h [T, D, B, H], zeros behind the end of a sequence; the last h [D, B, H]; of
// kLstm also the last c. Both are 0 for a sequence without elements. No .tflite form.
//
// float32; or with weights of int8 or uint8, per tensor or per row. Then all of x are quantized
// together as by DYNAMIC_QUANTIZE, and in each step all h of a direction; sums become float32 as
// float32(sum) * (scale * weight scale).
struct RecurrentSequence {
  static const OperatorRow kRow;
  SequenceCell cell = SequenceCell::kLstm;
  SequenceDirection direction = SequenceDirection::kForward;
  std::vector<CellFunction> functions = {};  // of each direction: f, of kGru and kLstm g, then h
  float clip = 0;                            // of absolute values; 0: none
  bool coupled = false;
  bool reset_after = false;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_RECURRENT_SEQUENCE_H_
