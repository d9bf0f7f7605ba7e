// The operators that keep a state from run to run, in variables among their inputs. See
// operators.h. An input that is optional and absent is kNoTensor.
#ifndef INTAGLIO_NN_OPS_RECURRENT_OPERATORS_H_
#define INTAGLIO_NN_OPS_RECURRENT_OPERATORS_H_

#include <array>
#include <cstdint>

#include "intaglio/nn/graph/operator_row.h"
#include "intaglio/nn/graph/tensor.h"

namespace intaglio::nn {

// What a cell applies to its sums.
enum class CellActivation : uint8_t { kNone, kRelu, kRelu6, kReluN1To1, kTanh };

// Of an LSTM with I inputs, C cells and O outputs; O = C without a projection. Gates, in the order
// input, forget, cell, output:
//   gate = sigmoid(W x + R h + w_c * c + bias), the cell gate with the activation instead and
//   without w_c; with layer normalization sigmoid(l * normalized(W x + R h + w_c * c) + bias);
//   c = forget * c + input * cell, clipped;  h = P (output * activation(c)) + bias, clipped.
//
// Inputs, in TFLite's order:
//   0 x; 1-4 W [C, I]; 5-8 R [C, O]; 9-11 w_c [C] of the gates input, forget, output; 12-15 biases
//   [C]; 16 P [O, C], 17 its bias [O]; the variables 18 h [B, O] and 19 c [B, C]; 20-23 l [C].
// Optional are those of the input gate (then it is 1 - forget), 9-11, 16, 17, and 20-23.
//
// float32; float32 with int8 weights, for which x and h are quantized row by row on the way; or
// int8 with c, w_c and l of int16 and biases of int32.
struct LstmCell {
  CellActivation activation = CellActivation::kTanh;
  float cell_clip = 0;  // of |c| and |h|; 0: none. h is clipped only where it is projected.
  float projection_clip = 0;
  bool asymmetric_quantize_inputs = false;  // with a zero point, on the way
  // int8 only. The scale of a gate's sum before its normalization (else it is 2^-12), and the
  // quantization of what is projected.
  std::array<float, 4> gate_scales = {};
  Quantization hidden = {};
};

// One step: x is [B, I], the output [B, O].
struct Lstm {
  static const OperatorRow kRow;
  LstmCell cell = {};
};

// A sequence: x is [B, T, I] and the output [B, T, O]; [T, B, ...] where time_major.
struct UnidirectionalSequenceLstm {
  static const OperatorRow kRow;
  LstmCell cell = {};
  bool time_major = false;
};

// One step of the LSTM without options. Inputs: x [B, I]; h [B, C]; weights [4C, I + C], the gates
// in the order input, cell, forget, output; biases [4C]; c [B, C]. Outputs: h, c, and two that
// hold what is of no use: [B, I + C] and [B, 4C]. The new h and c are also stored to those inputs
// which are variables. float32; or uint8 of scale 1/128 and zero point 128 with int32 biases and
// c in int16 of scale 2^-11.
struct BasicLstm {
  static const OperatorRow kRow;
};

// y = activation(W x + R y' + bias), y' being the one before. Inputs: x [B, I]; W [U, I]; R [U, U];
// bias [U]; the variable y' [B, U]. float32, or with int8 weights as above.
struct Rnn {
  static const OperatorRow kRow;
  CellActivation activation = CellActivation::kTanh;
  bool asymmetric_quantize_inputs = false;
};
// The same over x [B, T, I], or [T, B, I] where time_major.
struct UnidirectionalSequenceRnn {
  static const OperatorRow kRow;
  CellActivation activation = CellActivation::kTanh;
  bool time_major = false;
  bool asymmetric_quantize_inputs = false;
};

// A dense layer and filters over time of its M last results, `rank` per output. Inputs: x [B, I];
// weights [F, I]; weights over time [F, M]; optional bias [F / rank]; the variable [B, F * M] of
// the results. float32, or with int8 weights as above; or int8, weights over time and variable both
// of int16 or of int8, bias of int32, and no other activation than kRelu: the output's range.
struct Svdf {
  static const OperatorRow kRow;
  int rank = 1;
  CellActivation activation = CellActivation::kNone;
  bool asymmetric_quantize_inputs = false;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_RECURRENT_OPERATORS_H_
