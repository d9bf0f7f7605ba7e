// The output stages of the library. A stage is a plain struct with its parameters and one
// operation:
//
//   template <class R>
//   typename R::I32 Apply(typename R::I32 x, const Place& at) const;
//
// on a vector of R::kLanes values of the register vocabulary R at a known place of the result. A
// stage may also take or give R::F32. Yours are written the same way: examples/custom_stage has
// one.
//
// A stage that is part of the standard pipeline says so by kPosition, its place in the standard
// order, and by AddTo, which notes its parameters and returns false where they do not fit those
// already noted.
#ifndef INTAGLIO_PIPELINE_STAGES_H_
#define INTAGLIO_PIPELINE_STAGES_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/fixedpoint/transcendental.h"
#include "intaglio/fixedpoint/type.h"
#include "intaglio/pipeline/place.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio {

enum class StandardPosition { kBias, kScaling, kZeroPoint, kClamp, kCast };

// The standard pipeline while stages note themselves in it.
struct StandardBuilder {
  StandardPipeline pipeline;
  bool has_axis = false;

  // All per-channel parameters of a standard pipeline run along one axis.
  bool Along(Axis axis) {
    const bool fits = !has_axis || pipeline.axis == axis;
    pipeline.axis = axis;
    has_axis = true;
    return fits;
  }
};

// The fixed-point modes of RequantMode. The float one has stages of its own.
enum class Rounding : uint8_t { kDouble, kSingle };

constexpr Scaling ScalingOf(Rounding rounding) {
  return rounding == Rounding::kDouble ? Scaling::kDoubleRounding : Scaling::kSingleRounding;
}

// x + bias[channel], modulo 2^32.
struct AddBias {
  const int32_t* bias;
  Axis axis = Axis::kCols;

  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place& at) const {
    return R::Add(x, LoadAlong<R>(bias, axis, at));
  }
  static constexpr auto kPosition = StandardPosition::kBias;
  bool AddTo(StandardBuilder& b) const {
    b.pipeline.bias = bias;
    return b.Along(axis);
  }
};

// x * mantissa * 2^(exponent - 31), rounded by one of the two fixed-point modes.
struct Requantize {
  QuantizedMultiplier multiplier;
  Rounding rounding = Rounding::kDouble;

  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place&) const {
    const auto mantissa = R::Set(multiplier.mantissa);
    if (rounding == Rounding::kSingle) {
      return RequantizeSingleRounding<R>(x, mantissa, R::Set(multiplier.total_shift()));
    }
    return RequantizeDoubleRounding<R>(x, mantissa, R::Set(multiplier.left_shift()),
                                       R::Set(multiplier.right_shift()));
  }
  static constexpr auto kPosition = StandardPosition::kScaling;
  bool AddTo(StandardBuilder& b) const {
    b.pipeline.scaling = ScalingOf(rounding);
    b.pipeline.mantissa = &multiplier.mantissa;
    b.pipeline.exponent = &multiplier.exponent;
    return true;
  }
};

// The same with a multiplier per channel.
struct RequantizeChannels {
  const int32_t* mantissa;
  const int32_t* exponent;
  Axis axis = Axis::kCols;
  Rounding rounding = Rounding::kDouble;

  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place& at) const {
    const auto m = LoadAlong<R>(mantissa, axis, at);
    const auto e = LoadAlong<R>(exponent, axis, at);
    const auto zero = R::Set(0);
    if (rounding == Rounding::kSingle) {
      return RequantizeSingleRounding<R>(x, m, R::Sub(R::Set(31), e));
    }
    return RequantizeDoubleRounding<R>(x, m, R::Max(e, zero), R::Max(R::Sub(zero, e), zero));
  }
  static constexpr auto kPosition = StandardPosition::kScaling;
  bool AddTo(StandardBuilder& b) const {
    b.pipeline.scaling = ScalingOf(rounding);
    b.pipeline.mantissa = mantissa;
    b.pipeline.exponent = exponent;
    b.pipeline.per_channel = true;
    return b.Along(axis);
  }
};

// float32(x) * scale rounded to an integer, ties to even, saturated (RequantMode::kFloatHalfEven).
struct RequantizeFloat {
  float scale;

  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place&) const {
    return RequantizeFloatHalfEven<R>(x, R::SetF(scale));
  }
  static constexpr auto kPosition = StandardPosition::kScaling;
  bool AddTo(StandardBuilder& b) const {
    b.pipeline.scaling = Scaling::kFloatHalfEven;
    b.pipeline.scale = &scale;
    return true;
  }
};
struct RequantizeFloatChannels {
  const float* scale;
  Axis axis = Axis::kCols;

  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place& at) const {
    return RequantizeFloatHalfEven<R>(x, LoadAlong<R>(scale, axis, at));
  }
  static constexpr auto kPosition = StandardPosition::kScaling;
  bool AddTo(StandardBuilder& b) const {
    b.pipeline.scaling = Scaling::kFloatHalfEven;
    b.pipeline.scale = scale;
    b.pipeline.per_channel = true;
    return b.Along(axis);
  }
};

