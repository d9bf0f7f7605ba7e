#include "intaglio/pipeline/standard.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/fixedpoint/requantize_real64.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio {
namespace {

int32_t Scaled(const StandardPipeline& p, int32_t acc, int channel) {
  const int at = p.per_channel ? channel : 0;
  switch (p.scaling) {
    case Scaling::kNone:
    case Scaling::kToFloat:
      return acc;
    case Scaling::kDoubleRounding:
      return RequantizeScalar(RequantMode::kDoubleRounding, acc, {p.mantissa[at], p.exponent[at]},
                              0);
    case Scaling::kSingleRounding:
      return RequantizeScalar(RequantMode::kSingleRounding, acc, {p.mantissa[at], p.exponent[at]},
                              0);
    case Scaling::kFloatHalfEven:
      return RequantizeScalar(RequantMode::kFloatHalfEven, acc, {}, p.scale[at]);
    case Scaling::kReal64:
      return RequantizeReal64(acc, p.real[at]);
  }
  return acc;
}

template <class Out>
void RunAs(const StandardPipeline& p, const AccumulatorTile& tile) {
  constexpr int64_t kMin = std::numeric_limits<Out>::min();
  constexpr int64_t kMax = std::numeric_limits<Out>::max();
  const int64_t low = std::clamp<int64_t>(p.clamp_min, kMin, kMax);
  const int64_t high = std::clamp<int64_t>(p.clamp_max, kMin, kMax);
  for (int l = 0; l < tile.lines; ++l) {
    auto* dst = static_cast<Out*>(tile.dst) + l * tile.line_stride;
    for (int i = 0; i < tile.length; ++i, dst += tile.element_stride) {
      const int channel = p.axis == tile.along ? tile.first_element + i : tile.first_line + l;
      const int32_t acc =
          Scalar::Add(tile.acc[l * tile.acc_stride + i], p.bias == nullptr ? 0 : p.bias[channel]);
      const int64_t moved = int64_t{Scaled(p, acc, channel)} + p.zero_point;
      *dst = static_cast<Out>(std::min(std::max(moved, low), high));
    }
  }
}

void RunAsFloat(const StandardPipeline& p, const AccumulatorTile& tile) {
  for (int l = 0; l < tile.lines; ++l) {
    auto* dst = static_cast<float*>(tile.dst) + l * tile.line_stride;
    for (int i = 0; i < tile.length; ++i, dst += tile.element_stride) {
      const int channel = p.axis == tile.along ? tile.first_element + i : tile.first_line + l;
      const int32_t acc =
          Scalar::Add(tile.acc[l * tile.acc_stride + i], p.bias == nullptr ? 0 : p.bias[channel]);
      *dst = static_cast<float>(acc) * p.scale[p.per_channel ? channel : 0];
    }
  }
}

void RunStandard(const void* pipeline, const AccumulatorTile& tile) {
  const auto& p = *static_cast<const StandardPipeline*>(pipeline);
  switch (p.output) {
    case Type::kInt8:
      return RunAs<int8_t>(p, tile);
    case Type::kUInt8:
      return RunAs<uint8_t>(p, tile);
    case Type::kInt16:
      return RunAs<int16_t>(p, tile);
    case Type::kFloat32:
      return RunAsFloat(p, tile);
    default:
      return RunAs<int32_t>(p, tile);
  }
}

std::string At(int channel) { return " of channel " + std::to_string(channel); }

constexpr bool IsMantissa(int32_t mantissa) { return mantissa == 0 || mantissa >= 1 << 30; }
constexpr bool IsExponent(int32_t exponent) { return exponent >= -31 && exponent <= 30; }
// Not negative and finite. Compares bits, whose order is that of such numbers: a product with
// integer scalings has no floating-point instruction.
template <class Real>
bool IsScale(Real scale) {
  using Bits = std::conditional_t<sizeof(Real) == 8, uint64_t, uint32_t>;
  constexpr auto kMax = std::bit_cast<Bits>(std::numeric_limits<Real>::max());
  constexpr auto kMinusZero = std::bit_cast<Bits>(Real{-0.0});
  const auto bits = std::bit_cast<Bits>(scale);
  return bits <= kMax || bits == kMinusZero;
}

// The index of the first value that `is_good` refuses, or -1. Looks for it only where there is one:
// a loop without an exit is one that compilers vectorize.
template <class T, class Good>
int FirstBad(const T* values, int count, const Good& is_good) {
  bool good = true;
  for (int i = 0; i < count; ++i) good &= is_good(values[i]);
  if (good) return -1;
  int i = 0;
  while (is_good(values[i])) ++i;
  return i;
}

template <class Real>
Status ValidateScales(const Real* scales, int count) {
  if (scales == nullptr) return InvalidArgument("pipeline: null scales");
  const int bad = FirstBad(scales, count, IsScale<Real>);
  if (bad < 0) return {};
  return InvalidArgument("scale " + std::to_string(scales[bad]) + At(bad) +
                         " is negative or not a finite number");
}

Status ValidateMultipliers(const StandardPipeline& p, int count) {
  if (p.mantissa == nullptr || p.exponent == nullptr) {
    return InvalidArgument("pipeline: null multipliers");
  }
  if (const int bad = FirstBad(p.mantissa, count, IsMantissa); bad >= 0) {
    return InvalidArgument("multiplier mantissa " + std::to_string(p.mantissa[bad]) + At(bad) +
                           " is neither 0 nor in [2^30, 2^31)");
  }
  if (const int bad = FirstBad(p.exponent, count, IsExponent); bad >= 0) {
    return InvalidArgument("multiplier exponent " + std::to_string(p.exponent[bad]) + At(bad) +
                           " is outside [-31, 30]");
  }
  return {};
}

Status ValidateScaling(const StandardPipeline& p, int count) {
  switch (p.scaling) {
    case Scaling::kNone:
      return {};
    case Scaling::kDoubleRounding:
    case Scaling::kSingleRounding:
      return ValidateMultipliers(p, count);
    case Scaling::kReal64:
      return ValidateScales(p.real, count);
    case Scaling::kFloatHalfEven:
    case Scaling::kToFloat:
      return ValidateScales(p.scale, count);
  }
  return {};
}

}  // namespace

