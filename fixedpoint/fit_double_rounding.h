// Double rounding by one fused multiply-add: a cheaper arithmetic for one multiplier, found by
// search and proven equal, result by result, before it is used.
//
//   F = the float32 whose bits are base + acc
//   y = trunc(x) - origin,  x = float32(F * scale + addend), rounded once, ties to even
//
// Why it can be right. Let s = mantissa * 2^(-31 - e) be the real multiplier. Double rounding gives
// at least q where acc * s >= q - 1/2 - n for q > 0, and where acc * s >= q - 1/2 + n for q <= 0,
// with n = 2^-(e + 1): its first rounding reaches down by n, and ties go away from zero. Where base
// is M - 2^23 + the bits of 2^23, F is M + acc, exactly, without a conversion. The origin is
// 2^(25-e): float32 numbers above it are 8n apart, those below it 4n, and rounding to them reaches
// down to q by 4n and by 2n: the 2n between the two sides of zero that are wanted. The rest is to
// have scale near s, and scale * M + addend near origin + 1/2 - 3n; M is free to make it so.
//
// Why it is right where IsDoubleRounding says so. Both results are nondecreasing in acc: the bits
// of positive floats are ordered as they are, and a correctly rounded fma with a positive scale,
// trunc and the clamp keep the order. Two nondecreasing functions that agree at both ends of a
// range on which one of them is constant agree all over that range; the test covers all
// accumulators by such ranges. Nothing is assumed of how a fit was found.
#ifndef INTAGLIO_FIXEDPOINT_FIT_DOUBLE_ROUNDING_H_
#define INTAGLIO_FIXEDPOINT_FIT_DOUBLE_ROUNDING_H_

#include <cstdint>
#include <optional>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// What is to be equalled: RequantizeDoubleRounding(acc, mantissa, 0, right_shift), clamped to
// [lowest, highest], for all |acc| <= bound.
struct DoubleRoundingTask {
  int32_t mantissa = 0;     // 0 or in [2^30, 2^31)
  int32_t right_shift = 0;  // [0, 31]
  int64_t bound = 0;
  int32_t lowest = 0;  // at most kMostSteps below highest
  int32_t highest = 0;

  static constexpr int kMostSteps = 255;

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
// enough. Takes some microseconds. Always the same for the same task, on every machine.
std::optional<DoubleRoundingFit> FitDoubleRounding(const DoubleRoundingTask& task);

// Whether the fit equals the task at every accumulator: a proof where it says yes. No is also said
// of steps or bounds beyond those of which there are proofs.
bool IsDoubleRounding(const DoubleRoundingFit& fit, const DoubleRoundingTask& task);

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_FIT_DOUBLE_ROUNDING_H_
