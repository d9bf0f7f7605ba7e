// Requantization by a float64 multiplier, in integers.
#ifndef INTAGLIO_FIXEDPOINT_REQUANTIZE_REAL64_H_
#define INTAGLIO_FIXEDPOINT_REQUANTIZE_REAL64_H_

#include <bit>
#include <cstdint>
#include <limits>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

namespace internal {

// real = significand * 2^exponent, significand < 2^53.
struct Float64Parts {
  uint64_t significand;
  int exponent;
};

INTAGLIO_INLINE Float64Parts PartsOf(double real) {
  const auto bits = std::bit_cast<uint64_t>(real);
  const auto biased = static_cast<int>(bits >> 52) & 0x7ff;  // & drops the sign, which -0.0 has
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  return {biased == 0 ? fraction : fraction | (uint64_t{1} << 52),
          (biased == 0 ? 1 : biased) - 1075};
}

// (upper * 2^32 + lower) * 2^exponent, rounded to float64, ties to even; then to an integer, ties
// away from zero, and limited to 2^31. lower < 2^32.
// (Results too small to be a normal float64 are far below one half; where they are rounded does
// not matter.)
INTAGLIO_INLINE uint64_t RoundReal64(uint64_t upper, uint64_t lower, int exponent) {
  const int drop = static_cast<int>(std::bit_width(upper >> 21));  // at most 43
  uint64_t rounded = drop <= 32 ? (upper << (32 - drop)) | (lower >> drop) : upper >> (drop - 32);
  if (drop > 0) {
    const uint64_t rest = ((upper << 32) | lower) & ((uint64_t{1} << drop) - 1);
    const uint64_t half = uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  }
  exponent += drop;
  // rounded <= 2^53.
  constexpr uint64_t kLimit = uint64_t{1} << 31;
  uint64_t result = 0;
  if (exponent >= 0) {
    // Beyond 2^31 in any case where the significand was not shortened; else exact.
    result = exponent < 10 ? rounded << exponent : (rounded == 0 ? 0 : kLimit);
  } else if (exponent > -63) {
    result = (rounded + (uint64_t{1} << (-exponent - 1))) >> -exponent;
  }
  return result < kLimit ? result : kLimit;
}

// The number with this sign and a magnitude of at most 2^31, saturated.
INTAGLIO_INLINE int32_t WithSign(bool negative, uint64_t magnitude) {
  const auto low = static_cast<uint32_t>(magnitude);
  if (negative) return static_cast<int32_t>(0u - low);
  return static_cast<int32_t>(low <= 0x7fffffffu ? low : 0x7fffffffu);
}

}  // namespace internal

// round(float64(acc) * real), ties away from zero, saturated to int32; the product is rounded to
// float64, ties to even, as hardware does. It is what LiteRT's reference FULLY_CONNECTED computes.
// The multiplier is finite and not negative.
INTAGLIO_INLINE int32_t RequantizeReal64(int32_t acc, double real) {
  const internal::Float64Parts parts = internal::PartsOf(real);
  const uint32_t magnitude = acc < 0 ? 0u - static_cast<uint32_t>(acc) : static_cast<uint32_t>(acc);
  const uint64_t low = magnitude * (parts.significand & 0xffffffff);
  const uint64_t upper = magnitude * (parts.significand >> 32) + (low >> 32);
  return internal::WithSign(acc < 0,
                            internal::RoundReal64(upper, low & 0xffffffff, parts.exponent));
}

// The same for an accumulator in [-2^43, 2^43].
INTAGLIO_INLINE int32_t RequantizeReal64(int64_t acc, double real) {
  const internal::Float64Parts parts = internal::PartsOf(real);
  const uint64_t magnitude = acc < 0 ? 0u - static_cast<uint64_t>(acc) : static_cast<uint64_t>(acc);
  const uint64_t high = magnitude >> 32;
  const uint64_t rest = magnitude & 0xffffffff;
  const uint64_t low = rest * (parts.significand & 0xffffffff);
  const uint64_t upper = ((high * (parts.significand >> 32)) << 32) +
                         high * (parts.significand & 0xffffffff) +
                         rest * (parts.significand >> 32) + (low >> 32);
  return internal::WithSign(acc < 0,
                            internal::RoundReal64(upper, low & 0xffffffff, parts.exponent));
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_REQUANTIZE_REAL64_H_
