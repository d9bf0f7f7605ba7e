// exp, logistic and tanh in fixed point, without tables, branches or division (Jacob et al.,
// appendix A.1). One source for every register vocabulary; the bits are gemmlowp's, on which
// TFLite's reference kernels rest.
//
// No product has two factors of -1: all are of numbers within [-1/4, 1/4], or one is a constant or
// positive.
//
// "Within n units" is the largest distance from the real function over every input, measured, in
// units of the result's last place, 2^-31.
#ifndef INTAGLIO_FIXEDPOINT_TRANSCENDENTAL_H_
#define INTAGLIO_FIXEDPOINT_TRANSCENDENTAL_H_

#include "intaglio/fixedpoint/fixed_point.h"
#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

namespace internal {

// exp(a) for a in [-1/4, 0): the Taylor polynomial of degree 4 about -1/8,
//   exp(-1/8) * (1 + x + x^2/2 + x^3/6 + x^4/24),  x = a + 1/8,
// whose last three terms are evaluated as ((x^4/4 + x^3) / 3 + x^2) / 2.
template <class R>
INTAGLIO_INLINE FixedPoint<R, 0> ExpFromMinusQuarterToZero(FixedPoint<R, 0> a) {
  using F0 = FixedPoint<R, 0>;
  const F0 exp_minus_eighth = F0::Constant(1895147668);
  const F0 third = F0::Constant(715827883);
  const F0 x = a + F0::template PowerOfTwo<-3>();
  const F0 x2 = UnsaturatedProduct(x, x);
  const F0 x3 = UnsaturatedProduct(x2, x);
  const F0 x4 = UnsaturatedProduct(x2, x2);
  const F0 cubic_and_quartic = UnsaturatedProduct(RoundingDivideByPowerOfTwo<2>(x4) + x3, third);
  const F0 terms = x + RoundingDivideByPowerOfTwo<1>(cubic_and_quartic + x2);
  return exp_minus_eighth + UnsaturatedProduct(exp_minus_eighth, terms);
}

// `result` times exp(-2^kExponent), given by its raw value, where `negated` has the bit
// 2^kExponent.
template <int kExponent, int kIntegers, class R>
INTAGLIO_INLINE FixedPoint<R, 0> ExpOfBit(FixedPoint<R, 0> result, FixedPoint<R, kIntegers> negated,
                                          int32_t factor) {
  if constexpr (kExponent < kIntegers) {
    using F = FixedPoint<R, kIntegers>;
    const typename R::I32 bit = R::And(negated.raw(), F::template PowerOfTwo<kExponent>().raw());
    const auto product = UnsaturatedProduct(result, FixedPoint<R, 0>::Constant(factor));
    return Select(R::Equal(bit, R::Set(0)), result, product);
  } else {
    return result;
  }
}

// With d = (1 + a) / 2 in [1/2, 1), 1/d in units of 2^-29 by three Newton-Raphson steps
// x += x (1 - d x) from the usual linear start 48/17 - 32/17 d.
template <class R>
INTAGLIO_INLINE FixedPoint<R, 2> TwoOverOnePlusX(FixedPoint<R, 0> a) {
  using F0 = FixedPoint<R, 0>;
  using F2 = FixedPoint<R, 2>;
  // (a + 1) / 2 rounded up, 1 being 2^31 - 1 units here.
  const F0 half =
      F0::FromRaw(R::Add(R::template ShiftRight<1>(a.raw()), F0::template PowerOfTwo<-1>().raw()));
  F2 x = F2::Constant(1515870810) + UnsaturatedProduct(half, F2::Constant(-1010580540));
  for (int step = 0; step < 3; ++step) {
    // At most 1/17 of x, which times 4 does not overflow.
    const auto change = UnsaturatedProduct(x, F2::One() - UnsaturatedProduct(half, x));
    x = x + F2::FromRaw(R::template ShiftLeft<2>(change.raw()));
  }
  return x;
}

}  // namespace internal

