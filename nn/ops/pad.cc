// PAD and PADV2.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "intaglio/nn/ops/moves.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

// The bytes of a number, which must be one of the type.
template <class T>
Result<Element> ElementFrom(const LayerView& layer, double value) {
  // Bounds that are exact as doubles; NaN is legal for floats only.
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::lowest());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
  const bool fits = std::is_floating_point_v<T> || (value >= kLow && value <= kHigh &&
                                                    value == std::floor(value) && value < 0x1p62);
  if (!fits) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.17g", value);
    return layer.Invalid(std::string("the padding value ") + text + " is no " +
                         NameOf(layer.output().type));
  }
  const T number = static_cast<T>(value);
  Element element;
  std::memcpy(element.bytes, &number, sizeof(number));
  return element;
}

}  // namespace

Result<Element> PaddingOf(const LayerView& layer) {
  const Pad& op = layer.op<Pad>();
  if (!op.has_value) return ZeroOf(layer);
  const double value = op.value;
  switch (layer.output().type) {
    case Type::kInt8:
      return ElementFrom<int8_t>(layer, value);
    case Type::kUInt8:
      return ElementFrom<uint8_t>(layer, value);
    case Type::kInt16:
      return ElementFrom<int16_t>(layer, value);
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

}  // namespace intaglio::nn
