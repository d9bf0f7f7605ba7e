#include "intaglio/nn/formats/onnx/quantization.h"

#include <cmath>
#include <utility>
#include <vector>

namespace intaglio::nn::onnx {
namespace {

std::vector<int32_t> ZeroPoints(Translation& t, TensorId zero_point, size_t count) {
  if (zero_point == kNoTensor) return std::vector<int32_t>(count, 0);
  std::vector<int32_t> values;
  for (const int64_t value : t.make.Ints(zero_point, "the zero point")) {
    if (!std::in_range<int32_t>(value)) t.Invalid("a zero point does not fit 32 bits");
    values.push_back(static_cast<int32_t>(value));
  }
  if (values.size() == 1) values.assign(count, values[0]);
  return values;
}

}  // namespace

Numerics HalfEven() {
  Numerics numerics;
  numerics.scaling = Scaling::kFloatHalfEven;
  numerics.float32_scales = true;
  return numerics;
}

Quantization QuantizationOf(Translation& t, TensorId scale, TensorId zero_point, int axis) {
  Quantization quantization;
  quantization.scales = t.make.Floats(scale, "the scale");
  for (const float value : quantization.scales) {
    if (!std::isfinite(value) || value < 0) t.Invalid("a scale is " + std::to_string(value));
  }
  quantization.zero_points = ZeroPoints(t, zero_point, quantization.scales.size());
  if (quantization.zero_points.size() != quantization.scales.size()) {
    // One scale for several zero points.
    if (quantization.scales.size() == 1) {
      quantization.scales.assign(quantization.zero_points.size(), quantization.scales[0]);
    } else {
      t.Invalid("has unequal numbers of scales and zero points");
    }
  }
  quantization.axis = quantization.per_axis() ? axis : 0;
  return quantization;
}

Quantization ZeroPointsOf(Translation& t, TensorId zero_point, int axis) {
  return QuantizationOf(t, t.make.Scalar(1.0f), zero_point, axis);
}

TensorId QuantizedInput(Translation& t, size_t i) {
  const Quantization quantization = QuantizationOf(t, t.in(i + 1), t.optional(i + 2));
  if (quantization.per_axis()) t.Refuse("input " + std::to_string(i) + " has several scales");
  return t.make.Requantized(t.in(i), quantization);
}

Weights QuantizedWeights(Translation& t, size_t i) {
  return {t.make.Unquantized(t.in(i)), QuantizationOf(t, t.in(i + 1), t.optional(i + 2))};
}

Sums QuantizedOutput(Translation& t, size_t i, Type otherwise) {
  const Type type = t.has(i + 1) ? t.input(i + 1).type : otherwise;
  return {type, QuantizationOf(t, t.in(i), t.optional(i + 1)), HalfEven()};
}

}  // namespace intaglio::nn::onnx
