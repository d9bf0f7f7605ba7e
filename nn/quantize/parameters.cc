#include "intaglio/nn/quantize/parameters.h"

#include <algorithm>
#include <cmath>

namespace intaglio::nn::quantize {
namespace {

float AsScale(double scale) {
  return std::max(kLeastScale, static_cast<float>(std::min(scale, 0x1p60)));
}

double Magnitude(const RealRange& range) { return std::max(-double{range.min}, double{range.max}); }

float WeightScale(const RealRange& range, const Levels& levels) {
  return AsScale(Magnitude(range) / HighestOf(levels));
}

}  // namespace

int32_t LowestOf(const Levels& levels) {
  const int32_t highest = HighestOf(levels);
  return levels.symmetric ? -highest : highest + 1 - (1 << levels.bits);
}

int32_t HighestOf(const Levels& levels) {
  if (levels.symmetric) return (1 << (levels.bits - 1)) - 1;
  if (levels.type == Type::kInt16) return INT16_MAX;
  if (levels.type == Type::kUInt16) return UINT16_MAX;
  return levels.type == Type::kUInt8 ? UINT8_MAX : INT8_MAX;
}

Parameters ChooseParameters(const RealRange& range, const Levels& levels) {
  const RealRange wide = WithZero(range);
  const double lowest = LowestOf(levels);
  const double highest = HighestOf(levels);
  if (levels.symmetric) {
    const double magnitude = Magnitude(wide);
    return {magnitude == 0 ? 1 : AsScale(magnitude / highest), 0};
  }
  if (wide == RealRange{}) return {1, static_cast<int32_t>(lowest)};
  const float scale = AsScale((double{wide.max} - double{wide.min}) / (highest - lowest));
  const double zero = std::round(lowest - double{wide.min} / double{scale});
  return {scale, static_cast<int32_t>(std::clamp(zero, lowest, highest))};
}

int32_t QuantizeNumber(float value, const Parameters& parameters, const Levels& levels) {
  const double q = std::round(double{value} / double{parameters.scale}) + parameters.zero_point;
  return static_cast<int32_t>(std::clamp<double>(q, LowestOf(levels), HighestOf(levels)));
}

std::vector<float> WeightScales(std::span<const RealRange> channels, int bits, bool per_channel) {
  const Levels levels = {Type::kInt8, bits, true};
  std::vector<float> scales;
  RealRange all;
  for (const RealRange& range : channels) {
    all = Union(all, range);
    if (per_channel) scales.push_back(WeightScale(range, levels));
  }
  if (!per_channel) scales.push_back(WeightScale(all, levels));
  return scales;
}

int64_t GreatestBias(Type bias_type) {
  return bias_type == Type::kInt64 ? int64_t{1} << 40 : int64_t{1} << 30;
}

size_t WidenForBias(std::span<const float> bias, float input_scale, Type bias_type,
                    std::vector<float>& scales) {
  size_t changed = 0;
  const auto most = static_cast<double>(GreatestBias(bias_type));
  for (size_t i = 0; i < bias.size(); ++i) {
    float& scale = scales[scales.size() > 1 ? i : 0];
    const double least = std::fabs(double{bias[i]}) / most / double{input_scale};
    if (double{scale} >= least) continue;
    // One step more than the nearest float32, which may lie below.
    scale = std::nextafter(AsScale(least), HUGE_VALF);
    ++changed;
  }
  return changed;
}

int64_t QuantizeBias(float bias, double scale, Type bias_type) {
  const auto most = static_cast<double>(GreatestBias(bias_type));
  return static_cast<int64_t>(std::clamp(std::round(double{bias} / scale), -most, most));
}

}  // namespace intaglio::nn::quantize
