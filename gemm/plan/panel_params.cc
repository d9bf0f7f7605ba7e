#include "intaglio/gemm/plan/panel_params.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// Copies the numbers of a panel's channels, of four bytes each, to the order of its lanes, which
// hold channels in runs of min(4, lanes). The rest is 0.
void ToLanes(const PanelFormat& format, const PanelRange& panel, const void* channels,
             void* lanes) {
  constexpr size_t kNumber = 4;
  const int run = std::min(4, format.lanes);
  const int runs = format.lanes / run;
  const size_t bytes = kNumber * static_cast<size_t>(run);
  std::byte padded[kNumber * kMaxPanelWidth];
  if (panel.channels < format.lanes * panel.vectors) {
    const size_t present = kNumber * static_cast<size_t>(panel.channels);
    std::memcpy(padded, channels, present);
    std::memset(padded + present, 0, sizeof padded - present);
    channels = padded;
  }
  const auto* from = static_cast<const std::byte*>(channels);
  auto* to = static_cast<std::byte*>(lanes);
  for (int v = 0; v < panel.vectors; ++v) {
    for (int r = 0; r < runs; ++r, to += bytes) {
      const std::byte* at = from + static_cast<size_t>(r * panel.vectors + v) * bytes;
      if (run == 4) std::memcpy(to, at, 4 * kNumber);  // a size that the compiler knows
      if (run != 4) std::memcpy(to, at, bytes);
    }
  }
}

// The numbers of a panel's channels, of which a pipeline has one for all or one per channel.
template <class T>
const T* OfChannels(bool per_channel, const T* values, const PanelRange& panel, T* repeated) {
  if (per_channel) return values + panel.first_channel;
  std::fill_n(repeated, panel.channels, *values);
  return repeated;
}

// sum (a - za)(b - zb) = sum ab - zb * sum a - za * sum b + depth * za * zb (Jacob et al., eq. 7):
// all but the product with the row's sum is known per channel.
void FillOffsets(const Panels& panels, const PanelRange& panel, int32_t row_zero_point,
                 const int32_t* bias, PanelParams& params) {
  const auto first = static_cast<size_t>(panel.first_channel);
  const int32_t* sums = panels.sums.data() + first;
  const int32_t* zero_points = panels.zero_points.data() + first;
  int32_t offset[kMaxPanelWidth];
  int32_t negative[kMaxPanelWidth];
  for (int i = 0; i < panel.channels; ++i) {
    const auto depth_term = Scalar::Mul(zero_points[i], panels.depth);
    offset[i] = Scalar::Mul(row_zero_point, Scalar::Sub(depth_term, sums[i]));
    negative[i] = -zero_points[i];
  }
  if (bias != nullptr) {
    for (int i = 0; i < panel.channels; ++i) {
      offset[i] = Scalar::Add(offset[i], bias[panel.first_channel + i]);
    }
  }
  ToLanes(panels.format, panel, offset, params.offset);
  if (panels.has_zero_points) {
    ToLanes(panels.format, panel, negative, params.negative_zero_point);
  }
}

// At least the largest |accumulator| of a panel, bias included.
int64_t AccumulatorBound(const PanelRange& panel, int64_t row_magnitude, const int32_t* bias) {
  int32_t bits = 0;  // of every |bias|, or |bias| - 1
  for (int i = 0; bias != nullptr && i < panel.channels; ++i) {
    const int32_t b = bias[panel.first_channel + i];
    bits |= b ^ (b >> 31);
  }
  return panel.magnitude * row_magnitude + bits + 1;
}

// Fills the multipliers of the fixed-point modes, and returns the cheapest form that is exact for
// accumulators of at most `bound`.
ScalingForm FillMultipliers(const StandardPipeline& s, const PanelFormat& format,
                            const PanelRange& panel, int64_t bound, PanelParams& params) {
  const bool is_double = s.scaling == Scaling::kDoubleRounding;
  int32_t repeated[kMaxPanelWidth];
  ToLanes(format, panel, OfChannels(s.per_channel, s.mantissa, panel, repeated), params.mantissa);
  const int32_t* exponents = OfChannels(s.per_channel, s.exponent, panel, repeated);
  int32_t highest = -31;
  int32_t shifts[kMaxPanelWidth];
  for (int i = 0; i < panel.channels; ++i) {
    highest = std::max(highest, exponents[i]);
    shifts[i] = is_double ? std::max(-exponents[i], 0) : 31 - exponents[i];
  }
  ToLanes(format, panel, shifts, params.right_shift);
  // Multipliers are below 2^highest, and roundings add at most 1.
  params.fits_int16 = highest <= 0 && bound >> -highest < INT16_MAX - 1;
  if (!is_double) {
    return highest < 0 ? ScalingForm::kSingleRoundingBounded : ScalingForm::kSingleRounding;
  }
  if (highest <= 0 && bound < (1 << 30)) return ScalingForm::kDoubleRoundingBounded;
  for (int i = 0; i < panel.channels; ++i) shifts[i] = std::max(exponents[i], 0);
  ToLanes(format, panel, shifts, params.left_shift);
  return ScalingForm::kDoubleRounding;
}

