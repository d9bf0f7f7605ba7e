// Operators that slide a window over an image, and matrix products.
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

}  // namespace

Status Encode(const Conv2D& op, Encoding& e) {
  const Result<tflite::Padding> padding = ToTflite(e.layer(), op.padding);
  if (!padding.ok()) return padding.status();
  e.SetOptions(tflite::CreateConv2DOptions(e.builder(), *padding, op.stride.width, op.stride.height,
                                           ToTflite(op.activation), op.dilation.width,
                                           op.dilation.height));
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
                                                   op.asymmetric_inputs));
  return {};
}

// The shape of the output comes first, then the filter.
Status Encode(const TransposeConv& op, Encoding& e) {
  if (e.layer().has_input(3)) {
    return e.layer().Unsupported("the writer of .tflite files does not know computed shapes");
  }
  const Result<tflite::Padding> padding = ToTflite(e.layer(), op.padding);
  if (!padding.ok()) return padding.status();
  e.SetOptions(tflite::CreateTransposeConvOptions(e.builder(), *padding, op.stride.width,
                                                  op.stride.height, ToTflite(op.activation)));
  e.SwapFirstInputs();
  e.InsertInput(0, e.Ints("shape", op.shape));
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
