#include "intaglio/fixedpoint/fit_double_rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "intaglio/fixedpoint/first_within.h"
#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/fixedpoint/thresholds.h"

namespace intaglio {
namespace {

// Below and above, the origin has no integers, or not enough of them, on both sides.
constexpr int kLeastShift = 2;
constexpr int kMostShift = 20;

// The least accumulator whose result is at least q, by the formula of the header.
int64_t Threshold(const DoubleRoundingTask& task, int q) {
  const int64_t middle = int64_t{2 * q - 1} * (int64_t{1} << (30 + task.right_shift));
  return CeilDivide(middle + (q > 0 ? -(int64_t{1} << 30) : int64_t{1} << 30), task.mantissa);
}

using Steps = Thresholds<DoubleRoundingTask>;

// None of shifts beyond kMostShift.
Steps StepsOf(const DoubleRoundingTask& task) {
  if (task.mantissa == 0 || task.right_shift > kMostShift) return {};
  return {task, [&](int q) { return Threshold(task, q); }};
}

constexpr int kMostStretch = 63;  // that is tried

// A slope of fits: stretch * scale, the latter in units of 2^-(24 + right_shift + finer), of which
// it takes 2^23 to 2^24. The search is done in integers of this unit.
struct Slope {
  int64_t stretch;
  int64_t scale;
  int finer = 0;
  int64_t spacing;  // of addends: 8n for those below the origin, 16n for those on both sides
  int64_t n;
  int64_t one;

  Slope(const DoubleRoundingTask& task, int stretch) : stretch(stretch) {
    while (int64_t{task.mantissa} << finer < int64_t{stretch} << 30) ++finer;
    scale = ((int64_t{task.mantissa} << finer) / stretch + 64) >> 7;
    spacing = int64_t{1} << (stretch == 1 ? 25 : 26 + finer);
    n = int64_t{1} << (23 + finer);
    one = int64_t{1} << (24 + task.right_shift + finer);
  }
};

// The values of scale * d + addend - origin for which every threshold is met: [low, high).
struct Room {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();

