// Operators whose constant inputs are shapes, axes and paddings.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <variant>

#include "intaglio/nn/import/translate.h"

namespace intaglio::nn {
namespace {

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

namespace {

template <class T>
T NumberOf(const Tensor& constant) {
  T value = 0;
  std::memcpy(&value, constant.data, sizeof(value));
  return value;
}

std::variant<double, int64_t> NumberOf(const Tensor& constant) {
  switch (constant.type) {
    case Type::kInt8:
      return NumberOf<int8_t>(constant);
    case Type::kInt16:
      return NumberOf<int16_t>(constant);
    case Type::kInt32:
      return NumberOf<int32_t>(constant);
    case Type::kInt64:
      return NumberOf<int64_t>(constant);
    case Type::kFloat32:
      return NumberOf<float>(constant);
    default:
      return NumberOf<uint8_t>(constant);
  }
}

}  // namespace

Status TranslatePad(Translation& t) {
  Result<std::vector<std::pair<int, int>>> pairs = t.ConstantPairs(1, "paddings");
  if (!pairs.ok()) return pairs.status();
  t.KeepInputs(1);
  t.set(Pad{std::move(*pairs)});
  return {};
}

// PADV2's value is a constant with the output's quantization, which for us is the input's.
Status TranslatePadV2(Translation& t) {
  Result<std::vector<std::pair<int, int>>> pairs = t.ConstantPairs(1, "paddings");
  if (!pairs.ok()) return pairs.status();
  if (!t.has_input(0) || !t.has_input(2)) return InvalidArgument("has no input or no value");
  const Tensor& x = t.input(0);
  const Tensor& value = t.input(2);
  if (!t.IsConstant(2) || value.data_bytes != SizeOf(value.type) || value.type != x.type) {
    return Unsupported("a padding value other than one constant of the input's type");
  }
  if (value.quantization.scales != x.quantization.scales ||
      value.quantization.zero_points != x.quantization.zero_points) {
    return Unsupported("a padding value quantized otherwise than the input");
  }
  const std::variant<double, int64_t> number = NumberOf(value);
  t.KeepInputs(1);
  t.set(Pad{std::move(*pairs), true, number});
  return {};
}

Status TranslateReshape(Translation& t) {
  Result<Shape> shape = NewShape(t);
  if (!shape.ok()) return shape.status();
  t.KeepInputs(1);
  t.set(Reshape{std::move(*shape)});
  return {};
}

Result<bool> KeepsDimensions(const Translation& t) {
  const auto* const options = t.options<tflite::ReducerOptions>();
  if (options == nullptr && t.has_options()) {
    return InvalidArgument("has another operator's options");
  }
  return options != nullptr && options->keep_dims();
}

}  // namespace intaglio::nn
