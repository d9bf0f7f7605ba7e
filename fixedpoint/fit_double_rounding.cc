#include "intaglio/fixedpoint/fit_double_rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "intaglio/fixedpoint/requantize.h"

namespace intaglio {
namespace {

constexpr int32_t kBitsOfTwoTo23 = 0x4b000000;
constexpr int32_t kTwoTo23 = 1 << 23;

int64_t CeilDivide(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }  // b > 0

// The least accumulator whose result is at least q, by the formula of the header.
int64_t Threshold(const DoubleRoundingTask& task, int q) {
  const int64_t middle = int64_t{2 * q - 1} * (int64_t{1} << (30 + task.right_shift));
  return CeilDivide(middle + (q > 0 ? -(int64_t{1} << 30) : int64_t{1} << 30), task.mantissa);
}

// The thresholds that some accumulator within the bound crosses, in order.
class Thresholds {
 public:
  explicit Thresholds(const DoubleRoundingTask& task) {
    for (int q = task.lowest + 1; q <= task.highest; ++q) {
      const int64_t at = Threshold(task, q);
      if (at > task.bound) break;
      if (at <= -task.bound) continue;
      if (count_ == 0) first_ = q;
      at_[count_++] = static_cast<int32_t>(at);
    }
  }

  int count() const { return count_; }
  int result(int i) const { return first_ + i; }  // from at(i) on
  int32_t at(int i) const { return at_[i]; }
  int32_t lowest() const { return at_[0]; }
  int32_t highest() const { return at_[count_ - 1]; }

 private:
  int32_t at_[DoubleRoundingTask::kMostSteps];
  int count_ = 0;
  int first_ = 0;
};

// The search is done in integers, in units of 2^-(24 + right_shift): a scale is one of at most 24
// bits, the distance of the float32 numbers around any addend that is looked at is 2^25, and n is
// 2^23.
constexpr int64_t kSpacing = int64_t{1} << 25;
constexpr int64_t kN = int64_t{1} << 23;

// The values of scale * M + addend - origin for which every threshold is met: [low, high).
struct Room {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();

