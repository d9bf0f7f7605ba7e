// Requantization: an int32 accumulator times a positive real, back to int32. The three named modes
// differ in their rounding; each is written here, and only here, over any register vocabulary R,
// and gives the same bits on all of them for every int32 accumulator.
//
// The names ending in Bounded give the same bits again, in fewer instructions, where the caller can
// promise something about the accumulator or the multiplier.
#ifndef INTAGLIO_FIXEDPOINT_REQUANTIZE_H_
#define INTAGLIO_FIXEDPOINT_REQUANTIZE_H_

#include <cstdint>

#include "intaglio/fixedpoint/multiply.h"
#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

enum class RequantMode : uint8_t {
  kDoubleRounding,  // gemmlowp, and TFLite as it is usually built
  kSingleRounding,  // TFLite built with TFLITE_SINGLE_ROUNDING
  kFloatHalfEven,   // ONNX QLinear operators and QuantizeLinear
};

// The real number mantissa * 2^(exponent - 31). The mantissa is 0 or in [2^30, 2^31), the exponent
// in [-31, 30]. QuantizeMultiplier (quantize_multiplier.h) makes one.
struct QuantizedMultiplier {
  int32_t mantissa = 0;
  int32_t exponent = 0;

  // What the modes take, each in the range they ask for.
  INTAGLIO_INLINE constexpr int32_t left_shift() const { return exponent > 0 ? exponent : 0; }
  INTAGLIO_INLINE constexpr int32_t right_shift() const { return exponent > 0 ? 0 : -exponent; }
  INTAGLIO_INLINE constexpr int32_t total_shift() const { return 31 - exponent; }
};

// RoundingDivideByPowerOfTwo(RoundingDoublingHighMul(saturated acc * 2^left_shift, mantissa),
// right_shift), with left_shift in [0, 30], right_shift in [0, 31], and one of them 0.
// TFLite leaves an overflow of the left shift undefined.
template <class R>
INTAGLIO_INLINE typename R::I32 RequantizeDoubleRounding(typename R::I32 acc,
                                                         typename R::I32 mantissa,
                                                         typename R::I32 left_shift,
                                                         typename R::I32 right_shift) {
  const typename R::I32 shifted = SaturatingShiftLeft<R>(acc, left_shift);
  const typename R::I32 product = RoundingDoublingHighMul<R>(shifted, mantissa);
  return RoundingDivideByPowerOfTwo<R>(product, right_shift);
}

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

// floor((acc * mantissa + 2^(total_shift - 1)) / 2^total_shift), saturated to int32; total_shift in
// [1, 62].
template <class R>
INTAGLIO_INLINE typename R::I32 RequantizeSingleRounding(typename R::I32 acc,
                                                         typename R::I32 mantissa,
                                                         typename R::I32 total_shift) {
  const typename R::I32 shift_less_1 = R::Sub(total_shift, R::Set(1));
  const typename R::I64 sum =
      R::AddWide(R::MulWide(acc, mantissa), R::PowerOfTwoWide(shift_less_1));
  // The quotient q fits where sum / 2^(31 + total_shift), floored, is 0 or -1.
  const typename R::I32 high = R::template NarrowShift<32>(sum);
  const typename R::I32 above = R::ShiftRight(high, R::Min(shift_less_1, R::Set(31)));
  const typename R::I32 fits = R::Equal(above, R::template ShiftRight<31>(high));
  return R::Select(fits, R::NarrowShift(sum, total_shift), LimitOfSign<R>(high));
}

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

// The float32 product float32(acc) * scale, both steps rounded to nearest, ties to even; then
// clamped to [-2^31, 2^31 - 128], whose ends are the outermost float32 that an int32 can hold; then
// rounded to an integer, ties to even. The scale is finite. Instructions that round what no int32
// holds to INT32_MIN (kRoundsBelowToLowest, of x86) need no lower clamp.
template <class R>
INTAGLIO_INLINE typename R::I32 RequantizeFloatHalfEven(typename R::I32 acc,
                                                        typename R::F32 scale) {
  const typename R::F32 product = R::MulF(R::ToFloat(acc), scale);
  const typename R::F32 capped = R::MinF(product, R::SetF(2147483520.0f));
  if constexpr (requires { R::kRoundsBelowToLowest; }) return R::RoundToInt(capped);
  return R::RoundToInt(R::MaxF(capped, R::SetF(-2147483648.0f)));
}

// RequantizeFloatHalfEven where -2^31 <= float32(acc) * scale < 2^31.
template <class R>
INTAGLIO_INLINE typename R::I32 RequantizeFloatHalfEvenBounded(typename R::I32 acc,
                                                               typename R::F32 scale) {
  return R::RoundToInt(R::MulF(R::ToFloat(acc), scale));
}

// One accumulator in the given mode. kFloatHalfEven looks at the scale, the others at the
// multiplier.
INTAGLIO_INLINE int32_t RequantizeScalar(RequantMode mode, int32_t acc,
                                         QuantizedMultiplier multiplier, float scale) {
  switch (mode) {
    case RequantMode::kDoubleRounding:
      return RequantizeDoubleRounding<Scalar>(acc, multiplier.mantissa, multiplier.left_shift(),
                                              multiplier.right_shift());
    case RequantMode::kSingleRounding:
      return RequantizeSingleRounding<Scalar>(acc, multiplier.mantissa, multiplier.total_shift());
    case RequantMode::kFloatHalfEven:
      return RequantizeFloatHalfEven<Scalar>(acc, scale);
  }
  return 0;
}

}  // namespace intaglio

#endif  // INTAGLIO_FIXEDPOINT_REQUANTIZE_H_