// exp(a) for a <= 0, within 493 units; exp(0) is the largest number below 1. Positive a give no
// meaningful result.
//
// a is split into -2^4 .. -2^-2 times bits and a rest in [-1/4, 0); the factors exp(-2^k) of the
// bits set multiply the polynomial of the rest, whose error is nearly all there is. Numbers below
// -32 give 0.
template <class R, int kIntegers>
INTAGLIO_INLINE FixedPoint<R, 0> ExpOnNegativeValues(FixedPoint<R, kIntegers> a) {
  using F = FixedPoint<R, kIntegers>;
  using F0 = FixedPoint<R, 0>;
  const F quarter = F::template PowerOfTwo<-2>();
  const F mask = quarter - F::Constant(1);
  const F rest = F::FromRaw(R::And(a.raw(), mask.raw())) - quarter;
  const F negated = rest - a;  // a multiple of 1/4
  F0 result = internal::ExpFromMinusQuarterToZero(Rescale<0>(rest));
  result = internal::ExpOfBit<-2>(result, negated, 1672461947);
  result = internal::ExpOfBit<-1>(result, negated, 1302514674);
  result = internal::ExpOfBit<0>(result, negated, 790015084);
  result = internal::ExpOfBit<1>(result, negated, 290630308);
  result = internal::ExpOfBit<2>(result, negated, 39332535);
  result = internal::ExpOfBit<3>(result, negated, 720401);
  result = internal::ExpOfBit<4>(result, negated, 242);
  if constexpr (kIntegers > 5) {
    const F minus_32 = -F::template PowerOfTwo<5>();
    result = Select(R::Greater(minus_32.raw(), a.raw()), F0::Zero(), result);
  }
  return Select(R::Equal(a.raw(), R::Set(0)), F0::One(), result);
}

// 1 / (1 + a) for a in [0, 1), within 7 units.
template <class R>
INTAGLIO_INLINE FixedPoint<R, 0> OneOverOnePlusX(FixedPoint<R, 0> a) {
  return Rescale<0>(ExactMultiplyByPowerOfTwo<-1>(internal::TwoOverOnePlusX(a)));
}

// (1 - a) / (1 + a) for a in [0, 1), within 14 units.
template <class R>
INTAGLIO_INLINE FixedPoint<R, 0> OneMinusXOverOnePlusX(FixedPoint<R, 0> a) {
  return Rescale<0>(internal::TwoOverOnePlusX(a) - FixedPoint<R, 2>::One());
}

// 1 / (1 + exp(-a)), within 154 units.
template <class R, int kIntegers>
INTAGLIO_INLINE FixedPoint<R, 0> Logistic(FixedPoint<R, kIntegers> a) {
  using F0 = FixedPoint<R, 0>;
  const typename R::I32 zero = R::Set(0);
  const typename R::I32 positive = R::Greater(a.raw(), zero);
  const F0 upper = OneOverOnePlusX(ExpOnNegativeValues(Select(positive, -a, a)));
  const F0 result = Select(positive, upper, F0::One() - upper);
  return Select(R::Equal(a.raw(), zero), F0::template PowerOfTwo<-1>(), result);
}

// tanh(a) = sign(a) (1 - e) / (1 + e) with e = exp(-2 |a|), within 308 units.
template <class R, int kIntegers>
INTAGLIO_INLINE FixedPoint<R, 0> Tanh(FixedPoint<R, kIntegers> a) {
  using F0 = FixedPoint<R, 0>;
  const typename R::I32 zero = R::Set(0);
  const typename R::I32 negative = R::Greater(zero, a.raw());
  const auto minus_twice = ExactMultiplyByPowerOfTwo<1>(Select(negative, a, -a));
  const F0 magnitude = OneMinusXOverOnePlusX(ExpOnNegativeValues(minus_twice));
  const F0 result = Select(negative, -magnitude, magnitude);
  return Select(R::Equal(a.raw(), zero), F0::Zero(), result);
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_TRANSCENDENTAL_H_
