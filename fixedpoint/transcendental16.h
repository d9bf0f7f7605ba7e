// The logistic function and tanh of int16, in the bits of gemmlowp's on int16, on which TFLite's
// integer LSTM rests. The steps are those of transcendental.h on half as many bits; nothing else of
// them carries over, because every step rounds. Written without branches, for compilers to
// vectorize loops over many numbers.
#ifndef INTAGLIO_FIXEDPOINT_TRANSCENDENTAL16_H_
#define INTAGLIO_FIXEDPOINT_TRANSCENDENTAL16_H_

#include <algorithm>
#include <cstdint>

#include "intaglio/fixedpoint/multiply.h"
#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// Numbers are int16 held in int32. "Qm" below counts units of 2^(m - 15).
namespace q15 {

inline constexpr int32_t kOne = 32767;  // of Q0, nearly

INTAGLIO_INLINE int32_t Wrap(int32_t x) { return static_cast<int16_t>(x); }
// Not std::clamp, whose references g++ 12 does not vectorize.
INTAGLIO_INLINE int32_t Saturate(int32_t x) { return x < -32768 ? -32768 : x > 32767 ? 32767 : x; }
// A constant of transcendental.h, rounded to 16 bits.
constexpr int32_t Constant(int32_t q31) { return (q31 + (1 << 15)) >> 16; }
// floor((a * b + 2^14) / 2^15), which fits unless both are -2^15. The casts let compilers multiply
// int16.
INTAGLIO_INLINE int32_t MultiplyBounded(int32_t a, int32_t b) {
  return (int32_t{static_cast<int16_t>(a)} * static_cast<int16_t>(b) + (1 << 14)) >> 15;
}
INTAGLIO_INLINE int32_t Multiply(int32_t a, int32_t b) { return Saturate(MultiplyBounded(a, b)); }
template <int kExponent>
INTAGLIO_INLINE int32_t Divide(int32_t x) {
  return RoundingDivideByPowerOfTwo<Scalar, kExponent>(x);
}

// exp(a) for a in [-1/4, 0), Q0.
INTAGLIO_INLINE int32_t ExpFromMinusQuarterToZero(int32_t a) {
  const int32_t x = a + (1 << 12);
  const int32_t x2 = Multiply(x, x);
  const int32_t x3 = Multiply(x2, x);
  const int32_t x4 = Multiply(x2, x2);
  const int32_t cubic_and_quartic = Multiply(Divide<2>(x4) + x3, Constant(715827883));
  const int32_t terms = x + Divide<1>(cubic_and_quartic + x2);
  constexpr int32_t kExpMinusEighth = Constant(1895147668);
  return Saturate(kExpMinusEighth + Multiply(kExpMinusEighth, terms));
}

// exp(-2^k) for k from -2.
inline constexpr int32_t kExpFactors[] = {
    Constant(1672461947), Constant(1302514674), Constant(790015084), Constant(290630308),
    Constant(39332535),   Constant(720401),     Constant(242)};
constexpr int FactorBits(int integers) { return integers < 5 ? integers : 5; }
// 1/4 in Q kIntegers, or its least step.
constexpr int32_t QuarterOf(int integers) { return integers <= 13 ? 1 << (13 - integers) : 1; }

// exp(a) for a <= 0 in Q kIntegers, as Q0.
template <int kIntegers>
INTAGLIO_INLINE int32_t ExpOnNegativeValues(int32_t a) {
  constexpr int kFraction = 15 - kIntegers;
  constexpr int32_t kQuarter = QuarterOf(kIntegers);
  constexpr int kBits = FactorBits(kIntegers);
  const int32_t rest = (a & (kQuarter - 1)) - kQuarter;
  const int32_t negated = Wrap(rest - a);
  int32_t result = ExpFromMinusQuarterToZero(rest * (1 << kIntegers));
  INTAGLIO_UNROLL
  for (int k = -2; k < kBits; ++k) {
    const int32_t times = Multiply(result, kExpFactors[k + 2]);
    result = (negated >> (kFraction + k) & 1) != 0 ? times : result;
  }
  if constexpr (kIntegers > 5) result = a < -(1 << (kFraction + 5)) ? 0 : result;
  return a == 0 ? kOne : result;
}

// exps[i] = exp(-(i + 1)) for i in [0, 2^15): those of a bit more are those without it, times
// its factor. kIntegers in [0, 13].
template <int kIntegers>
inline void AllExpsOnNegativeValues(int16_t* exps) {
  int32_t done = QuarterOf(kIntegers);
  for (int32_t i = 0; i < done; ++i) {
    exps[i] = static_cast<int16_t>(ExpFromMinusQuarterToZero(-(i + 1) * (1 << kIntegers)));
  }
  for (int k = -2; k < FactorBits(kIntegers); ++k, done *= 2) {
    int16_t* const more = exps + done;
    for (int32_t i = 0; i < done; ++i) {
      more[i] = static_cast<int16_t>(Multiply(exps[i], kExpFactors[k + 2]));
    }
  }
  std::fill(exps + done, exps + 0x8000, int16_t{0});
}

// 2 / (1 + a) in Q2 for a in [0, 1) in Q0, by Newton-Raphson steps. None of them saturates, nor do
// the products, one factor of which is positive.
INTAGLIO_INLINE int32_t TwoOverOnePlusX(int32_t a) {
  const int32_t half = (a + kOne + 1) >> 1;
  int32_t x = Constant(1515870810) + MultiplyBounded(half, Constant(-1010580540));
  INTAGLIO_UNROLL
  for (int step = 0; step < 3; ++step) {
    const int32_t rest = (1 << 13) - MultiplyBounded(half, x);
    x += MultiplyBounded(x, rest) * 4;
  }
  return x;
}

// The functions of x > 0, given exp(-x), and exp(-2 x) for tanh, in Q0.
INTAGLIO_INLINE int32_t LogisticByExp(int32_t e) { return Saturate(TwoOverOnePlusX(e) * 2); }
INTAGLIO_INLINE int32_t TanhByExp(int32_t e) {
  return Saturate((TwoOverOnePlusX(e) - (1 << 13)) * 4);
}

}  // namespace q15

// 1 / (1 + exp(-x)), from Q kIntegers to Q0, units of 2^-15; within 7 units for Q3, measured over
// every x.
template <int kIntegers>
INTAGLIO_INLINE int16_t Logistic16(int16_t x) {
  const int32_t negative = q15::Wrap(x > 0 ? -x : x);
  const int32_t e = q15::ExpOnNegativeValues<kIntegers>(negative);
  const int32_t upper = q15::LogisticByExp(e);
  const int32_t result = x > 0 ? upper : q15::kOne - upper;
  return static_cast<int16_t>(x == 0 ? 1 << 14 : result);
}

// tanh(x), from Q kIntegers to Q0, within 13 units for kIntegers in [0, 6].
template <int kIntegers>
INTAGLIO_INLINE int16_t Tanh16(int16_t x) {
  const int32_t negative = q15::Wrap(x < 0 ? x : -x);
  const int32_t e = q15::ExpOnNegativeValues<kIntegers + 1>(negative);
  const int32_t magnitude = q15::TanhByExp(e);
  const int32_t result = x < 0 ? -magnitude : magnitude;
  return static_cast<int16_t>(x == 0 ? 0 : result);
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_TRANSCENDENTAL16_H_
