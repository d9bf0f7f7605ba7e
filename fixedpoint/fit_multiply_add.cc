#include "intaglio/fixedpoint/fit_multiply_add.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "intaglio/fixedpoint/fit_search.h"
#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/fixedpoint/registers.h"

namespace intaglio {
namespace {

constexpr int32_t kMiddle = 3 << 22;  // its bits as a float32 end in 22 zeros

// Multipliers of which thresholds are looked for.
constexpr double kLeastMultiplier = 1.0 / (1 << 20);
constexpr double kMostMultiplier = 0.5;

double RealMultiplier(const MultiplyAddTask& task) {
  if (task.mode == RequantMode::kFloatHalfEven) return static_cast<double>(task.scale);
  return std::ldexp(task.multiplier.mantissa, task.multiplier.exponent - 31);
}

int32_t Truth(const MultiplyAddTask& task, int64_t acc) {
  return RequantizeScalar(task.mode, static_cast<int32_t>(acc), task.multiplier, task.scale);
}

// Within [lowest, highest], of results that may be any int32.
int32_t Clamped(const MultiplyAddTask& task, int64_t result) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(result + task.zero_point, task.lowest, task.highest));
}

bool IsWithinReach(const MultiplyAddTask& task) {
  return intaglio::IsWithinReach(task) && std::abs(int64_t{task.zero_point}) <= kFarthest;
}

// The accumulators at which the clamped result changes, in order, and what it is from them on.
class Steps {
 public:
  Steps() = default;

  // find(y): the least accumulator whose result is at least y.
  template <class Find>
  Steps(const MultiplyAddTask& task, const Find& find) {
    for (int y = task.lowest + 1; y <= task.highest; ++y) {
      const int64_t at = find(y);
      if (at > task.most) break;
      if (at <= task.least) continue;
      if (count_ == 0) first_ = y;
      at_[count_++] = static_cast<int32_t>(at);
    }
  }

  int count() const { return count_; }
  int result(int i) const { return first_ + i; }  // from at(i) on
  int32_t at(int i) const { return at_[i]; }
  int32_t lowest() const { return at_[0]; }
  int32_t highest() const { return at_[count_ - 1]; }

 private:
  int32_t at_[MultiplyAddTask::kMostSteps];
  int count_ = 0;
  int first_ = 0;
};

// The least accumulator from least to most + 1 whose result is at least q: near where the real
// product is q - 1/2, less far than the products' own roundings.
int64_t Threshold(const MultiplyAddTask& task, int q, double multiplier) {
  const auto near = static_cast<int64_t>(std::ceil((q - 0.5) / multiplier));
  int64_t at = std::clamp(near, task.least, task.most + 1);
  while (at > task.least && Truth(task, at - 1) >= q) --at;
  while (at <= task.most && Truth(task, at) < q) ++at;
  return at;
}

Steps StepsOf(const MultiplyAddTask& task) {
  const double multiplier = RealMultiplier(task);
  if (!(multiplier >= kLeastMultiplier && multiplier < kMostMultiplier)) return {};
  return {task, [&](int y) { return Threshold(task, y - task.zero_point, multiplier); }};
}

// Looks for d and the addend with scale * one as the slope, where `one` is a power of two that
// makes it an integer of 24 bits. Then scale * (acc + d) + addend is to lie above q - 1/2 from the
// threshold of q on, and below it before.
std::optional<MultiplyAddFit> FitSlope(const MultiplyAddTask& task, const Steps& thresholds,
                                       int64_t slope, int64_t one) {
  int64_t low =
      std::numeric_limits<int64_t>::min();  // slope * d less a multiple of one: [low, high)
  int64_t high = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < thresholds.count() && low < high; ++i) {
    const int q = thresholds.result(i) - task.zero_point;
    const int64_t reached = q * one - one / 2 - slope * thresholds.at(i);
    low = std::max(low, reached + 1);
    high = std::min(high, reached + slope);
  }
  // F is an integer on both sides of every threshold.
  const int64_t least = (int64_t{1} << 23) - (thresholds.lowest() - 1);
  const int64_t most = (int64_t{1} << 24) - 1 - thresholds.highest();
  if (low >= high || least > most) return std::nullopt;

  const int64_t from = Modulo(low - slope * least, one);
  const int64_t to = from + high - 1 - low;
  const int64_t steps = to >= one ? 0 : FirstWithin(slope, one, from, to);
  const int64_t d = least + steps;
  if (steps < 0 || d > most) return std::nullopt;

  const int64_t integers = (slope * d - low - Modulo(slope * d - low, one)) / one;
  MultiplyAddFit fit;
  fit.base = kBitsOfTwoTo23 + static_cast<int32_t>(d - (int64_t{1} << 23));
  fit.scale = static_cast<float>(static_cast<double>(slope) / static_cast<double>(one));
  fit.addend = static_cast<float>(kMiddle + task.zero_point - integers);
  return IsMultiplyAdd(fit, task) ? std::optional(fit) : std::nullopt;
}