// float32(x) * scale, kept as float32.
struct ScaleToFloat {
  float scale;

  template <class R>
  INTAGLIO_INLINE typename R::F32 Apply(typename R::I32 x, const Place&) const {
    return R::MulF(R::ToFloat(x), R::SetF(scale));
  }
  static constexpr auto kPosition = StandardPosition::kScaling;
  bool AddTo(StandardBuilder& b) const {
    b.pipeline.scaling = Scaling::kToFloat;
    b.pipeline.scale = &scale;
    return true;
  }
};
struct ScaleToFloatChannels {
  const float* scale;
  Axis axis = Axis::kCols;

  template <class R>
  INTAGLIO_INLINE typename R::F32 Apply(typename R::I32 x, const Place& at) const {
    return R::MulF(R::ToFloat(x), LoadAlong<R>(scale, axis, at));
  }
  static constexpr auto kPosition = StandardPosition::kScaling;
  bool AddTo(StandardBuilder& b) const {
    b.pipeline.scaling = Scaling::kToFloat;
    b.pipeline.scale = scale;
    b.pipeline.per_channel = true;
    return b.Along(axis);
  }
};

// x / 2^exponent rounded to nearest, ties away from zero; exponent in [0, 31].
struct RoundingShift {
  int exponent;

  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place&) const {
    return RoundingDivideByPowerOfTwo<R>(x, R::Set(exponent));
  }
};

// x + zero_point, saturated to int32.
struct AddZeroPoint {
  int32_t zero_point;

  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place&) const {
    // A branch that always goes the same way is less than the other of the two clamps.
    if (zero_point < 0) {
      x = R::Max(x, R::Set(INT32_MIN - zero_point));
    } else {
      x = R::Min(x, R::Set(INT32_MAX - zero_point));
    }
    return R::Add(x, R::Set(zero_point));
  }
  static constexpr auto kPosition = StandardPosition::kZeroPoint;
  bool AddTo(StandardBuilder& b) const {
    b.pipeline.zero_point = zero_point;
    return zero_point >= -255 && zero_point <= 255;
  }
};

// min(max(x, low), high).
struct Clamp {
  int32_t low;
  int32_t high;

  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place&) const {
    return R::Min(R::Max(x, R::Set(low)), R::Set(high));
  }
  static constexpr auto kPosition = StandardPosition::kClamp;
  bool AddTo(StandardBuilder& b) const {
    b.pipeline.clamp_min = low;
    b.pipeline.clamp_max = high;
    return low <= high;
  }
};

// x + (residual[row][col] - zero_point) * multiplier, the product rounded by kDoubleRounding: adds
// another quantized tensor of the result's shape. The multiplier takes its scale to that of x.
template <class T>
struct AddResidual {
  const T* residual;
  ptrdiff_t row_stride;  // elements
  ptrdiff_t col_stride;
  int32_t zero_point;
  QuantizedMultiplier multiplier;

  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place& at) const {
    const T* p = residual + at.row * row_stride + at.col * col_stride;
    const ptrdiff_t step = at.along == Axis::kCols ? col_stride : row_stride;
    int32_t lanes[R::kLanes];
    for (int i = 0; i < R::kLanes; ++i) lanes[i] = p[i * step] - zero_point;
    return R::Add(x, RequantizeDoubleRounding<R>(R::Load(lanes), R::Set(multiplier.mantissa),
                                                 R::Set(multiplier.left_shift()),
                                                 R::Set(multiplier.right_shift())));
  }
};

// The logistic function and tanh in fixed point: x counts units of 2^(kIntegerBits - 31), the
// result units of 2^-31. Follow with RoundingShift{31 - bits} for a result of `bits` fraction bits.
template <int kIntegerBits>
struct FixedPointLogistic {
  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place&) const {
    return Logistic(FixedPoint<R, kIntegerBits>::FromRaw(x)).raw();
  }
};
template <int kIntegerBits>
struct FixedPointTanh {
  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place&) const {
    return Tanh(FixedPoint<R, kIntegerBits>::FromRaw(x)).raw();
  }
};

// The end of every pipeline: to int8, uint8, int16 or int32, saturating; or to float32, which takes
// a float32 value.
template <class T>
struct CastTo {
  using Output = T;
  static constexpr auto kPosition = StandardPosition::kCast;
  bool AddTo(StandardBuilder& b) const {
    b.pipeline.output = TypeOf<T>;
    return true;
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_PIPELINE_STAGES_H_