  Room(const Thresholds& thresholds, int right_shift, int64_t scale) {
    const int64_t one = int64_t{1} << (24 + right_shift);
    for (int i = 0; i < thresholds.count(); ++i) {
      const int q = thresholds.result(i);
      const int64_t reached = q * one - (q > 0 ? 4 * kN : 2 * kN);
      const int64_t product = scale * thresholds.at(i);
      low = std::max(low, reached - product);
      high = std::min(high, reached - product + scale);
    }
  }
};

// The least j >= 0 for which low <= step * j mod modulus <= high, or -1; 0 <= step < modulus,
// 0 <= low <= high < modulus. Where no multiple of the step lies in [low, high], step * j -
// modulus * k does for the least k that puts it there modulo the step.
int64_t FirstWithin(int64_t step, int64_t modulus, int64_t low, int64_t high) {
  if (low == 0) return 0;
  if (step == 0) return -1;
  if (2 * step > modulus)
    return FirstWithin(modulus - step, modulus, modulus - high, modulus - low);
  const int64_t steps = CeilDivide(low, step);
  if (steps * step <= high) return steps;
  const int64_t k = FirstWithin((step - modulus % step) % step, step, low % step, high % step);
  return k < 0 ? -1 : CeilDivide(low + modulus * k, step);
}

int64_t Modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

// Finds M: scale * M modulo the spacing of addends takes as many values as there are Ms.
std::optional<DoubleRoundingFit> FitScale(const DoubleRoundingTask& task,
                                          const Thresholds& thresholds, int64_t scale) {
  const Room room(thresholds, task.right_shift, scale);
  // M + acc is in [2^23, 2^24) on both sides of every threshold.
  const int64_t least_m = int64_t{kTwoTo23} + 1 - thresholds.lowest();
  const int64_t most_m = 2 * int64_t{kTwoTo23} - 1 - thresholds.highest();
  if (room.low >= room.high || least_m > most_m) return std::nullopt;
  const int64_t low = Modulo(room.low - scale * least_m, kSpacing);
  const int64_t high = low + room.high - 1 - room.low;
  const int64_t steps = high >= kSpacing ? 0 : FirstWithin(scale % kSpacing, kSpacing, low, high);
  const int64_t m = least_m + steps;
  if (steps < 0 || m > most_m) return std::nullopt;

  const int32_t origin = 1 << (25 - task.right_shift);
  const int64_t addend = room.high - 1 - Modulo(room.high - 1 - scale * m, kSpacing) - scale * m;
  const int exponent = -24 - task.right_shift;
  const DoubleRoundingFit fit{
      kBitsOfTwoTo23 + static_cast<int32_t>(m - kTwoTo23),
      static_cast<float>(std::ldexp(static_cast<double>(scale), exponent)),
      static_cast<float>(origin + std::ldexp(static_cast<double>(addend), exponent)), origin};
  return IsDoubleRounding(fit, task) ? std::optional(fit) : std::nullopt;
}

// Where the sums are positive finite floats, and no result leaves int32.
bool StaysInRange(const DoubleRoundingFit& fit, int32_t bound) {
  constexpr int64_t kBitsOfInfinity = 0x7f800000;
  if (!(fit.scale > 0) || fit.origin < 0) return false;
  if (fit.base - int64_t{bound} < 0 || fit.base + int64_t{bound} >= kBitsOfInfinity) return false;
  const auto x = [&](int32_t sum) {
    return Scalar::FusedMulAdd(Scalar::FloatOfBits(sum), fit.scale, fit.addend);
  };
  return x(fit.base - bound) >= 0 && x(fit.base + bound) < 2147483648.0f;
}

}  // namespace

bool IsDoubleRounding(const DoubleRoundingFit& fit, const DoubleRoundingTask& task) {
  if (task.bound > std::numeric_limits<int32_t>::max() ||
      task.highest - task.lowest > DoubleRoundingTask::kMostSteps || task.mantissa <= 0 ||
      task.right_shift > 16) {
    return false;
  }
  const auto bound = static_cast<int32_t>(task.bound);
  if (!StaysInRange(fit, bound)) return false;
  const DoubleRoundingFitted<Scalar> fitted(fit.scale, fit.addend, fit.origin);
  const auto clamped = [&](int32_t y) { return std::clamp(y, task.lowest, task.highest); };
  const auto truth = [&](int32_t acc) {
    return clamped(RequantizeDoubleRounding<Scalar>(acc, task.mantissa, 0, task.right_shift));
  };
  const auto agree = [&](int32_t first, int32_t last) {
    const int32_t y = truth(first);
    return truth(last) == y && clamped(fitted(fit.base + first)) == y &&
           clamped(fitted(fit.base + last)) == y;
  };
  const Thresholds thresholds(task);
  int32_t first = -bound;
  for (int i = 0; i < thresholds.count(); ++i) {
    const int32_t next = thresholds.at(i);
    if (next == first) continue;
    if (!agree(first, next - 1)) return false;
    first = next;
  }
  return agree(first, bound);
}

std::optional<DoubleRoundingFit> FitDoubleRounding(const DoubleRoundingTask& task) {
  // Below 2 and above 16 the origin has no integers, or not enough of them, on both sides.
  if (task.mantissa == 0 || task.right_shift < 2 || task.right_shift > 16 ||
      task.highest - task.lowest > DoubleRoundingTask::kMostSteps) {
    return std::nullopt;
  }
  const Thresholds thresholds(task);
  if (thresholds.count() == 0) return std::nullopt;
  const int64_t nearest = (int64_t{task.mantissa} + 64) >> 7;
  for (const int64_t scale : {nearest, nearest - 1, nearest + 1}) {
    if (const auto fit = FitScale(task, thresholds, scale)) return fit;
  }
  return std::nullopt;
}

}  // namespace intaglio
