// The requantization modes (requantize.h) once more: the same bits, in fewer instructions, where
// the caller can promise something about the accumulator or the multiplier.
#ifndef INTAGLIO_FIXEDPOINT_REQUANTIZE_BOUNDED_H_
#define INTAGLIO_FIXEDPOINT_REQUANTIZE_BOUNDED_H_

#include <cstdint>

#include "intaglio/fixedpoint/multiply.h"
#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

// RequantizeDoubleRounding for -2^30 <= acc < 2^30 and no left shift, with its constants made once.
//
// With p = acc * mantissa, h = floor((p + 2^30) / 2^31) and e = right_shift >= 1, dividing h by 2^e
// with ties away from zero is floor((h + 2^(e-1) - [h < 0]) / 2^e). Floors nest, so the whole is
//   floor((2p + 2^31 + 2^(31+e) - [h < 0] * 2^32) / 2^(32+e)).
// [acc < 0] may stand for [h < 0]: they differ only where h = 0, which either way gives 0. The high
// word of 2p + 2^31 + 2^(31+e) is all that the last two terms need. For e = 0 the terms of 2^(31+e)
// and of the sign are to vanish, the latter by a logical right shift by 32.
// Nothing overflows: |2p| <= 2^31 * (2^31 - 1), and the constant is at most 2^62 + 2^31.
template <class R>
class DoubleRoundingBounded {
 public:
  using I32 = typename R::I32;

  // right_shift in [0, 31].
  INTAGLIO_INLINE DoubleRoundingBounded(I32 mantissa, I32 right_shift)
      : mantissa_(mantissa),
        right_shift_(right_shift),
        sign_shift_(R::Sub(R::Set(31), R::Equal(right_shift, R::Set(0)))),
        rounding_(R::JoinWide(HalfOfPowerOfTwo(right_shift), R::Set(INT32_MIN))) {}

  INTAGLIO_INLINE I32 operator()(I32 acc) const {
    const typename R::I64 product = R::MulWide(R::Add(acc, acc), mantissa_);
    const I32 high = R::template NarrowShift<32>(R::AddWide(product, rounding_));
    return R::ShiftRight(R::Sub(high, R::ShiftRightLogical(acc, sign_shift_)), right_shift_);
  }

 private:
  // floor(2^exponent / 2), exponent in [0, 31].
  static INTAGLIO_INLINE I32 HalfOfPowerOfTwo(I32 exponent) {
    return R::ShiftRightLogical(R::ShiftLeft(R::Set(1), exponent), R::Set(1));
  }

  I32 mantissa_;
  I32 right_shift_;
  I32 sign_shift_;  // 31, or 32 where right_shift is 0
  typename R::I64 rounding_;
};

// The same by Arm's instructions: h rounds to nearest, and so does its division by 2^e, of ties
// towards plus infinity; [acc < 0] as above.
template <class R>
requires HasHighMul<R>
class DoubleRoundingBounded<R> {
 public:
  using I32 = typename R::I32;

  INTAGLIO_INLINE DoubleRoundingBounded(I32 mantissa, I32 right_shift)
      : mantissa_(mantissa),
        right_shift_(right_shift),
        divides_(R::Greater(right_shift, R::Set(0))) {}

  INTAGLIO_INLINE I32 operator()(I32 acc) const {
    const I32 high = R::SaturatingRoundingDoublingHighMul(acc, mantissa_);
    const I32 negative = R::template ShiftRight<31>(R::And(acc, divides_));  // 0 or -1
    return R::RoundingShiftRight(R::Add(high, negative), right_shift_);
  }

 private:
  I32 mantissa_;
  I32 right_shift_;
  I32 divides_;  // a mask
};

// RequantizeSingleRounding for total_shift in [32, 62], that is a multiplier below one half, and
// any acc, with its constants made once. Then |quotient| < 2^31, and the quotient is one of the
// high word of the sum alone.
template <class R>
class SingleRoundingBounded {
 public:
  using I32 = typename R::I32;

  INTAGLIO_INLINE SingleRoundingBounded(I32 mantissa, I32 total_shift)
      : mantissa_(mantissa),
        high_shift_(R::Sub(total_shift, R::Set(32))),
        rounding_(R::PowerOfTwoWide(R::Sub(total_shift, R::Set(1)))) {}

  INTAGLIO_INLINE I32 operator()(I32 acc) const {
    const typename R::I64 sum = R::AddWide(R::MulWide(acc, mantissa_), rounding_);
    return R::ShiftRight(R::template NarrowShift<32>(sum), high_shift_);
  }

 private:
  I32 mantissa_;
  I32 high_shift_;
  typename R::I64 rounding_;
};

// The same by Arm's instructions: floors nest, so the rounding may follow the floor of the product
// by 2^31.
template <class R>
requires HasHighMul<R>
class SingleRoundingBounded<R> {
 public:
  using I32 = typename R::I32;

  INTAGLIO_INLINE SingleRoundingBounded(I32 mantissa, I32 total_shift)
      : mantissa_(mantissa), shift_(R::Sub(total_shift, R::Set(31))) {}

  INTAGLIO_INLINE I32 operator()(I32 acc) const {
    return R::RoundingShiftRight(R::SaturatingDoublingHighMul(acc, mantissa_), shift_);
  }

 private:
  I32 mantissa_;
  I32 shift_;
};

// RequantizeFloatHalfEven where -2^31 <= float32(acc) * scale < 2^31.
template <class R>
INTAGLIO_INLINE typename R::I32 RequantizeFloatHalfEvenBounded(typename R::I32 acc,
                                                               typename R::F32 scale) {
  return R::RoundToInt(R::MulF(R::ToFloat(acc), scale));
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_REQUANTIZE_BOUNDED_H_
