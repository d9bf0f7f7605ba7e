// Operators that slide a window over an image, and the one whose window is the whole image.
#include <utility>

#include "intaglio/nn/import/translate.h"

namespace intaglio::nn {
namespace {

Status MissingOptions() { return InvalidArgument("its options are missing or another operator's"); }

// Conv2D and DepthwiseConv2D, whose options have the same names.
template <class Op, class Options>
Status TranslateConvolution(Translation& t) {
  const auto* const options = t.options<Options>();
  if (options == nullptr) return MissingOptions();
  const Result<Padding> padding = PaddingFrom(options->padding());
  if (!padding.ok()) return padding.status();
  const Result<Activation> activation = ActivationFrom(options->fused_activation_function());
  if (!activation.ok()) return activation.status();
  Op op;
  op.stride = {options->stride_h(), options->stride_w()};
  op.dilation = {options->dilation_h_factor(), options->dilation_w_factor()};
  op.padding = *padding;
  op.activation = *activation;
  t.set(op);
  return {};
}

template <class Op>
Status TranslatePool(Translation& t) {
  const auto* const options = t.options<tflite::Pool2DOptions>();
  if (options == nullptr) return MissingOptions();
  const Result<Padding> padding = PaddingFrom(options->padding());
  if (!padding.ok()) return padding.status();
  const Result<Activation> activation = ActivationFrom(options->fused_activation_function());
  if (!activation.ok()) return activation.status();
  Op op;
  op.filter = {options->filter_height(), options->filter_width()};
  op.stride = {options->stride_h(), options->stride_w()};
  op.padding = *padding;
  op.activation = *activation;
  t.set(op);
  return {};
}

}  // namespace

Status TranslateConv2D(Translation& t) {
  return TranslateConvolution<Conv2D, tflite::Conv2DOptions>(t);
}

// The depth multiplier in the options is not read: TFLite takes it from the shapes.
Status TranslateDepthwiseConv2D(Translation& t) {
  return TranslateConvolution<DepthwiseConv2D, tflite::DepthwiseConv2DOptions>(t);
}

// The shape of the output comes first, then the filter. A shape that is not constant must turn out
// to be the declared one: it becomes the last input.
Status TranslateTransposeConv(Translation& t) {
  const TensorId shape_id = t.id(0);
  const TensorId bias = t.id(3);
  const bool computed = t.has_input(0) && !t.IsConstant(0);
  Result<Shape> shape = computed ? t.DeclaredShape() : t.ConstantInts(0, "shapes");
  if (!shape.ok()) return shape.status();
  const auto options = t.RequiredOptions<tflite::TransposeConvOptions>();
  if (!options.ok()) return options.status();
  const Result<Padding> padding = PaddingFrom((*options)->padding());
  if (!padding.ok()) return padding.status();
  const Result<Activation> activation = ActivationFrom((*options)->fused_activation_function());
  if (!activation.ok()) return activation.status();
  t.set(TransposeConv{
      std::move(*shape), {(*options)->stride_h(), (*options)->stride_w()}, *padding, *activation});
  INTAGLIO_RETURN_IF_ERROR(t.PickInputs({2, 1}));
  if (bias != kNoTensor || computed) t.AddInput(bias);
  if (computed) t.AddInput(shape_id);
  return {};
}

Status TranslateBatchMatMul(Translation& t) {
  const auto* const options = t.options<tflite::BatchMatMulOptions>();
  if (options == nullptr && t.has_options()) {
    return InvalidArgument("has another operator's options");
  }
  t.set(options == nullptr ? BatchMatMul{}
                           : BatchMatMul{options->adj_x(), options->adj_y(),
                                         options->asymmetric_quantize_inputs()});
  return {};
}

Status TranslateAveragePool2D(Translation& t) { return TranslatePool<AveragePool2D>(t); }
Status TranslateMaxPool2D(Translation& t) { return TranslatePool<MaxPool2D>(t); }
Status TranslateL2Pool2D(Translation& t) { return TranslatePool<L2Pool2D>(t); }

Status TranslateFullyConnected(Translation& t) {
  const auto* const options = t.options<tflite::FullyConnectedOptions>();
  if (options == nullptr) return MissingOptions();
  if (options->weights_format() != tflite::WeightsFormat::DEFAULT) {
    return Unsupported("shuffled weights are not supported");
  }
  const Result<Activation> activation = ActivationFrom(options->fused_activation_function());
  if (!activation.ok()) return activation.status();
  t.set(
      FullyConnected{*activation, options->keep_num_dims(), options->asymmetric_quantize_inputs()});
  return {};
}

}  // namespace intaglio::nn
