#include "intaglio/gemm/panel_params.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// Copies `count` numbers of one panel to the order of its lanes, which hold channels in runs of
// min(4, lanes); the rest is 0.
template <class T>
void ToLanes(const PanelFormat& format, int vectors, const T* channels, int count, T* lanes) {
  const int run = std::min(4, format.lanes);
  const int runs = format.lanes / run;
  T padded[kMaxPanelWidth];
  if (count < format.lanes * vectors) {
    std::fill(std::copy_n(channels, count, padded), padded + kMaxPanelWidth, T{0});
    channels = padded;
  }
  for (int v = 0; v < vectors; ++v) {
    for (int r = 0; r < runs; ++r, lanes += run) {
      const T* from = channels + (r * vectors + v) * run;
      if (run == 4) std::memcpy(lanes, from, 4 * sizeof(T));  // a size that the compiler knows
      if (run != 4) std::copy_n(from, run, lanes);
    }
  }
}

// sum (a - za)(b - zb) = sum ab - zb * sum a - za * sum b + depth * za * zb (Jacob et al., eq. 7):
// all but the product with the row's sum is known per channel.
void FillOffsets(const Panels& panels, const PanelExtent& extent, int32_t row_zero_point,
                 const int32_t* bias, PanelParams& params) {
  const auto first = static_cast<size_t>(extent.first_channel);
  const int32_t* sums = panels.sums.data() + first;
  const int32_t* zero_points = panels.zero_points.data() + first;
  int32_t offset[kMaxPanelWidth];
  int32_t negative[kMaxPanelWidth];
  for (int i = 0; i < extent.channels; ++i) {
    const auto depth_term = Scalar::Mul(zero_points[i], panels.depth);
    offset[i] = Scalar::Mul(row_zero_point, Scalar::Sub(depth_term, sums[i]));
    negative[i] = -zero_points[i];
  }
  if (bias != nullptr) {
    for (int i = 0; i < extent.channels; ++i) {
      offset[i] = Scalar::Add(offset[i], bias[extent.first_channel + i]);
    }
  }
  ToLanes(panels.format, extent.vectors, offset, extent.channels, params.offset);
  if (panels.has_zero_points) {
    ToLanes(panels.format, extent.vectors, negative, extent.channels, params.negative_zero_point);
  }
}

// At least the largest |accumulator| of a panel, bias included.
int64_t AccumulatorBound(const PanelExtent& extent, int64_t row_magnitude, const int32_t* bias) {
  int32_t bits = 0;  // of every |bias|, or |bias| - 1
  for (int i = 0; bias != nullptr && i < extent.channels; ++i) {
    const int32_t b = bias[extent.first_channel + i];
    bits |= b ^ (b >> 31);
  }
  return extent.magnitude * row_magnitude + bits + 1;
}

// Fills the multipliers and returns the cheapest form that is exact for all of them. The parameters
// of a pipeline are one value or one per channel.
class Multipliers {
 public:
  Multipliers(const StandardPipeline& pipeline, const Panels& panels, const PanelExtent& extent,
              int64_t bound, PanelParams& params)
      : s_(pipeline), panels_(panels), extent_(extent), bound_(bound), params_(params) {}

  ScalingForm Fill() const {
    switch (s_.scaling) {
      case Scaling::kDoubleRounding:
      case Scaling::kSingleRounding:
        return FillFixed();
      case Scaling::kFloatHalfEven:
        return FillFloat();
      case Scaling::kToFloat:
        FillFloat();
        return ScalingForm::kToFloat;
      case Scaling::kNone:
      case Scaling::kReal64:
        break;
    }
    return ScalingForm::kNone;
  }

 private:
  template <class T>
  void Copy(const T* values, T* lanes) const {
    ToLanes(panels_.format, extent_.vectors, values, extent_.channels, lanes);
  }
  template <class T>
  const T* Gather(const T* values, T* repeated) const {
    if (s_.per_channel) return values + extent_.first_channel;
    std::fill_n(repeated, extent_.channels, *values);
    return repeated;
  }

  ScalingForm FillFixed() const {
    const bool is_double = s_.scaling == Scaling::kDoubleRounding;
    int32_t repeated[kMaxPanelWidth];
    Copy(Gather(s_.mantissa, repeated), params_.mantissa);
    const int32_t* exponents = Gather(s_.exponent, repeated);
    int32_t highest = -31;
    int32_t shifts[kMaxPanelWidth];
    for (int i = 0; i < extent_.channels; ++i) {
      highest = std::max(highest, exponents[i]);
      shifts[i] = is_double ? std::max(-exponents[i], 0) : 31 - exponents[i];
    }
    Copy(shifts, params_.right_shift);
    // Multipliers are below 2^highest, and roundings add at most 1.
    params_.fits_int16 = highest <= 0 && bound_ >> -highest < INT16_MAX - 1;
    if (!is_double) {
      return highest < 0 ? ScalingForm::kSingleRoundingBounded : ScalingForm::kSingleRounding;
    }
    if (highest <= 0 && bound_ < (1 << 30)) return ScalingForm::kDoubleRoundingBounded;
    for (int i = 0; i < extent_.channels; ++i) shifts[i] = std::max(exponents[i], 0);
    Copy(shifts, params_.left_shift);
    return ScalingForm::kDoubleRounding;
  }

  ScalingForm FillFloat() const {
    float repeated[kMaxPanelWidth];
    const float* scales = Gather(s_.scale, repeated);
    Copy(scales, params_.scale);
    // Of numbers that are not negative the bits are in the same order.
    int32_t highest_bits = 0;
    for (int i = 0; i < extent_.channels; ++i) {
      highest_bits = std::max(highest_bits, std::bit_cast<int32_t>(scales[i]));
    }
    const auto highest = std::bit_cast<float>(highest_bits);
    // Two roundings to float32 lift a product by less than one part in 2^22.
    const double product = static_cast<double>(bound_) * static_cast<double>(highest);
    params_.fits_int16 = product < INT16_MAX - 1;
    return product < 2147483648.0 * (1 - std::ldexp(1.0, -22)) ? ScalingForm::kFloatHalfEvenBounded
                                                               : ScalingForm::kFloatHalfEven;
  }

  const StandardPipeline& s_;
  const Panels& panels_;
  const PanelExtent& extent_;
  int64_t bound_;
  PanelParams& params_;
};

}  // namespace

void FillPanelParams(const Panels& panels, const PanelExtent& extent, const RowFacts& rows,
                     const StandardPipeline* standard, PanelParams& params) {
  const int32_t* bias = standard == nullptr ? nullptr : standard->bias;
  FillOffsets(panels, extent, rows.zero_point, bias, params);
  params.form = ScalingForm::kNone;
  params.fits_int16 = false;
  if (standard == nullptr || standard->scaling == Scaling::kNone) return;
  const int64_t bound = AccumulatorBound(extent, rows.magnitude, bias);
  params.form = Multipliers(*standard, panels, extent, bound, params).Fill();
}

EpilogueParams MakeEpilogue(const StandardPipeline* standard) {
  if (standard == nullptr) {
    return {Type::kInt32, 0, std::numeric_limits<int32_t>::min(),
            std::numeric_limits<int32_t>::max()};
  }
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
