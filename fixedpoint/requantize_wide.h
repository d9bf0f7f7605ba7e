// Requantization of int64 accumulators, those of int16 activations.
#ifndef INTAGLIO_FIXEDPOINT_REQUANTIZE_WIDE_H_
#define INTAGLIO_FIXEDPOINT_REQUANTIZE_WIDE_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "intaglio/fixedpoint/requantize.h"

namespace intaglio {

// factor / 2^shift.
struct WideMultiplier {
  int32_t factor = 0;  // [0, 2^15)
  int32_t shift = 0;   // [0, 47]
};

// The multiplier that TFLite's reference kernels take for int16 activations and int64 accumulators:
// min(floor((mantissa + 2^15) / 2^16), 2^15 - 1) / 2^(15 - exponent), both terms doubled. The
// exponent is at least -31. A multiplier of 2^16 or more becomes one of at least 2^15: both move
// every accumulator except 0 out of the range of int16.
constexpr WideMultiplier MakeWideMultiplier(QuantizedMultiplier multiplier) {
  const int32_t factor =
      multiplier.mantissa < 0x7fff0000 ? (multiplier.mantissa + (1 << 15)) >> 16 : 0x7fff;
  return {factor, 16 - std::min(multiplier.exponent, 16)};
}

// floor(2 acc factor / 2^shift + 1/2). Twice the product fits, and then no multiplier takes a shift
// to the left. Requires -2^47 <= acc < 2^47.
INTAGLIO_INLINE constexpr int64_t ScaleWide(int64_t acc, WideMultiplier multiplier) {
  const int64_t half = (int64_t{1} << multiplier.shift) >> 1;
  return (2 * acc * multiplier.factor + half) >> multiplier.shift;
}

// The same, saturated to int32.
INTAGLIO_INLINE constexpr int32_t RequantizeWide(int64_t acc, WideMultiplier multiplier) {
  constexpr int64_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(std::clamp(ScaleWide(acc, multiplier), kMin, kMax));
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_REQUANTIZE_WIDE_H_
