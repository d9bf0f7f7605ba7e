// Operators whose constant inputs are shapes, axes and paddings.
#include <algorithm>

#include "intaglio/nn/import/translate.h"

namespace intaglio::nn {
namespace {

// Paddings are a [rank, 2] tensor: before and after, for each dimension.
Result<Pad> PaddingsFrom(const Translation& t) {
  const Result<std::vector<int>> values = t.ConstantInts(1, "paddings");
  if (!values.ok()) return values.status();
  const Shape& shape = t.input(1).shape;
  if (shape.size() != 2 || shape[1] != 2) {
    return InvalidArgument("paddings have shape " + ToString(shape) + ", not [rank, 2]");
  }
  Pad pad;
  for (size_t i = 0; i + 1 < values->size(); i += 2) {
    pad.paddings.emplace_back((*values)[i], (*values)[i + 1]);
  }
  return pad;
}

Result<Shape> NewShape(const Translation& t) {
  const auto* const options = t.options<tflite::ReshapeOptions>();
  // A shape tensor wins, but only as a vector: older converters left other things there.
  if (t.has_input(1) && t.input(1).shape.size() == 1) return t.ConstantInts(1, "shapes");
  if (options == nullptr || options->new_shape() == nullptr) {
    return InvalidArgument("has neither a shape tensor nor a shape in its options");
  }
  if (options->new_shape()->size() > 64) {
    return InvalidArgument("shape has " + std::to_string(options->new_shape()->size()) +
                           " dimensions");
  }
  Shape shape(options->new_shape()->begin(), options->new_shape()->end());
  if (shape == Shape{0}) shape.clear();  // how older converters wrote a scalar
  return shape;
}

}  // namespace

Status TranslatePad(Translation& t) {
  Result<Pad> pad = PaddingsFrom(t);
  if (!pad.ok()) return pad.status();
  t.KeepInputs(1);
  t.set(std::move(*pad));
  return {};
}

// PADV2's value is a constant with the output's quantization, which for us is the input's.
Status TranslatePadV2(Translation& t) {
  Result<Pad> pad = PaddingsFrom(t);
  if (!pad.ok()) return pad.status();
  if (!t.has_input(0) || !t.has_input(2)) return InvalidArgument("has no input or no value");
  const Tensor& x = t.input(0);
  const Tensor& value = t.input(2);
  if (!value.constant || value.data_bytes != 1 || value.type != x.type ||
      (value.type != Type::kInt8 && value.type != Type::kUInt8)) {
    return Unsupported("a padding value other than one int8 or uint8 constant of the input's type");
  }
  if (value.quantization.scales != x.quantization.scales ||
      value.quantization.zero_points != x.quantization.zero_points) {
    return Unsupported("a padding value quantized otherwise than the input");
  }
  pad->has_value = true;
  pad->value = value.type == Type::kInt8 ? *static_cast<const int8_t*>(value.data)
                                         : *static_cast<const uint8_t*>(value.data);
  t.KeepInputs(1);
  t.set(std::move(*pad));
  return {};
}

Status TranslateReshape(Translation& t) {
  Result<Shape> shape = NewShape(t);
  if (!shape.ok()) return shape.status();
  t.KeepInputs(std::min<size_t>(t.input_count(), 1));
  t.set(Reshape{std::move(*shape)});
  return {};
}

Status TranslateMean(Translation& t) {
  Result<std::vector<int>> axes = t.ConstantInts(1, "axes");
  if (!axes.ok()) return axes.status();
  const auto* const options = t.options<tflite::ReducerOptions>();
  if (options == nullptr && t.has_options())
    return InvalidArgument("has another operator's options");
  t.KeepInputs(1);
  t.set(Mean{std::move(*axes), options != nullptr && options->keep_dims()});
  return {};
}

}  // namespace intaglio::nn
