// PAD and PADV2.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/support/moves.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

std::string TextOf(const std::variant<double, int64_t>& value) {
  if (const auto* const integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", std::get<double>(value));
  return text;
}

// Whether the value is a number of the type. Any is one of a real type.
template <class T>
bool Fits(const std::variant<double, int64_t>& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return true;
  } else {
    if (const auto* const integer = std::get_if<int64_t>(&value)) return std::in_range<T>(*integer);
    const double real = std::get<double>(value);
    return real > -0x1p62 && real < 0x1p62 && real == std::floor(real) &&
           std::in_range<T>(static_cast<int64_t>(real));
  }
}

// The bytes of a number, which must be one of the type.
template <class T>
Result<Element> ElementFrom(const LayerView& layer, const std::variant<double, int64_t>& value) {
  if (!Fits<T>(value)) {
    return layer.Invalid("the padding value " + TextOf(value) + " is no " +
                         NameOf(layer.output().type));
  }
  const T number = std::visit([](auto v) { return static_cast<T>(v); }, value);
  Element element;
  std::memcpy(element.bytes, &number, sizeof(number));
  return element;
}

}  // namespace

Result<Element> PaddingOf(const LayerView& layer) {
  const Pad& op = layer.op<Pad>();
  if (!op.has_value) return ZeroOf(layer);
  const std::variant<double, int64_t>& value = op.value;
  switch (layer.output().type) {
    case Type::kInt8:
      return ElementFrom<int8_t>(layer, value);
    case Type::kUInt8:
      return ElementFrom<uint8_t>(layer, value);
    case Type::kInt16:
      return ElementFrom<int16_t>(layer, value);
    case Type::kUInt16:
      return ElementFrom<uint16_t>(layer, value);
    case Type::kInt32:
      return ElementFrom<int32_t>(layer, value);
    case Type::kInt64:
      return ElementFrom<int64_t>(layer, value);
    case Type::kFloat32:
      return ElementFrom<float>(layer, value);
    default:
      return ElementFrom<uint8_t>(layer, value);
  }
}

namespace {

ShapesResult InferPad(const LayerView& layer) {
  const Pad& op = layer.op<Pad>();
  Shape shape = layer.input(0).shape;
  if (op.paddings.size() != shape.size()) {
    return layer.Invalid("has paddings for " + std::to_string(op.paddings.size()) +
                         " dimensions; the input's shape is " + ToString(shape));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto [before, after] = op.paddings[i];
    const int64_t extent = int64_t{shape[i]} + before + after;
    if (before < 0 || after < 0 || extent > std::numeric_limits<int>::max()) {
      return layer.Invalid("cannot pad dimension " + std::to_string(i) + " of " + ToString(shape) +
                           " by " + std::to_string(before) + " and " + std::to_string(after));
    }
    shape[i] = static_cast<int>(extent);
  }
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PreparePad(const LayerView& layer, const LayerOptions&) {
  const Result<Element> fill = PaddingOf(layer);
  if (!fill.ok()) return fill.status();
  const Shape& in = layer.input(0).shape;
  const std::vector<ptrdiff_t> from = DenseStrides(in);
  const std::vector<ptrdiff_t> to = DenseStrides(layer.output().shape);
  Move move;
  for (size_t i = 0; i < in.size(); ++i) {
    move.loops.Add(in[i], {from[i], to[i]});
    move.to += layer.op<Pad>().paddings[i].first * to[i];
  }
  return PrepareMoves(layer, {move}, *fill);
}

}  // namespace

constinit const OperatorRow Pad::kRow = {
    .name = "PAD",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = kAnyType,
    .infer = InferPad,
    .candidates = Moves("copy", PreparePad),
    .remark = "PADV2's value is constant and quantized as the input"};

}  // namespace intaglio::nn
