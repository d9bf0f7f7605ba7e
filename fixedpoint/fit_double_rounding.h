// Double rounding by one fused multiply-add: a cheaper arithmetic for one multiplier, found by
// search and proven equal before it is used.
//
//   F = the float32 whose bits are base + acc
//   x = F * scale + addend, rounded to float32 once, ties to even
//   y = trunc(x) - origin
//
// Why it can be right. Let s = mantissa * 2^(-31 - e) be the real multiplier, e the right shift.
// With n = 2^-(e + 1), double rounding gives at least q where acc * s >= q - 1/2 - n if q > 0, and
// where acc * s >= q - 1/2 + n if q <= 0: its first rounding reaches down by n, and ties of the
// second go away from zero. The origin is 2^(25 - e). Float32 numbers are 8n apart above it and 4n
// below, so that rounding to them reaches down by 4n and by 2n: the same difference of 2n between
// the two sides. And F needs no conversion: with the bits of 2^23 + d as its base it is acc + d. So
// the scale is to be near s, and scale * d + addend near origin + 1/2 - 3n, which choosing d among
// some million makes it, though addends of that size are 8n apart.
//
// For e of 0 and 1 there are no such integers on both sides. Where the output clamps results below
// 0 to 0, as after a ReLU whose zero point is the least value, the upper side alone is to be met:
// by an origin of 256, around which a float32 is all but exact. (Of e = 0, which rounds once, n is
// 0.)
//
// A float32 has 24 bits, s up to 31. Where no scale is near enough, F * stretch + shift, an odd
// multiple of acc and exact, takes the place of F: another 24 bits for each stretch.
//
// Why it is right. Both results are nondecreasing in acc: positive floats are ordered as their bits
// are, and a correctly rounded fma with a positive factor, trunc and a clamp keep the order. Two
// nondecreasing functions that agree at both ends of a range on which one of them is constant agree
// all over it, and such ranges cover all accumulators. IsDoubleRounding computes both at all these
// ends, and assumes nothing of how a fit was found. The search, which must be quick, gets by
// without it: what scale * d + addend has to be above and below for every single threshold, by the
// second paragraph, it knows in exact numbers, and what it takes lies between. (Where that
// paragraph does not hold, for e = 2 and for results beyond the origin's neighbourhood, it asks
// IsDoubleRounding.)
#ifndef INTAGLIO_FIXEDPOINT_FIT_DOUBLE_ROUNDING_H_
#define INTAGLIO_FIXEDPOINT_FIT_DOUBLE_ROUNDING_H_

#include <cstdint>
#include <optional>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// What is to be equalled: RequantizeDoubleRounding(acc, mantissa, 0, right_shift), clamped to
// [lowest, highest], for all accumulators from least to most.
struct DoubleRoundingTask {
  int32_t mantissa = 0;     // 0 or in [2^30, 2^31)
  int32_t right_shift = 0;  // [0, 31]
  int64_t least = 0;
  int64_t most = 0;
  int32_t lowest = 0;
  int32_t highest = 0;

  static constexpr int kMostSteps = 255;  // from lowest to highest, where there may be a fit

  bool operator==(const DoubleRoundingTask&) const = default;
};

// Numbers that equal it, but for the clamping to [lowest, highest], which is left to do.
struct DoubleRoundingFit {
  int32_t base = 0;
  float stretch = 1;  // 1 with shift 0 where one multiply-add does
  float shift = 0;
  float scale = 0;
  float addend = 0;
  int32_t origin = 0;
};

// From F, or F * stretch + shift, to y; over any register vocabulary.
template <class R>
INTAGLIO_INLINE typename R::I32 DoubleRoundingFitted(typename R::F32 f, typename R::F32 scale,
                                                     typename R::F32 addend,
                                                     typename R::I32 origin) {
  return R::Sub(R::TruncateToInt(R::FusedMulAdd(f, scale, addend)), origin);
}

// A fit for which IsDoubleRounding holds, or none: for some multipliers float32 has no number near
// enough. Takes a quarter of a microsecond as a rule, ten at most. Always the same for the same
// task, on every machine.
std::optional<DoubleRoundingFit> FitDoubleRounding(const DoubleRoundingTask& task);

// Whether the fit equals the task at every accumulator: a proof where it says yes. Says no, without
// a look, of more steps, results beyond 2^10, and right_shift > 20 unless the result is constant.
bool IsDoubleRounding(const DoubleRoundingFit& fit, const DoubleRoundingTask& task);

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_FIT_DOUBLE_ROUNDING_H_
