#include "intaglio/nn/ops/linear/single_rounding.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "intaglio/fixedpoint/fit_search.h"
#include "intaglio/fixedpoint/quantize_multiplier.h"
#include "intaglio/fixedpoint/requantize_real64.h"

namespace intaglio::nn {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

// The least accumulator whose result is at least q; kMost + 1 for none.
int64_t Threshold(double real, int32_t q) {
  const double estimate = std::ceil((q - 0.5) / real);
  if (!(estimate < static_cast<double>(kMost))) return kMost + 1;
  if (!(estimate > static_cast<double>(kLeast))) return kLeast;
  auto at = static_cast<int64_t>(estimate);
  const auto reaches = [&](int64_t acc) {
    return RequantizeReal64(static_cast<int32_t>(acc), real) >= q;
  };
  while (at > kLeast && reaches(at - 1)) --at;
  while (at <= kMost && !reaches(at)) ++at;
  return at;
}

// Finds where results begin, in accumulators.
//
// By the real multiplier, result q begins at (q - 1/2) / real. By what either function rounds to,
// it begins less than one part in 2^30 of q from there. These places are one step apart. Only the
// fraction of the step matters: in units of 2^-31, the fraction and 255 times its rounding error
// are right to 2^-22.
class Beginnings {
 public:
  Beginnings(double real, Range results) : results_(results) {
    const double inverse = 1 / real;
    const double reach = (std::max(std::abs(results.min), std::abs(results.max)) + 1) * inverse;
    if (!(reach < 1 << 22)) return;
    const auto fraction = [](double x) { return Modulo(std::llround(std::ldexp(x, 31)), kOne); };
    step_ = fraction(inverse);
    first_ = fraction((results.min + 0.5) * inverse);
    margin_ = (1 << 9) + 2 * std::llround(reach);
  }

  // Whether every result begins clearly between two accumulators.
  bool AllAreClear() const {
    const int64_t low = kOne - first_ - margin_;
    const int64_t high = kOne - first_ + margin_;
    if (low <= 0 || high >= kOne) return false;
    const int64_t steps = FirstWithin(step_, kOne, low, high);
    return steps < 0 || steps >= results_.max - results_.min;
  }

  // Whether result q begins clearly between two accumulators.
  bool IsClear(int32_t q) const {
    const int64_t place = (first_ + step_ * (q - results_.min - 1)) % kOne;
    return place > margin_ && place < kOne - margin_;
  }

 private:
  static constexpr int64_t kOne = int64_t{1} << 31;

  Range results_;
  int64_t step_ = 0;
  int64_t first_ = 0;
  int64_t margin_ = kOne;
};

// Both results are nondecreasing in the accumulator: they agree everywhere where every result
// begins at the same one.
bool SameResults(const QuantizedMultiplier& m, double real, Range results) {
  const Beginnings beginnings(real, results);
  if (beginnings.AllAreClear()) return true;
  const auto single = [&](int64_t acc) {
    return RequantizeSingleRounding<Scalar>(static_cast<int32_t>(acc), m.mantissa, m.total_shift());
  };
  for (int32_t q = results.min + 1; q <= results.max; ++q) {
    if (beginnings.IsClear(q)) continue;
    const int64_t at = Threshold(real, q);
    if (at <= kMost && single(at) < q) return false;
    if (at > kLeast && single(at - 1) >= q) return false;
  }
  return true;
}

}  // namespace

std::optional<Multipliers> SingleRoundingMultipliers(const std::vector<double>& real,
                                                     int32_t zero_point, Range clamp) {
  // Thresholds of multipliers that are so small are not found by the estimate.
  constexpr double kSmallest = 1e-9;
  const Range results{clamp.min - zero_point, clamp.max - zero_point};
  Multipliers multipliers;
  for (const double r : real) {
    const auto m = QuantizeMultiplier(r);
    if (!m.ok() || m->exponent > 0 || r < kSmallest || !SameResults(*m, r, results)) return {};
    multipliers.mantissa.push_back(m->mantissa);
    multipliers.exponent.push_back(m->exponent);
  }
  return multipliers;
}

}  // namespace intaglio::nn
