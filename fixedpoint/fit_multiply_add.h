// Requantization and zero point by one fused multiply-add: the cheapest arithmetic there is for one
// multiplier, in any mode, found by search and proven equal before it is used.
//
//   F = the float32 whose bits are base + acc
//   x = F * scale + addend, rounded to float32 once, ties to even
//   y = the low 16 bits of x, as an int16
//
// Why it can be right. From 2^23 to 2^24 float32 numbers are the integers. With the bits of 2^23 +
// d as its base F is 2^23 + d + acc, without a conversion; and x near 3 * 2^22, the low 16 of whose
// bits are 0, is rounded to an integer by the multiply-add itself and holds it in its low bits, the
// zero point included. What is left to choose is where results change. Those of every mode do
// where acc * s, s being the real multiplier, is near q - 1/2; the fraction of scale * d moves all
// of these places together, as finely as d has some million values. So an x that rounds at q - 1/2
// is made to round at the accumulators at which the mode does.
//
// Double rounding has ties of its own for results above and not above 0: it has a fit where the
// output clamps one of the two sides away, as after a ReLU, and by luck else.
//
// Why it is right where IsMultiplyAdd says so: as in fit_double_rounding.h.
#ifndef INTAGLIO_FIXEDPOINT_FIT_MULTIPLY_ADD_H_
#define INTAGLIO_FIXEDPOINT_FIT_MULTIPLY_ADD_H_

#include <cstdint>
#include <optional>

#include "intaglio/fixedpoint/requantize.h"

namespace intaglio {

// What is to be equalled: RequantizeScalar(mode, acc, multiplier, scale) + zero_point, clamped to
// [lowest, highest], for all accumulators from least to most.
struct MultiplyAddTask {
  RequantMode mode = RequantMode::kSingleRounding;
  QuantizedMultiplier multiplier;
  float scale = 0;  // of kFloatHalfEven
  int64_t least = 0;
  int64_t most = 0;
  int32_t zero_point = 0;
  int32_t lowest = 0;
  int32_t highest = 0;

  static constexpr int kMostSteps = 255;  // from lowest to highest, where there may be a fit
};

// Numbers that equal it, but for the clamping to [lowest, highest], which is left to do.
struct MultiplyAddFit {
  int32_t base = 0;
  float scale = 0;
  float addend = 0;
};

// A fit for which IsMultiplyAdd holds, or none: most multipliers from 2^-12 to 1/2 have one. Takes
// some forty microseconds where std::fma is software. Always the same for the same task, on every
// machine.
std::optional<MultiplyAddFit> FitMultiplyAdd(const MultiplyAddTask& task);

// Whether the fit equals the task at every accumulator: a proof where it says yes.
bool IsMultiplyAdd(const MultiplyAddFit& fit, const MultiplyAddTask& task);

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_FIT_MULTIPLY_ADD_H_
