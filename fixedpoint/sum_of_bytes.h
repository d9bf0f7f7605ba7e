// The sum of two quantized numbers of 8 bits, as TFLite's ADD and SUB have it, over any register
// vocabulary; and a cheaper arithmetic for it.
//
// With x = a - zero_a and y = b - zero_b:
//   term(x) = double rounding of x * 2^20 by a multiplier of at most 1; term(y) likewise, negated
//             by SUB
//   sum     = double rounding of term(x) + term(y) by a multiplier below 1
//
// The cheaper one is a linear function in fixed point. With a factor split into high * 2^15 + low,
// both int16, the products of both operands with either half are one DotPairs:
//   l    = low . (a, b) + addend
//   sum  = ((high . (a, b) + (l >> 15)) >> shift) + offset
// Ties go up. Where they are to go away from zero, l is less by [high . (a, b) + sign_addend < 0].
// There are only 2^16 operands: whoever uses it compares all of its results with those of the
// definition first.
#ifndef INTAGLIO_FIXEDPOINT_SUM_OF_BYTES_H_
#define INTAGLIO_FIXEDPOINT_SUM_OF_BYTES_H_

#include <cstdint>

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/fixedpoint/requantize_bounded.h"

namespace intaglio {

// Operands are bytes in [0, 255]: int8 numbers and their zero points are moved up by 128.
struct SumOfBytes {
  static constexpr int kTermShift = 20;
  static constexpr int kWordShift = 15;  // of int16 operands, which have no zero points
  static constexpr int kLowBits = 15;

  // The definition. No multiplier has a left shift.
  int32_t zero_a = 0;
  int32_t zero_b = 0;
  QuantizedMultiplier scale_a;
  QuantizedMultiplier scale_b;
  QuantizedMultiplier scale;
  bool subtract = false;

  // The linear function.
  bool linear = false;  // whether it is to be used
  bool ties_away = false;
  int32_t high = 0;  // of b in the upper half
  int32_t low = 0;
  int32_t addend = 0;
  int32_t shift = 0;
  int32_t offset = 0;  // in int16, as the sum without it
  int32_t sign_addend = 0;
};

// `sum` with a linear function near its definition, if there is one; its result before rounding is
// off by `nudge` * 2^-(15 + shift).
SumOfBytes WithLinear(SumOfBytes sum, int nudge, bool ties_away);

// The definition, with its constants made once.
template <class R, int kTermShift = SumOfBytes::kTermShift>
class DefinedSumOfBytes {
 public:
  using I32 = typename R::I32;

  explicit INTAGLIO_INLINE DefinedSumOfBytes(const SumOfBytes& s)
      : zero_a_(R::Set(s.zero_a)),
        zero_b_(R::Set(s.zero_b)),
        negate_(R::Set(s.subtract ? -1 : 0)),
        scale_a_(Scale(s.scale_a)),
        scale_b_(Scale(s.scale_b)),
        scale_(Scale(s.scale)) {}

  // Without the output's zero point.
  INTAGLIO_INLINE I32 operator()(I32 a, I32 b) const {
    const I32 x = scale_a_(R::template ShiftLeft<kTermShift>(R::Sub(a, zero_a_)));
    const I32 y = scale_b_(R::template ShiftLeft<kTermShift>(R::Sub(b, zero_b_)));
    return scale_(R::Add(x, R::Sub(R::Xor(y, negate_), negate_)));
  }

 private:
  static INTAGLIO_INLINE DoubleRoundingBounded<R> Scale(const QuantizedMultiplier& m) {
    return DoubleRoundingBounded<R>(R::Set(m.mantissa), R::Set(m.right_shift()));
  }

  I32 zero_a_;
  I32 zero_b_;
  I32 negate_;
  DoubleRoundingBounded<R> scale_a_;
  DoubleRoundingBounded<R> scale_b_;
  DoubleRoundingBounded<R> scale_;
};

// acc + DotPairs(a, b), which some vocabularies have in one.
template <class R>
INTAGLIO_INLINE typename R::I32 AddDotPairs(typename R::I32 acc, typename R::I32 a,
                                            typename R::I32 b) {
  if constexpr (requires { R::AddDotPairs(acc, a, b); }) {
    return R::AddDotPairs(acc, a, b);
  } else {
    return R::Add(acc, R::DotPairs(a, b));
  }
}

template <class R, bool kTiesAway>
class LinearSumOfBytes {
 public:
  using I32 = typename R::I32;

  explicit INTAGLIO_INLINE LinearSumOfBytes(const SumOfBytes& s)
      : high_(R::Set(s.high)),
        low_(R::Set(s.low)),
        addend_(R::Set(s.addend)),
        sign_addend_(R::Set(s.sign_addend)),
        shift_(R::Set(s.shift)) {}

  // Without the offset.
  INTAGLIO_INLINE I32 operator()(I32 a, I32 b) const {
    return OfPairs(R::Or(a, R::template ShiftLeft<16>(b)));
  }

  // With b in the upper half of each lane.
  INTAGLIO_INLINE I32 OfPairs(I32 pairs) const {
    I32 l = AddDotPairs<R>(addend_, pairs, low_);
    if constexpr (kTiesAway) {
      l = R::Add(l, R::template ShiftRight<31>(AddDotPairs<R>(sign_addend_, pairs, high_)));
    }
    const I32 carry = R::template ShiftRight<SumOfBytes::kLowBits>(l);
    return R::ShiftRight(AddDotPairs<R>(carry, pairs, high_), shift_);
  }

 private:
  I32 high_;
  I32 low_;
  I32 addend_;
  I32 sign_addend_;
  I32 shift_;
};

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_SUM_OF_BYTES_H_
