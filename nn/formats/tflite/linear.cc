// Linear operators in .tflite files.
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/rows.h"
#include "intaglio/nn/formats/tflite/write_padding.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

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

// The type of the bias decides how other runtimes add up the products of an int16 layer.
tflite::TensorType BiasType(const LayerView& layer) {
  const bool counts = layer.input(0).type == Type::kInt16 && layer.has_input(2);
  return counts ? ToTflite(layer.input(2).type) : tflite::TensorType::FLOAT32;
}

// Other padding becomes a layer PAD before, which fills with zeros, or with the zero point of
// integers.
template <class Op>
Result<tflite::Padding> EncodePadding(const Op& op, Encoding& e) {
  const Shape& filter = e.layer().input(1).shape;
  const Extent reach = {(filter[1] - 1) * op.dilation.height + 1,
                        (filter[2] - 1) * op.dilation.width + 1};
  if (IsSame(op.padding, op.stride, reach)) return tflite::Padding::SAME;
  if (!IsUnknown(op.padding)) return ToTflite(e.layer(), op.padding);
  RunPadBefore(op.padding, kNoTensor, e);
  return tflite::Padding::VALID;
}

Status Encode(const Conv2D& op, Encoding& e) {
  const Result<tflite::Padding> padding = EncodePadding(op, e);
  if (!padding.ok()) return padding.status();
  e.SetOptions(tflite::CreateConv2DOptions(e.builder(), *padding, op.stride.width, op.stride.height,
                                           ToTflite(op.activation), op.dilation.width,
                                           op.dilation.height, BiasType(e.layer())));
  return {};
}

// Some runtimes take the multiplier from the options, others from the shapes.
Status Encode(const DepthwiseConv2D& op, Encoding& e) {
  const Result<tflite::Padding> padding = EncodePadding(op, e);
  if (!padding.ok()) return padding.status();
  const int channels = e.layer().input(0).shape.back();
  const int multiplier = channels == 0 ? 1 : e.layer().input(1).shape.back() / channels;
  e.SetOptions(tflite::CreateDepthwiseConv2DOptions(
      e.builder(), *padding, op.stride.width, op.stride.height, multiplier, ToTflite(op.activation),
      op.dilation.width, op.dilation.height));
  return {};
}

Status Encode(const FullyConnected& op, Encoding& e) {
  e.SetOptions(tflite::CreateFullyConnectedOptions(e.builder(), ToTflite(op.activation),
                                                   tflite::WeightsFormat::DEFAULT, op.keep_num_dims,
                                                   op.asymmetric_inputs, BiasType(e.layer())));
  return {};
}

// The shape of the output comes first, then the filter. If a run computes the shape, it is the
// layer's last input.
Status Encode(const TransposeConv& op, Encoding& e) {
  const Result<tflite::Padding> padding = ToTflite(e.layer(), op.padding);
  if (!padding.ok()) return padding.status();
  e.SetOptions(tflite::CreateTransposeConvOptions(e.builder(), *padding, op.stride.width,
                                                  op.stride.height, ToTflite(op.activation),
                                                  BiasType(e.layer())));
  std::vector<TensorId> inputs = e.inputs();
  const bool computed = e.layer().has_input(3);
  inputs.insert(inputs.begin(), computed ? inputs[3] : e.Ints("shape", op.shape));
  std::swap(inputs[1], inputs[2]);
  inputs.resize(e.layer().has_input(2) ? 4 : 3);
  e.set_inputs(std::move(inputs));
  return {};
}

Status Encode(const BatchMatMul& op, Encoding& e) {
  e.SetOptions(tflite::CreateBatchMatMulOptions(e.builder(), op.adjoint_a, op.adjoint_b,
                                                op.asymmetric_quantize_inputs));
  return {};
}

constexpr TfliteRow kRows[] = {
    {Code::CONV_2D, 8, TranslateConv2D, &Conv2D::kRow, WriteBy<Conv2D, Encode>},
    {Code::DEPTHWISE_CONV_2D, 7, TranslateDepthwiseConv2D, &DepthwiseConv2D::kRow,
     WriteBy<DepthwiseConv2D, Encode>},
    {Code::FULLY_CONNECTED, 14, TranslateFullyConnected, &FullyConnected::kRow,
     WriteBy<FullyConnected, Encode>},
    {Code::TRANSPOSE_CONV, 5, TranslateTransposeConv, &TransposeConv::kRow,
     WriteBy<TransposeConv, Encode>},
    {Code::BATCH_MATMUL, 4, TranslateBatchMatMul, &BatchMatMul::kRow, WriteBy<BatchMatMul, Encode>},
};

}  // namespace

std::span<const TfliteRow> LinearRows() { return kRows; }

}  // namespace intaglio::nn
