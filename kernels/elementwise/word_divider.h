// Division of 16-bit numbers by a constant.
#ifndef INTAGLIO_KERNELS_ELEMENTWISE_WORD_DIVIDER_H_
#define INTAGLIO_KERNELS_ELEMENTWISE_WORD_DIVIDER_H_

#include <bit>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// floor(x / divisor) = (x + addend) * factor >> 16 >> shift for x below 256 * divisor, and below
// 2^16 - 1, and a divisor in [2, 2^15].
//
// With n = 16 + shift, 2^n = divisor * q + rest. A factor too large by less than 1 does no harm
// where the product is off by less than one part in divisor: q + 1, unless 2^n is a multiple of the
// divisor and q is exact, makes it x * (divisor - rest) / divisor of 2^n. For divisors up to 16, x
// is so small that n = 16 will do. Above, divisor < 2^(shift + 1), and divisor - rest <= 2^shift is
// needed; otherwise rest < 2^shift, and x + 1 times q is above x / divisor, by too little to reach
// the next integer. (A. D. Robison, N-bit unsigned division via N-bit multiply-add.) A power of two
// takes the last way with q = 2^16 less 1.
struct WordDivider {
  explicit INTAGLIO_INLINE WordDivider(int divisor) {
    const auto d = static_cast<uint32_t>(divisor);
    shift = d <= 16 ? 0 : static_cast<int>(std::bit_width(d)) - 1;
    const uint32_t power = uint32_t{1} << (16 + shift);
    const uint32_t rest = power % d;
    const bool rounds_up = rest != 0 && (shift == 0 || d - rest <= uint32_t{1} << shift);
    const bool exact = rest == 0 && shift == 0;
    addend = rounds_up || exact ? 0 : 1;
    factor = static_cast<uint16_t>(power / d + (rounds_up ? 1 : 0) - (rest == 0 && !exact ? 1 : 0));
  }

  int shift;
  int addend;
  uint16_t factor;
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ELEMENTWISE_WORD_DIVIDER_H_
