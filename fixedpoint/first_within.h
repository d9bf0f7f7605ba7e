// Integer arithmetic of the searches for fits.
#ifndef INTAGLIO_FIXEDPOINT_FIRST_WITHIN_H_
#define INTAGLIO_FIXEDPOINT_FIRST_WITHIN_H_

#include <cstdint>

namespace intaglio {

// The quotient rounded up; b > 0.
inline int64_t CeilDivide(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

// In [0, b); b > 0.
inline int64_t Modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

// The least j >= 0 for which low <= step * j mod modulus <= high, or -1; 0 <= step < modulus,
// 0 <= low <= high < modulus. Where no multiple of the step lies in [low, high], step * j -
// modulus * k does for the least k that puts it there modulo the step.
inline int64_t FirstWithin(int64_t step, int64_t modulus, int64_t low, int64_t high) {
  if (low == 0) return 0;
  if (step == 0) return -1;
  if (2 * step > modulus) {
    return FirstWithin(modulus - step, modulus, modulus - high, modulus - low);
  }
  const int64_t steps = CeilDivide(low, step);
  if (steps * step <= high) return steps;
  const int64_t k = FirstWithin((step - modulus % step) % step, step, low % step, high % step);
  return k < 0 ? -1 : CeilDivide(low + modulus * k, step);
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_FIRST_WITHIN_H_
