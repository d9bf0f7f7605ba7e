// Requantization of int64 accumulators, those of int16 activations.
#ifndef INTAGLIO_FIXEDPOINT_REQUANTIZE_WIDE_H_
#define INTAGLIO_FIXEDPOINT_REQUANTIZE_WIDE_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "intaglio/fixedpoint/requantize.h"

namespace intaglio {

// floor((acc * m + 2^(s - 1)) / 2^s) with s = 15 - exponent and m the mantissa's upper 15 bits,
// min(floor((mantissa + 2^15) / 2^16), 2^15 - 1); saturated to int32. It is what TFLite's reference
// kernels compute for int16 activations and int64 accumulators.
// Requires -2^47 <= acc < 2^47 and an exponent in [-31, 16]. LimitedForWide limits the exponent.
INTAGLIO_INLINE constexpr int32_t RequantizeWide(int64_t acc, QuantizedMultiplier multiplier) {
  const int64_t mantissa =
      multiplier.mantissa < 0x7fff0000 ? (multiplier.mantissa + (1 << 15)) >> 16 : 0x7fff;
  // Twice the product fits, and then even the exponent 16 takes no shift to the left.
  const int shift = 16 - multiplier.exponent;
  const int64_t scaled = (2 * acc * mantissa + ((int64_t{1} << shift) >> 1)) >> shift;
  constexpr int64_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(scaled < kMin ? kMin : scaled > kMax ? kMax : scaled);
}

// Returns a multiplier that RequantizeWide takes. A multiplier of 2^16 or more becomes one of at
// least 2^15: both move every accumulator except 0 out of the range of int16.
constexpr QuantizedMultiplier LimitedForWide(QuantizedMultiplier multiplier) {
  return {multiplier.mantissa, std::min(multiplier.exponent, 16)};
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_REQUANTIZE_WIDE_H_
