// Requantization: an int32 accumulator times a positive real, back to int32. The three named modes
// differ in their rounding; each is written here, and only here, over any register vocabulary R,
// and gives the same bits on all of them for every int32 accumulator.
//
// requantize_bounded.h has cheaper forms of them for accumulators or multipliers within bounds.
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
