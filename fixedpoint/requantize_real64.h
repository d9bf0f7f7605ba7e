// Requantization by a float64 multiplier, in integers.
#ifndef INTAGLIO_FIXEDPOINT_REQUANTIZE_REAL64_H_
#define INTAGLIO_FIXEDPOINT_REQUANTIZE_REAL64_H_

#include <bit>
#include <cstdint>
#include <limits>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// round(float64(acc) * real), ties away from zero, saturated to int32; the product is rounded to
// float64, ties to even, as hardware does. It is what LiteRT's reference FULLY_CONNECTED computes.
// The multiplier is finite and not negative.
INTAGLIO_INLINE int32_t RequantizeReal64(int32_t acc, double real) {
  // real = significand * 2^exponent, significand < 2^53.
  const auto bits = std::bit_cast<uint64_t>(real);
  const auto biased = static_cast<int>(bits >> 52);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const uint64_t significand = biased == 0 ? fraction : fraction | (uint64_t{1} << 52);
  int exponent = (biased == 0 ? 1 : biased) - 1075;

  // The product, below 2^84, is upper * 2^32 + lower; rounded to 53 bits. (Results too small to be
  // a normal float64 are far below one half; where they are rounded does not matter.)
  const uint32_t magnitude = acc < 0 ? 0u - static_cast<uint32_t>(acc) : static_cast<uint32_t>(acc);
  const uint64_t low = magnitude * (significand & 0xffffffff);
  const uint64_t upper = magnitude * (significand >> 32) + (low >> 32);
  const uint64_t lower = low & 0xffffffff;
  const int drop = static_cast<int>(std::bit_width(upper >> 21));  // at most 31
  uint64_t rounded = (upper << (32 - drop)) | (lower >> drop);
  if (drop > 0) {
    const uint64_t rest = lower & ((uint64_t{1} << drop) - 1);
    const uint64_t half = uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  }
  exponent += drop;

  // To an integer, ties away from zero. rounded <= 2^53.
  constexpr uint64_t kMax = std::numeric_limits<int32_t>::max();
  uint64_t result = 0;
  if (exponent >= 0) {
    // Beyond 2^31 in any case where the significand was not shortened; else exact.
    result = exponent < 10 ? rounded << exponent : (rounded == 0 ? 0 : kMax + 1);
  } else if (exponent > -63) {
    result = (rounded + (uint64_t{1} << (-exponent - 1))) >> -exponent;
  }
  if (acc < 0) {
    return result > kMax ? std::numeric_limits<int32_t>::min()
                         : -static_cast<int32_t>(static_cast<uint32_t>(result));
  }
  return static_cast<int32_t>(result > kMax ? kMax : result);
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_REQUANTIZE_REAL64_H_
