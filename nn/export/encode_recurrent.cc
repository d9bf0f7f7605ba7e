// Operators that have a state.
#include "intaglio/nn/export/encode.h"

namespace intaglio::nn {
namespace {

tflite::ActivationFunctionType CodeOf(CellActivation activation) {
  switch (activation) {
    case CellActivation::kRelu:
      return tflite::ActivationFunctionType::RELU;
    case CellActivation::kRelu6:
      return tflite::ActivationFunctionType::RELU6;
    case CellActivation::kReluN1To1:
      return tflite::ActivationFunctionType::RELU_N1_TO_1;
    case CellActivation::kTanh:
      return tflite::ActivationFunctionType::TANH;
    case CellActivation::kNone:
      break;
  }
  return tflite::ActivationFunctionType::NONE;
}

// Adds the quantizations of the gates' sums and of the projection's input. Without a projection,
// the latter has no effect, but runtimes require one.
void AddIntermediates(const LstmCell& cell, Encoding& e) {
  if (e.layer().input(0).type != Type::kInt8) return;
  for (const float scale : cell.gate_scales) {
    const Quantization q = scale == 0 ? Quantization() : PerTensor(scale, 0);
    e.AddIntermediate(e.Add("gate", Type::kInt16, {}, q));
  }
  const Quantization& output = e.layer().output().quantization;
  e.AddIntermediate(
      e.Add("hidden", Type::kInt8, {}, cell.hidden.quantized() ? cell.hidden : output));
}

}  // namespace

Status Encode(const Lstm& op, Encoding& e) {
  AddIntermediates(op.cell, e);
  e.SetOptions(tflite::CreateLSTMOptions(e.builder(), CodeOf(op.cell.activation), op.cell.cell_clip,
                                         op.cell.projection_clip, tflite::LSTMKernelType::FULL,
                                         op.cell.asymmetric_quantize_inputs));
  return {};
}

Status Encode(const BasicLstm&, Encoding& e) {
  e.SetOptions(tflite::CreateLSTMOptions(e.builder(), tflite::ActivationFunctionType::TANH, 0, 0,
                                         tflite::LSTMKernelType::BASIC));
  return {};
}

Status Encode(const UnidirectionalSequenceLstm& op, Encoding& e) {
  AddIntermediates(op.cell, e);
  e.SetOptions(tflite::CreateUnidirectionalSequenceLSTMOptions(
      e.builder(), CodeOf(op.cell.activation), op.cell.cell_clip, op.cell.projection_clip,
      op.time_major, op.cell.asymmetric_quantize_inputs));
  return {};
}

Status Encode(const Rnn& op, Encoding& e) {
  e.SetOptions(
      tflite::CreateRNNOptions(e.builder(), CodeOf(op.activation), op.asymmetric_quantize_inputs));
  return {};
}

Status Encode(const UnidirectionalSequenceRnn& op, Encoding& e) {
  e.SetOptions(tflite::CreateSequenceRNNOptions(e.builder(), op.time_major, CodeOf(op.activation),
                                                op.asymmetric_quantize_inputs));
  return {};
}

Status Encode(const Svdf& op, Encoding& e) {
  e.SetOptions(tflite::CreateSVDFOptions(e.builder(), op.rank, CodeOf(op.activation),
                                         op.asymmetric_quantize_inputs));
  return {};
}

Status Encode(const ReadVariable&, Encoding& e) {
  e.set_inputs({e.HandleOf(e.inputs()[0])});
  return {};
}

Status Encode(const AssignVariable&, Encoding& e) {
  e.set_inputs({e.HandleOf(e.inputs()[1]), e.inputs()[0]});
  return {};
}

}  // namespace intaglio::nn
