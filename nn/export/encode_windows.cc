// Operators that slide a window over an image, and matrix products.
#include <utility>

#include "intaglio/nn/export/encode.h"

namespace intaglio::nn {
namespace {

template <class Op>
Status EncodePool(const Op& op, Encoding& e) {
  const Result<tflite::Padding> padding = ToTflite(e.layer(), op.padding);
  if (!padding.ok()) return padding.status();
  e.SetOptions(tflite::CreatePool2DOptions(e.builder(), *padding, op.stride.width, op.stride.height,
                                           op.filter.width, op.filter.height,
                                           ToTflite(op.activation)));
  return {};
}

// The type of the bias decides how other runtimes add up the products of an int16 layer.
tflite::TensorType BiasType(const LayerView& layer) {
  const bool counts = layer.input(0).type == Type::kInt16 && layer.has_input(2);
  return counts ? ToTflite(layer.input(2).type) : tflite::TensorType::FLOAT32;
}

}  // namespace

Status Encode(const Conv2D& op, Encoding& e) {
  const Result<tflite::Padding> padding = ToTflite(e.layer(), op.padding);
  if (!padding.ok()) return padding.status();
  e.SetOptions(tflite::CreateConv2DOptions(e.builder(), *padding, op.stride.width, op.stride.height,
                                           ToTflite(op.activation), op.dilation.width,
                                           op.dilation.height, BiasType(e.layer())));
  return {};
}

// Some runtimes take the multiplier from the options, others from the shapes.
Status Encode(const DepthwiseConv2D& op, Encoding& e) {
  const Result<tflite::Padding> padding = ToTflite(e.layer(), op.padding);
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

Status Encode(const AveragePool2D& op, Encoding& e) { return EncodePool(op, e); }
Status Encode(const MaxPool2D& op, Encoding& e) { return EncodePool(op, e); }
Status Encode(const L2Pool2D& op, Encoding& e) { return EncodePool(op, e); }

Status Encode(const LocalResponseNormalization& op, Encoding& e) {
  e.SetOptions(tflite::CreateLocalResponseNormalizationOptions(e.builder(), op.radius, op.bias,
                                                               op.alpha, op.beta));
  return {};
}

}  // namespace intaglio::nn
