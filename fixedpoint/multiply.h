// Multiplication of fixed-point numbers and by powers of two, with its rounding and saturation:
// the steps of which requantization (requantize.h) and the functions (transcendental.h) are made.
//
// All of it works lane by lane on any register vocabulary R, and gives the same bits on all of
// them. Each function is defined for every value of its operands in the stated range.
#ifndef INTAGLIO_FIXEDPOINT_MULTIPLY_H_
#define INTAGLIO_FIXEDPOINT_MULTIPLY_H_

#include <cstdint>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// A vocabulary may have, beside what Scalar has, these instructions of Arm:
//   SaturatingDoublingHighMul(a, b)          floor(a * b / 2^31); 2^31 - 1 for a = b = -2^31
//   SaturatingRoundingDoublingHighMul(a, b)  as the function of this name below
//   SaturatingAdd(a, b)
//   RoundingShiftRight(x, exponent)          floor((x + 2^exponent / 2) / 2^exponent), per lane in
//                                            [0, 31]; the sum does not overflow
template <class R>
concept HasHighMul = requires(typename R::I32 a) {
  R::SaturatingRoundingDoublingHighMul(a, R::SaturatingAdd(a, a));
};

// floor((a * b + 2^30) / 2^31): the product of two numbers in units of 2^-31, to nearest, ties
// towards plus infinity. Not for a = b = -2^31, whose product 2^31 is no int32.
template <class R>
INTAGLIO_INLINE typename R::I32 RoundingDoublingHighMul(typename R::I32 a, typename R::I32 b) {
  if constexpr (HasHighMul<R>) return R::SaturatingRoundingDoublingHighMul(a, b);
  return R::template NarrowShift<31>(R::AddWide(R::MulWide(a, b), R::SetWide(int64_t{1} << 30)));
}

// The same, and 2^31 - 1 for a = b = -2^31. Arm's SQRDMULH.
template <class R>
INTAGLIO_INLINE typename R::I32 SaturatingRoundingDoublingHighMul(typename R::I32 a,
                                                                  typename R::I32 b) {
  if constexpr (HasHighMul<R>) return R::SaturatingRoundingDoublingHighMul(a, b);
  // Unsaturated, -2^31 comes from a = b = -2^31 only: |a * b| < 2^62 otherwise.
  const typename R::I32 y = RoundingDoublingHighMul<R>(a, b);
  const typename R::I32 lowest = R::Set(INT32_MIN);
  return R::Xor(y, R::And(R::Equal(a, lowest), R::Equal(b, lowest)));
}

// floor((a * b + 2^14) / 2^15) on int16, and 2^15 - 1 for a = b = -2^15.
template <class R>
INTAGLIO_INLINE typename R::I16 SaturatingRoundingDoublingHighMul16(typename R::I16 a,
                                                                    typename R::I16 b) {
  return R::SaturatingRoundingDoublingHighMul16(a, b);
}

// x / 2^exponent to nearest, ties away from zero; exponent per lane in [0, 31].
//
// The remainder of the floor, in [0, 2^exponent), is compared with one half of 2^exponent, of which
// a negative x needs one more to round towards zero. Adding the half to x first would be shorter,
// but overflows. Where an instruction does that without overflow, it is given x - 1 for a negative
// x (Jacob et al., appendix B): that takes ties down, and nothing else. -2^31, which is no tie,
// stays.
template <class R>
INTAGLIO_INLINE typename R::I32 RoundingDivideByPowerOfTwo(typename R::I32 x,
                                                           typename R::I32 exponent) {
  if constexpr (HasHighMul<R>) {
    const typename R::I32 divides = R::Sub(R::Set(0), exponent);  // negative, or 0
    const typename R::I32 fix = R::template ShiftRight<31>(R::And(x, divides));
    return R::RoundingShiftRight(R::SaturatingAdd(x, fix), exponent);
  }
  const typename R::I32 mask = R::Sub(R::ShiftLeft(R::Set(1), exponent), R::Set(1));
  const typename R::I32 remainder = R::And(x, mask);
  const typename R::I32 negative = R::template ShiftRight<31>(x);  // 0 or -1
  const typename R::I32 threshold = R::Sub(R::template ShiftRight<1>(mask), negative);
  return R::Sub(R::ShiftRight(x, exponent), R::Greater(remainder, threshold));
}

// The same by one constant in [0, 31].
template <class R, int kExponent>
INTAGLIO_INLINE typename R::I32 RoundingDivideByPowerOfTwo(typename R::I32 x) {
  static_assert(kExponent >= 0 && kExponent <= 31, "the exponent must be in [0, 31]");
  if constexpr (kExponent == 0) {
    return x;
  } else {
    constexpr int32_t kMask = static_cast<int32_t>((uint32_t{1} << kExponent) - 1);
    const typename R::I32 remainder = R::And(x, R::Set(kMask));
    const typename R::I32 negative = R::template ShiftRight<31>(x);  // 0 or -1
    const typename R::I32 threshold = R::Sub(R::Set(kMask >> 1), negative);
    return R::Sub(R::template ShiftRight<kExponent>(x), R::Greater(remainder, threshold));
  }
}

// 2^31 - 1 where the sign of x is clear, -2^31 where it is set.
template <class R>
INTAGLIO_INLINE typename R::I32 LimitOfSign(typename R::I32 x) {
  return R::Xor(R::template ShiftRight<31>(x), R::Set(INT32_MAX));
}

// x * 2^count, saturated to int32; count per lane in [0, 31].
template <class R>
INTAGLIO_INLINE typename R::I32 SaturatingShiftLeft(typename R::I32 x, typename R::I32 count) {
  const typename R::I32 y = R::ShiftLeft(x, count);
  return R::Select(R::Equal(R::ShiftRight(y, count), x), y, LimitOfSign<R>(x));
}

// The same by one constant in [0, 31].
template <class R, int kCount>
INTAGLIO_INLINE typename R::I32 SaturatingShiftLeft(typename R::I32 x) {
  static_assert(kCount >= 0 && kCount <= 31, "the count must be in [0, 31]");
  if constexpr (kCount == 0) {
    return x;
  } else {
    const typename R::I32 y = R::template ShiftLeft<kCount>(x);
    return R::Select(R::Equal(R::template ShiftRight<kCount>(y), x), y, LimitOfSign<R>(x));
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_MULTIPLY_H_
