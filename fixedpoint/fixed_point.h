// Fixed-point numbers whose position of the binary point is part of their type.
#ifndef INTAGLIO_FIXEDPOINT_FIXED_POINT_H_
#define INTAGLIO_FIXEDPOINT_FIXED_POINT_H_

#include <cstdint>

#include "intaglio/fixedpoint/multiply.h"
#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// In every lane of R a number of [-2^kIntegers, 2^kIntegers) in units of 2^-kFractionBits: one sign
// bit, kIntegers integer bits, the rest fraction. Sums and differences wrap modulo 2^32.
template <class R, int kIntegers>
class FixedPoint {
 public:
  static constexpr int kIntegerBits = kIntegers;
  static constexpr int kFractionBits = 31 - kIntegers;
  static_assert(kIntegers >= 0 && kIntegers <= 31, "integer and fraction bits together are 31");

  using Raw = typename R::I32;

  static INTAGLIO_INLINE FixedPoint FromRaw(Raw raw) {
    FixedPoint x;
    x.raw_ = raw;
    return x;
  }
  // The same number in every lane, in units of 2^-kFractionBits.
  static INTAGLIO_INLINE FixedPoint Constant(int32_t raw) { return FromRaw(R::Set(raw)); }
  static INTAGLIO_INLINE FixedPoint Zero() { return Constant(0); }
  // 1, or the largest number below 1 where 1 does not fit.
  static INTAGLIO_INLINE FixedPoint One() {
    if constexpr (kIntegers == 0) {
      return Constant(INT32_MAX);
    } else {
      return PowerOfTwo<0>();
    }
  }
  template <int kExponent>
  static INTAGLIO_INLINE FixedPoint PowerOfTwo() {
    constexpr int kBit = kFractionBits + kExponent;
    static_assert(kBit >= 0 && kBit <= 30, "this power of two does not fit this type");
    return Constant(int32_t{1} << kBit);
  }

  INTAGLIO_INLINE Raw raw() const { return raw_; }

 private:
  Raw raw_;
};

template <class R, int kIntegers>
INTAGLIO_INLINE FixedPoint<R, kIntegers> operator+(FixedPoint<R, kIntegers> a,
                                                   FixedPoint<R, kIntegers> b) {
  return FixedPoint<R, kIntegers>::FromRaw(R::Add(a.raw(), b.raw()));
}

template <class R, int kIntegers>
INTAGLIO_INLINE FixedPoint<R, kIntegers> operator-(FixedPoint<R, kIntegers> a,
                                                   FixedPoint<R, kIntegers> b) {
  return FixedPoint<R, kIntegers>::FromRaw(R::Sub(a.raw(), b.raw()));
}

template <class R, int kIntegers>
INTAGLIO_INLINE FixedPoint<R, kIntegers> operator-(FixedPoint<R, kIntegers> a) {
  return FixedPoint<R, kIntegers>::FromRaw(R::Sub(R::Set(0), a.raw()));
}

// Rounds to nearest, ties towards plus infinity; saturates where both are the least of their type.
template <class R, int kA, int kB>
INTAGLIO_INLINE FixedPoint<R, kA + kB> operator*(FixedPoint<R, kA> a, FixedPoint<R, kB> b) {
  return FixedPoint<R, kA + kB>::FromRaw(SaturatingRoundingDoublingHighMul<R>(a.raw(), b.raw()));
}

// The same of two numbers one of which is not the least of its type.
template <class R, int kA, int kB>
INTAGLIO_INLINE FixedPoint<R, kA + kB> UnsaturatedProduct(FixedPoint<R, kA> a,
                                                          FixedPoint<R, kB> b) {
  return FixedPoint<R, kA + kB>::FromRaw(RoundingDoublingHighMul<R>(a.raw(), b.raw()));
}

// Lanes of a where the mask is -1, of b where it is 0.
template <class R, int kIntegers>
INTAGLIO_INLINE FixedPoint<R, kIntegers> Select(typename R::I32 mask, FixedPoint<R, kIntegers> a,
                                                FixedPoint<R, kIntegers> b) {
  return FixedPoint<R, kIntegers>::FromRaw(R::Select(mask, a.raw(), b.raw()));
}

// x * 2^-kExponent, rounded to nearest, ties away from zero; kExponent in [0, 31].
template <int kExponent, class R, int kIntegers>
INTAGLIO_INLINE FixedPoint<R, kIntegers> RoundingDivideByPowerOfTwo(FixedPoint<R, kIntegers> x) {
  return FixedPoint<R, kIntegers>::FromRaw(RoundingDivideByPowerOfTwo<R, kExponent>(x.raw()));
}

// x * 2^kExponent, exactly: the same bits in another type.
template <int kExponent, class R, int kIntegers>
INTAGLIO_INLINE FixedPoint<R, kIntegers + kExponent> ExactMultiplyByPowerOfTwo(
    FixedPoint<R, kIntegers> x) {
  return FixedPoint<R, kIntegers + kExponent>::FromRaw(x.raw());
}

// The same number in another type, rounded to nearest, ties away from zero, or saturated.
template <int kTo, class R, int kFrom>
INTAGLIO_INLINE FixedPoint<R, kTo> Rescale(FixedPoint<R, kFrom> x) {
  if constexpr (kTo >= kFrom) {
    return FixedPoint<R, kTo>::FromRaw(RoundingDivideByPowerOfTwo<R, kTo - kFrom>(x.raw()));
  } else {
    return FixedPoint<R, kTo>::FromRaw(SaturatingShiftLeft<R, kFrom - kTo>(x.raw()));
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_FIXED_POINT_H_
