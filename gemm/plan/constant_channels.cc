#include "intaglio/gemm/plan/constant_channels.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <optional>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/fixedpoint/requantize.h"

namespace intaglio {
namespace {

constexpr int64_t kBound = 1 << 30;  // of the accumulators of bounded forms

// The result of one channel for all accumulators within `reach` of `bias`, before the zero point,
// where it is one. It rises with the accumulator: the two ends say it.
std::optional<int32_t> ConstantResult(const StandardPipeline& pipeline,
                                      const QuantizedMultiplier& multiplier, int32_t bias,
                                      int64_t reach) {
  const EpilogueParams epilogue = MakeEpilogue(&pipeline);
  const auto result = [&](int64_t accumulator) {
    const int64_t scaled =
        RequantizeDoubleRounding<Scalar>(static_cast<int32_t>(accumulator), multiplier.mantissa,
                                         multiplier.left_shift(), multiplier.right_shift());
    return std::clamp<int64_t>(scaled + epilogue.zero_point, epilogue.clamp_min,
                               epilogue.clamp_max) -
           epilogue.zero_point;
  };
  const int64_t least = bias - reach;
  const int64_t most = bias + reach;
  if (least < std::numeric_limits<int32_t>::min() || most > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  const int64_t of_least = result(least);
  if (of_least != result(most) || std::abs(of_least) >= kBound) return std::nullopt;
  return static_cast<int32_t>(of_least);
}

// The power of two that divides `result` times it plus anything within `reach` to `result`: neither
// of the two roundings comes near a half.
int ShiftOver(int64_t reach) {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(reach))) + 2;
}

}  // namespace

WithSmallBiases::WithSmallBiases(const Panels& panels, const RowFacts& rows,
                                 const StandardPipeline& pipeline)
    : pipeline_(pipeline) {
  if (pipeline.scaling != Scaling::kDoubleRounding || pipeline.bias == nullptr) return;
  for (const PanelRange& panel : panels.ranges) {
    const int64_t reach = panel.magnitude * rows.magnitude;
    for (int c = panel.first_channel; c < panel.first_channel + panel.channels; ++c) {
      const int32_t bias = pipeline.bias[c];
      if (std::abs(int64_t{bias}) + reach < kBound) continue;
      const int at = pipeline.per_channel ? c : 0;
      const QuantizedMultiplier multiplier{pipeline.mantissa[at], pipeline.exponent[at]};
      const auto result = ConstantResult(pipeline, multiplier, bias, reach);
      const int shift = ShiftOver(reach);
      if (!result || shift > 30) continue;
      if ((int64_t{std::abs(*result)} << shift) + reach >= kBound) continue;
      if (bias_.empty()) CopyChannels(panels.channels);
      const auto channel = static_cast<size_t>(c);
      bias_[channel] = *result * (1 << shift);
      mantissa_[channel] = 1 << 30;  // a half
      exponent_[channel] = 1 - shift;
    }
  }
}

void WithSmallBiases::CopyChannels(int channels) {
  const auto count = static_cast<size_t>(channels);
  const auto all = [&](const int32_t* values) {
    if (pipeline_.per_channel) return std::vector<int32_t>(values, values + count);
    return std::vector<int32_t>(count, *values);
  };
  bias_.assign(pipeline_.bias, pipeline_.bias + count);
  mantissa_ = all(pipeline_.mantissa);
  exponent_ = all(pipeline_.exponent);
  pipeline_.bias = bias_.data();
  pipeline_.mantissa = mantissa_.data();
  pipeline_.exponent = exponent_.data();
  pipeline_.per_channel = true;
}

}  // namespace intaglio