TilePipeline AsTilePipeline(const StandardPipeline& pipeline) {
  return {&pipeline, &RunStandard, pipeline.output};
}

Status Validate(const StandardPipeline& p, int rows, int cols) {
  const bool to_float = p.output == Type::kFloat32;
  switch (p.output) {
    case Type::kInt8:
    case Type::kUInt8:
    case Type::kInt16:
    case Type::kInt32:
    case Type::kFloat32:
      break;
    default:
      return Unsupported(std::string("pipeline: output type ") + NameOf(p.output));
  }
  if (to_float != (p.scaling == Scaling::kToFloat)) {
    return InvalidArgument(std::string("pipeline: ") + NameOf(p.output) + " output of " +
                           (to_float ? "a scaling to integers" : "a scaling to float32"));
  }
  if (p.clamp_min > p.clamp_max) {
    return InvalidArgument("pipeline: clamp to [" + std::to_string(p.clamp_min) + ", " +
                           std::to_string(p.clamp_max) + "]");
  }
  const int64_t magnitude = std::abs(int64_t{p.zero_point});
  if (magnitude > 255 && (p.output == Type::kInt8 || p.output == Type::kUInt8)) {
    return InvalidArgument("pipeline: zero point " + std::to_string(p.zero_point) + " for " +
                           NameOf(p.output));
  }
  const int channels = p.axis == Axis::kRows ? rows : cols;
  if (p.per_channel && channels == 0) return {};
  return ValidateScaling(p, p.per_channel ? channels : 1);
}

}  // namespace intaglio