// Fills the scales, and returns the cheapest form of rounding half to even that is exact for
// accumulators of at most `bound`.
ScalingForm FillScales(const StandardPipeline& pipeline, const PanelFormat& format,
                       const PanelRange& panel, int64_t bound, PanelParams& params) {
  float repeated[kMaxPanelWidth];
  const float* scales = OfChannels(pipeline.per_channel, pipeline.scale, panel, repeated);
  ToLanes(format, panel, scales, params.scale);
  // The bits of numbers that are not negative are in the same order as the numbers.
  int32_t highest_bits = 0;
  for (int i = 0; i < panel.channels; ++i) {
    highest_bits = std::max(highest_bits, std::bit_cast<int32_t>(scales[i]));
  }
  const auto highest = std::bit_cast<float>(highest_bits);
  // Two roundings to float32 lift a product by less than one part in 2^22.
  const double product = static_cast<double>(bound) * static_cast<double>(highest);
  params.fits_int16 = product < INT16_MAX - 1;
  return product < 2147483648.0 * (1 - std::ldexp(1.0, -22)) ? ScalingForm::kFloatHalfEvenBounded
                                                             : ScalingForm::kFloatHalfEven;
}

ScalingForm FillScaling(const StandardPipeline& s, const PanelFormat& format,
                        const PanelRange& panel, int64_t bound, PanelParams& params) {
  switch (s.scaling) {
    case Scaling::kDoubleRounding:
    case Scaling::kSingleRounding:
      return FillMultipliers(s, format, panel, bound, params);
    case Scaling::kFloatHalfEven:
      return FillScales(s, format, panel, bound, params);
    case Scaling::kToFloat:
      FillScales(s, format, panel, bound, params);
      return ScalingForm::kToFloat;
    case Scaling::kNone:
    case Scaling::kReal64:
      break;
  }
  return ScalingForm::kNone;
}

}  // namespace

void FillPanelParams(const Panels& panels, const PanelRange& panel, const RowFacts& rows,
                     const StandardPipeline* standard, PanelParams& params) {
  const int32_t* bias = standard == nullptr ? nullptr : standard->bias;
  FillOffsets(panels, panel, rows.zero_point, bias, params);
  params.form = ScalingForm::kNone;
  params.fits_int16 = false;
  if (standard == nullptr || standard->scaling == Scaling::kNone) return;
  const int64_t bound = AccumulatorBound(panel, rows.magnitude, bias);
  params.form = FillScaling(*standard, panels.format, panel, bound, params);
  std::fill_n(params.vector_form, panel.vectors, params.form);
}

void FillAllParams(const Panels& panels, const RowFacts& rows, const StandardPipeline* standard,
                   PanelForm* first) {
  const int width = panels.format.width();
  const size_t each = ParamsBytes(width);
  for (size_t e = 0; e < panels.ranges.size(); ++e) {
    MakeParams(width, ParamsAt(first, e, each), [&](PanelParams& params) {
      FillPanelParams(panels, panels.ranges[e], rows, standard, params);
    });
  }
}

bool RunsInRegisters(const StandardPipeline& s, Axis channels_along) {
  const bool per_channel = s.bias != nullptr || s.per_channel;
  return s.scaling != Scaling::kReal64 && (!per_channel || s.axis == channels_along);
}

EpilogueParams MakeEpilogue(const StandardPipeline* standard) {
  if (standard == nullptr) return {};
  const StandardPipeline& s = *standard;
  int32_t low = s.clamp_min;
  int32_t high = s.clamp_max;
  if (s.output == Type::kInt8 || s.output == Type::kUInt8) {
    low = std::clamp(low, LowestOf(s.output), HighestOf(s.output));
    high = std::clamp(high, LowestOf(s.output), HighestOf(s.output));
  } else if (s.output == Type::kInt16) {
    low = std::clamp(low, -32768, 32767);
    high = std::clamp(high, -32768, 32767);
  }
  return {s.output, s.zero_point, low, high};
}

}  // namespace intaglio
