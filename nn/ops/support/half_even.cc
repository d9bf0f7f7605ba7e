#include "intaglio/nn/ops/support/half_even.h"

#include <algorithm>
#include <cmath>

namespace intaglio::nn {
namespace {

bool IsHalfEven(const LayerView& layer) {
  return layer.numerics().scaling == Scaling::kFloatHalfEven;
}

}  // namespace

int32_t QuantizeHalfEven(const HalfEvenQuantizer& q, float x) {
  const float low = static_cast<float>(q.clamp.min - q.zero_point);
  const float high = static_cast<float>(q.clamp.max - q.zero_point);
  float v = x / q.scale;
  v = v > low ? v : low;
  v = v < high ? v : high;
  return static_cast<int32_t>(std::nearbyint(v)) + q.zero_point;
}

const char* NeedsHalfEven(const LayerView& layer, const LayerOptions&) {
  return IsHalfEven(layer) ? nullptr : "the layer does not round half to even";
}

const char* RefusesHalfEven(const LayerView& layer, const LayerOptions&) {
  return IsHalfEven(layer) ? "the layer rounds half to even" : nullptr;
}

Result<HalfEvenQuantizer> OutputQuantizer(const LayerView& layer) {
  const Result<Affine> to = AffineOfAny(layer, layer.output());
  if (!to.ok()) return to.status();
  if (!(to->scale > 0)) return layer.Invalid("the output's scale is 0");
  const Numerics numerics = layer.numerics();
  Range clamp = RangeOf(layer.output().type);
  clamp.min = std::max(clamp.min, numerics.clamp_min);
  clamp.max = std::min(clamp.max, numerics.clamp_max);
  if (clamp.min > clamp.max) return layer.Invalid("the output has no number within its bounds");
  return HalfEvenQuantizer{to->scale, to->zero_point, clamp};
}

}  // namespace intaglio::nn
