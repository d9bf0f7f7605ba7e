// What the searches for fits, and their proofs, have in common. A Task has the accumulators [least,
// most] that it asks about, the results [lowest, highest] that they are clamped to, and kMostSteps,
// the most steps from one of these to the next.
#ifndef INTAGLIO_FIXEDPOINT_FIT_SEARCH_H_
#define INTAGLIO_FIXEDPOINT_FIT_SEARCH_H_

#include <cstdint>
#include <limits>

namespace intaglio {

inline constexpr int32_t kBitsOfTwoTo23 = 0x4b000000;  // as a float32
inline constexpr int kFarthest = 1 << 10;              // of results

template <class Task>
bool IsWithinReach(const Task& task) {
  return task.least >= std::numeric_limits<int32_t>::min() && task.least <= task.most &&
         task.most <= std::numeric_limits<int32_t>::max() && task.lowest >= -kFarthest &&
         task.highest <= kFarthest && task.lowest <= task.highest &&
         task.highest - task.lowest <= Task::kMostSteps;
}

// Whether agree(first, last) is true of every stretch that the thresholds cut [least, most] into.
// Two monotone staircases are equal where they are at both ends of a step of one of them.
template <class Task, class Steps, class Agree>
bool AgreeOnEveryStep(const Task& task, const Steps& thresholds, const Agree& agree) {
  auto first = static_cast<int32_t>(task.least);
  for (int i = 0; i < thresholds.count(); ++i) {
    const int32_t next = thresholds.at(i);
    if (next <= first) continue;
    if (!agree(first, next - 1)) return false;
    first = next;
  }
  return agree(first, static_cast<int32_t>(task.most));
}

// The quotient rounded up; b > 0.
inline int64_t CeilDivide(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

// In [0, b); b is a power of two.
inline int64_t Modulo(int64_t a, int64_t b) { return a & (b - 1); }

// The least j >= 0 for which low <= step * j mod modulus <= high, or -1; 0 <= step < modulus,
// 0 <= low <= high < modulus. Where no multiple of the step lies in [low, high], step * j -
// modulus * k does for the least k that puts it there modulo the step.
inline int64_t FirstWithin(int64_t step, int64_t modulus, int64_t low, int64_t high) {
  if (low == 0) return 0;
  if (step == 0) return -1;
  if (2 * step > modulus) {
    return FirstWithin(modulus - step, modulus, modulus - high, modulus - low);
  }
  const int64_t before = (low - 1) / step;  // multiples of the step that lie below
  const int64_t below = before * step;
  if (below + step <= high) return before + 1;
  const int64_t rest = modulus % step;
  const int64_t k = FirstWithin(rest == 0 ? 0 : step - rest, step, low - below, high - below);
  return k < 0 ? -1 : CeilDivide(low + modulus * k, step);
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_FIT_SEARCH_H_