// Channels whose weights are all but zero: one result, wherever the accumulators lie.
std::optional<MultiplyAddFit> FitConstant(const MultiplyAddTask& task) {
  const int64_t base = kBitsOfTwoTo23 - (task.least + task.most) / 2;
  if (base > std::numeric_limits<int32_t>::max()) return std::nullopt;
  MultiplyAddFit fit;
  fit.base = static_cast<int32_t>(base);
  fit.scale = std::ldexp(1.0f, -40);
  fit.addend = static_cast<float>(kMiddle + Clamped(task, Truth(task, task.least)));
  return IsMultiplyAdd(fit, task) ? std::optional(fit) : std::nullopt;
}

// The multiply-add for a base plus accumulator that is a positive finite float.
float Result(const MultiplyAddFit& fit, int64_t acc) {
  return Scalar::FusedMulAdd(Scalar::FloatOfBits(static_cast<int32_t>(fit.base + acc)), fit.scale,
                             fit.addend);
}

// Where F is a positive finite float, and y the integer that x holds.
bool StaysInRange(const MultiplyAddFit& fit, int64_t least, int64_t most) {
  constexpr int64_t kBitsOfInfinity = 0x7f800000;
  if (!(fit.scale > 0) || fit.base + least < 0 || fit.base + most >= kBitsOfInfinity) return false;
  return Result(fit, least) >= kMiddle - 32768 && Result(fit, most) <= kMiddle + 32767;
}

}  // namespace

bool IsMultiplyAdd(const MultiplyAddFit& fit, const MultiplyAddTask& task) {
  const DefaultFloatEnvironment environment;
  if (!IsWithinReach(task) || !StaysInRange(fit, task.least, task.most)) return false;
  const auto agree = [&](int32_t first, int32_t last) {
    const int32_t y = Clamped(task, Truth(task, first));
    const auto fitted = [&](int32_t acc) {
      return std::clamp<int32_t>(
          static_cast<int16_t>(std::bit_cast<int32_t>(Result(fit, acc)) & 0xffff), task.lowest,
          task.highest);
    };
    return Clamped(task, Truth(task, last)) == y && fitted(first) == y && fitted(last) == y;
  };
  return AgreeOnEveryStep(task, StepsOf(task), agree);
}

std::optional<MultiplyAddFit> FitMultiplyAdd(const MultiplyAddTask& task) {
  const DefaultFloatEnvironment environment;
  if (!IsWithinReach(task)) return std::nullopt;
  if (Clamped(task, Truth(task, task.least)) == Clamped(task, Truth(task, task.most))) {
    return FitConstant(task);
  }
  const Steps thresholds = StepsOf(task);
  if (thresholds.count() == 0) return std::nullopt;
  int exponent;
  const double fraction = std::frexp(RealMultiplier(task), &exponent);
  const int64_t one = int64_t{1} << (24 - exponent);
  const int64_t nearest = std::llround(std::ldexp(fraction, 24));
  for (const int64_t slope : {nearest, nearest + 1, nearest - 1}) {
    if (const auto fit = FitSlope(task, thresholds, slope, one)) return fit;
  }
  return std::nullopt;
}

}  // namespace intaglio
