// Recurrent operators in .tflite files.
#include <string>
#include <utility>

#include "intaglio/nn/formats/tflite/rows.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

Result<CellActivation> CellActivationFrom(tflite::ActivationFunctionType from) {
  switch (from) {
    case tflite::ActivationFunctionType::NONE:
      return CellActivation::kNone;
    case tflite::ActivationFunctionType::RELU:
      return CellActivation::kRelu;
    case tflite::ActivationFunctionType::RELU6:
      return CellActivation::kRelu6;
    case tflite::ActivationFunctionType::RELU_N1_TO_1:
      return CellActivation::kReluN1To1;
    case tflite::ActivationFunctionType::TANH:
      return CellActivation::kTanh;
    default:
      return Unsupported("activation number " + std::to_string(static_cast<int>(from)) +
                         " is not supported");
  }
}

// The scales of the gates' sums are those of the first four intermediate tensors, where there is
// layer normalization; the fifth is what is projected.
Status ReadIntermediates(const Translation& t, LstmCell& cell) {
  constexpr size_t kForgetNorm = 21;
  for (size_t gate = 0; gate < cell.gate_scales.size() && t.has_input(kForgetNorm); ++gate) {
    const Result<Quantization> q = t.IntermediateQuantization(gate);
    if (!q.ok()) return q.status();
    cell.gate_scales[gate] = q->scales.empty() ? 0 : q->scales[0];
  }
  Result<Quantization> hidden = t.IntermediateQuantization(4);
  if (!hidden.ok()) return hidden.status();
  cell.hidden = std::move(*hidden);
  return {};
}

template <class Options>
Result<LstmCell> CellFrom(const Translation& t, const Options& options) {
  const Result<CellActivation> activation = CellActivationFrom(options.fused_activation_function());
  if (!activation.ok()) return activation.status();
  LstmCell cell;
  cell.activation = *activation;
  cell.cell_clip = options.cell_clip();
  cell.projection_clip = options.proj_clip();
  cell.asymmetric_quantize_inputs = options.asymmetric_quantize_inputs();
  if (t.has_input(0) && t.input(0).type == Type::kInt8) {
    INTAGLIO_RETURN_IF_ERROR(ReadIntermediates(t, cell));
  }
  return cell;
}

Status TranslateLstm(Translation& t) {
  const Result<const tflite::LSTMOptions*> options = t.RequiredOptions<tflite::LSTMOptions>();
  if (!options.ok()) return options.status();
  if ((*options)->kernel_type() == tflite::LSTMKernelType::BASIC) {
    t.set(BasicLstm{});
    return {};
  }
  Result<LstmCell> cell = CellFrom(t, **options);
  if (!cell.ok()) return cell.status();
  t.set(Lstm{std::move(*cell)});
  return {};
}

Status TranslateUnidirectionalSequenceLstm(Translation& t) {
  const Result<const tflite::UnidirectionalSequenceLSTMOptions*> options =
      t.RequiredOptions<tflite::UnidirectionalSequenceLSTMOptions>();
  if (!options.ok()) return options.status();
  Result<LstmCell> cell = CellFrom(t, **options);
  if (!cell.ok()) return cell.status();
  t.set(UnidirectionalSequenceLstm{std::move(*cell), (*options)->time_major()});
  return {};
}

Status TranslateRnn(Translation& t) {
  const Result<const tflite::RNNOptions*> options = t.RequiredOptions<tflite::RNNOptions>();
  if (!options.ok()) return options.status();
  const Result<CellActivation> activation =
      CellActivationFrom((*options)->fused_activation_function());
  if (!activation.ok()) return activation.status();
  t.set(Rnn{*activation, (*options)->asymmetric_quantize_inputs()});
  return {};
}

Status TranslateUnidirectionalSequenceRnn(Translation& t) {
  const Result<const tflite::SequenceRNNOptions*> options =
      t.RequiredOptions<tflite::SequenceRNNOptions>();
  if (!options.ok()) return options.status();
  const Result<CellActivation> activation =
      CellActivationFrom((*options)->fused_activation_function());
  if (!activation.ok()) return activation.status();
  t.set(UnidirectionalSequenceRnn{*activation, (*options)->time_major(),
                                  (*options)->asymmetric_quantize_inputs()});
  return {};
}

Status TranslateSvdf(Translation& t) {
  const Result<const tflite::SVDFOptions*> options = t.RequiredOptions<tflite::SVDFOptions>();
  if (!options.ok()) return options.status();
  const Result<CellActivation> activation =
      CellActivationFrom((*options)->fused_activation_function());
  if (!activation.ok()) return activation.status();
  t.set(Svdf{(*options)->rank(), *activation, (*options)->asymmetric_quantize_inputs()});
  return {};
}

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

constexpr TfliteRow kRows[] = {
    {Code::LSTM, 4, TranslateLstm, &Lstm::kRow, WriteBy<Lstm, Encode>},
    {Code::LSTM, 0, nullptr, &BasicLstm::kRow, WriteBy<BasicLstm, Encode>},
    {Code::RNN, 3, TranslateRnn, &Rnn::kRow, WriteBy<Rnn, Encode>},
    {Code::SVDF, 4, TranslateSvdf, &Svdf::kRow, WriteBy<Svdf, Encode>},
    {Code::UNIDIRECTIONAL_SEQUENCE_LSTM, 4, TranslateUnidirectionalSequenceLstm,
     &UnidirectionalSequenceLstm::kRow, WriteBy<UnidirectionalSequenceLstm, Encode>},
    {Code::UNIDIRECTIONAL_SEQUENCE_RNN, 3, TranslateUnidirectionalSequenceRnn,
     &UnidirectionalSequenceRnn::kRow, WriteBy<UnidirectionalSequenceRnn, Encode>},
};

}  // namespace

std::span<const TfliteRow> RecurrentRows() { return kRows; }

}  // namespace intaglio::nn
