// Operators with a state.
#include <utility>

#include "intaglio/nn/import/translate.h"

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

}  // namespace

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

}  // namespace intaglio::nn