  Room(const Steps& thresholds, const Slope& slope) {
    const int64_t step = slope.scale * slope.stretch;
    for (int i = 0; i < thresholds.count() && low < high; ++i) {
      const int q = thresholds.result(i);
      const int64_t reached = q * slope.one - (q > 0 ? 4 : 2) * slope.n;
      const int64_t product = step * thresholds.at(i);
      low = std::max(low, reached - product);
      high = std::min(high, reached - product + step);
    }
  }
};

// Finds d: scale * d modulo the spacing of addends takes as many values as there are ds.
std::optional<DoubleRoundingFit> FitSlope(const DoubleRoundingTask& task, const Steps& thresholds,
                                          const Slope& slope) {
  const Room room(thresholds, slope);
  if (room.low >= room.high) return std::nullopt;
  // On both sides of every threshold stretch * acc + d is an integer of at most 24 bits and, where
  // it is F itself, in [2^23, 2^24).
  const bool plain = slope.stretch == 1;
  const int64_t least = (plain ? int64_t{1} << 23 : 1 - (int64_t{1} << 24)) -
                        slope.stretch * (thresholds.lowest() - 1);
  const int64_t most = (int64_t{1} << 24) - 1 - slope.stretch * thresholds.highest();
  if (least > most) return std::nullopt;
  const int64_t low = Modulo(room.low - slope.scale * least, slope.spacing);
  const int64_t high = low + room.high - 1 - room.low;
  const int64_t steps =
      high >= slope.spacing ? 0 : FirstWithin(slope.scale, slope.spacing, low, high);
  const int64_t d = least + steps;
  if (steps < 0 || d > most) return std::nullopt;

  // The even half of the room's end is taken off, to get a multiple of the spacing.
  const int64_t last = room.high - 1 - slope.scale * d;
  const int64_t addend = last - Modulo(last, slope.spacing);
  // A multiple of 64 that M times the stretch is away from d, so that the shift is a float32.
  int64_t m = plain ? d : (int64_t{3} << 22) - (thresholds.lowest() + thresholds.highest()) / 2;
  while ((d - slope.stretch * m) % 64 != 0) ++m;

  const int exponent = -24 - task.right_shift - slope.finer;
  const int32_t origin = 1 << (25 - task.right_shift);
  DoubleRoundingFit fit;
  fit.base = kBitsOfTwoTo23 + static_cast<int32_t>(m - (int64_t{1} << 23));
  fit.stretch = static_cast<float>(slope.stretch);
  fit.shift = static_cast<float>(d - slope.stretch * m);
  fit.scale = static_cast<float>(std::ldexp(static_cast<double>(slope.scale), exponent));
  fit.addend = static_cast<float>(origin + std::ldexp(static_cast<double>(addend), exponent));
  fit.origin = origin;
  return IsDoubleRounding(fit, task) ? std::optional(fit) : std::nullopt;
}

float Stretched(const DoubleRoundingFit& fit, int32_t sum) {
  return Scalar::FusedMulAdd(Scalar::FloatOfBits(sum), fit.stretch, fit.shift);
}

// Where the sums are positive finite floats, and no result leaves int32.
bool StaysInRange(const DoubleRoundingFit& fit, int64_t least, int64_t most) {
  constexpr int64_t kBitsOfInfinity = 0x7f800000;
  if (!(fit.scale > 0) || !(fit.stretch > 0) || fit.origin < 0) return false;
  if (fit.base + least < 0 || fit.base + most >= kBitsOfInfinity) return false;
  const auto x = [&](int64_t sum) {
    return Scalar::FusedMulAdd(Stretched(fit, static_cast<int32_t>(sum)), fit.scale, fit.addend);
  };
  return x(fit.base + least) >= 0 && x(fit.base + most) < 2147483648.0f;
}

int32_t Truth(const DoubleRoundingTask& task, int64_t acc) {
  const int32_t y = RequantizeDoubleRounding<Scalar>(static_cast<int32_t>(acc), task.mantissa, 0,
                                                     task.right_shift);
  return std::clamp(y, task.lowest, task.highest);
}

// Channels whose weights are all but zero have multipliers so small that one result is all.
std::optional<DoubleRoundingFit> FitConstant(const DoubleRoundingTask& task) {
  DoubleRoundingFit fit;
  // Sums around the bits of 2^23, wherever the accumulators lie.
  const int64_t base = kBitsOfTwoTo23 - (task.least + task.most) / 2;
  if (base > std::numeric_limits<int32_t>::max()) return std::nullopt;
  fit.base = static_cast<int32_t>(base);
  fit.scale = std::ldexp(1.0f, -40);
  fit.addend = static_cast<float>(2 * kFarthest + Truth(task, task.least)) + 0.25f;
  fit.origin = 2 * kFarthest;
  return IsDoubleRounding(fit, task) ? std::optional(fit) : std::nullopt;
}

}  // namespace

bool IsDoubleRounding(const DoubleRoundingFit& fit, const DoubleRoundingTask& task) {
  if (!IsWithinReach(task) || !StaysInRange(fit, task.least, task.most)) return false;
  const auto fitted = [&](int32_t acc) {
    const int32_t y = DoubleRoundingFitted<Scalar>(Stretched(fit, fit.base + acc), fit.scale,
                                                   fit.addend, fit.origin);
    return std::clamp(y, task.lowest, task.highest);
  };
  const auto agree = [&](int32_t first, int32_t last) {
    const int32_t y = Truth(task, first);
    return Truth(task, last) == y && fitted(first) == y && fitted(last) == y;
  };
  return AgreeOnEveryStep(task, StepsOf(task), agree);
}

std::optional<DoubleRoundingFit> FitDoubleRounding(const DoubleRoundingTask& task) {
  if (!IsWithinReach(task)) return std::nullopt;
  if (Truth(task, task.least) == Truth(task, task.most)) return FitConstant(task);
  const Steps thresholds = StepsOf(task);
  if (task.right_shift < kLeastShift || thresholds.count() == 0) return std::nullopt;
  for (int stretch = 1; stretch <= kMostStretch; stretch += 2) {
    if (const auto fit = FitSlope(task, thresholds, Slope(task, stretch))) return fit;
  }
  return std::nullopt;
}

}  // namespace intaglio
