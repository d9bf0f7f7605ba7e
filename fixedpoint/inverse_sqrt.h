// 1 / sqrt(x) in fixed point, by Newton-Raphson steps.
#ifndef INTAGLIO_FIXEDPOINT_INVERSE_SQRT_H_
#define INTAGLIO_FIXEDPOINT_INVERSE_SQRT_H_

#include <cstdint>

#include "intaglio/fixedpoint/fixed_point.h"
#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// 1 / sqrt(a) for a in [1/2, 2), within 2.6 units of the last place, 2^-30, measured over every a.
//
// Three steps y += y (1 - a y^2) / 2 from the quadratic of least relative error, 0.024; a step
// turns a relative error d into 1.5 d^2, so the third leaves 2e-12 besides rounding.
template <class R>
INTAGLIO_INLINE FixedPoint<R, 1> OneOverSqrt(FixedPoint<R, 1> a) {
  using F1 = FixedPoint<R, 1>;
  using F3 = FixedPoint<R, 3>;
  // 1.888566 - 1.161549 a + 0.289661 a^2
  const F1 slope = F1::Constant(-1247203712) + a * FixedPoint<R, 0>::Constant(622041430);
  F1 y = F1::Constant(2027832103) + Rescale<1>(slope * a);
  for (int step = 0; step < 3; ++step) {
    const F3 residual = F3::One() - a * (y * y);
    const FixedPoint<R, 1> change = y * Rescale<0>(residual);
    y = y + RoundingDivideByPowerOfTwo<1>(change);
  }
  return y;
}

// The number mantissa * 2^-exponent.
template <class R>
struct InverseSqrtResult {
  FixedPoint<R, 1> mantissa;  // [1 / sqrt(2), sqrt(2)], within rounding
  typename R::I32 exponent;   // [0, 15]
};

namespace internal {

// Multiplies a by 2^kBits, kBits even, where that keeps it below 2^31.
template <int kBits, class R>
INTAGLIO_INLINE void Normalize(typename R::I32& a, typename R::I32& exponent) {
  const typename R::I32 small = R::Greater(R::Set(int32_t{1} << (31 - kBits)), a);
  a = R::Select(small, R::template ShiftLeft<kBits>(a), a);
  exponent = R::Sub(exponent, R::And(small, R::Set(kBits / 2)));
}

}  // namespace internal

// 1 / sqrt(x) for integers x >= 1; smaller x count as 1.
template <class R>
INTAGLIO_INLINE InverseSqrtResult<R> InverseSqrt(typename R::I32 x) {
  // x = a * 4^(exponent - 15), with a in the end in [2^29, 2^31): [1/2, 2) in units of 2^-30.
  typename R::I32 a = R::Max(x, R::Set(1));
  typename R::I32 exponent = R::Set(15);
  internal::Normalize<16, R>(a, exponent);
  internal::Normalize<8, R>(a, exponent);
  internal::Normalize<4, R>(a, exponent);
  internal::Normalize<2, R>(a, exponent);
  return {OneOverSqrt(FixedPoint<R, 1>::FromRaw(a)), exponent};
}

// multiplier * 2^-(31 + right_shift).
struct InverseSqrtMultiplier {
  int32_t multiplier;
  int32_t right_shift;
};

// 1 / sqrt(x) for x >= 0 in the bits of TFLite's GetInvSqrtQuantizedMultiplierExp, which its L2 and
// layer normalizations are made of; 0 counts as 1. Its relative error reaches
// 1.3e-6, that of InverseSqrt 2.8e-9.
INTAGLIO_INLINE InverseSqrtMultiplier TfliteInverseSqrt(int32_t x) {
  using F3 = FixedPoint<Scalar, 3>;
  if (x <= 1) return {INT32_MAX, 0};
  int32_t right_shift = 11;
  // To [2^27, 2^29), which halved is [1/4, 1) in units of 2^-28.
  for (; x >= 1 << 29; x /= 4) ++right_shift;
  for (; x < 1 << 27; x *= 4) --right_shift;
  const F3 a = F3::FromRaw(x >> 1);
  const F3 half_a = RoundingDivideByPowerOfTwo<1>(a);
  const F3 three_halves = F3::Constant((1 << 28) + (1 << 27));
  F3 y = F3::One();
  for (int step = 0; step < 5; ++step) {
    const F3 cube = Rescale<3>(y * y * y);
    y = Rescale<3>(three_halves * y - half_a * cube);
  }
  int32_t multiplier = (y * FixedPoint<Scalar, 0>::Constant(1518500250)).raw();  // sqrt(1/2)
  for (; right_shift < 0; ++right_shift) multiplier *= 2;
  return {multiplier, right_shift};
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_INVERSE_SQRT_H_
