#include "intaglio/nn/ops/support/quantization.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "intaglio/fixedpoint/quantize_multiplier.h"
#include "intaglio/nn/graph/type_set.h"

namespace intaglio::nn {

namespace {

constexpr TypeSet kComputed =
    SetOf(Type::kInt8) | SetOf(Type::kUInt8) | SetOf(Type::kInt16) | SetOf(Type::kInt32);

Result<Affine> AffineWithin(TypeSet types, const LayerView& layer, const Tensor& tensor) {
  const std::string name = "tensor '" + tensor.name + "'";
  const Quantization& q = tensor.quantization;
  if ((types & SetOf(tensor.type)) == 0) {
    return layer.Unsupported(name + " is " + NameOf(tensor.type) + "; a quantized type is needed");
  }
  if (q.scales.empty()) return layer.Invalid(name + " has no quantization");
  if (q.per_axis()) {
    return layer.Unsupported(name + " is quantized per axis with " +
                             std::to_string(q.scales.size()) + " scales; one is supported");
  }
  const Range range = RangeOf(tensor.type);
  if (!(q.scales[0] >= 0)) {
    return layer.Invalid(name + " has the scale " + std::to_string(q.scales[0]));
  }
  if (q.zero_points[0] < range.min || q.zero_points[0] > range.max) {
    return layer.Invalid(name + " has the zero point " + std::to_string(q.zero_points[0]) +
                         ", which " + NameOf(tensor.type) + " cannot hold");
  }
  return Affine{q.scales[0], q.zero_points[0]};
}

}  // namespace

Result<Affine> AffineOf(const LayerView& layer, const Tensor& tensor) {
  return AffineWithin(kComputed, layer, tensor);
}

Result<Affine> AffineOfAny(const LayerView& layer, const Tensor& tensor) {
  return AffineWithin(kComputed | SetOf(Type::kUInt16), layer, tensor);
}

Result<InOut> SameTypeInOut(const LayerView& layer) {
  if (layer.input(0).type != layer.output().type) {
    return layer.Unsupported(std::string("the input is ") + NameOf(layer.input(0).type) +
                             ", but the output '" + layer.output().name + "' is " +
                             NameOf(layer.output().type));
  }
  const Result<Affine> input = AffineOf(layer, layer.input(0));
  if (!input.ok()) return input.status();
  const Result<Affine> output = AffineOf(layer, layer.output());
  if (!output.ok()) return output.status();
  return InOut{*input, *output};
}

Result<QuantizedMultiplier> MakeMultiplier(const LayerView& layer, double real) {
  if (!std::isfinite(real)) return QuantizedMultiplier{};
  const Result<QuantizedMultiplier> multiplier = QuantizeMultiplier(real);
  if (!multiplier.ok()) return layer.Wrap(multiplier.status());
  return *multiplier;
}

namespace {

// round(value / scale) in float32, or an error where it is no int32.
Result<int32_t> Quantized(const LayerView& layer, float value, float scale) {
  const float q = std::round(value / scale);
  if (!(std::fabs(q) < 2147483648.0f)) {
    return layer.Invalid("the output's scale " + std::to_string(scale) +
                         " is too small for its activation");
  }
  return static_cast<int32_t>(q);
}

}  // namespace

Result<Range> ActivationRange(const LayerView& layer, Activation activation, Type type,
                              const Affine& output) {
  const Range all = RangeOf(type);
  if (activation == Activation::kNone) return all;
  const Result<int32_t> low =
      Quantized(layer, activation == Activation::kReluN1To1 ? -1.0f : 0.0f, output.scale);
  const Result<int32_t> high =
      Quantized(layer, activation == Activation::kRelu6 ? 6.0f : 1.0f, output.scale);
  if (!low.ok()) return low.status();
  if (activation == Activation::kRelu) {
    return Range{AddAndClamp(*low, output.zero_point, all), all.max};
  }
  if (!high.ok()) return high.status();
  return Range{AddAndClamp(*low, output.zero_point, all),
               AddAndClamp(*high, output.zero_point, all)};
}

std::optional<int> Log2OfScale(float scale) {
  const float exponent = std::log(scale) * (1.0f / std::log(2.0f));
  const float rounded = std::round(exponent);
  if (!(std::fabs(exponent - rounded) < 1e-3f)) return {};
  return static_cast<int>(rounded);
}

}  // namespace intaglio::nn
