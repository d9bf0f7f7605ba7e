// The arithmetic that operators share when they are prepared: which quantizations are legal, real
// multipliers, activation ranges. The formulas are those of TFLite's reference kernels, to the bit:
// where they round to float32 on the way, so does this.
#ifndef INTAGLIO_NN_OPS_SUPPORT_QUANTIZATION_H_
#define INTAGLIO_NN_OPS_SUPPORT_QUANTIZATION_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/ops/support/activation.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The values that a quantized type holds.
struct Range {
  int32_t min = 0;
  int32_t max = 0;
};
// The type is int8, uint8, int16, uint16 or int32. The function is inline because loops over
// elements call it.
constexpr Range RangeOf(Type type) {
  switch (type) {
    case Type::kInt8:
      return {-128, 127};
    case Type::kUInt8:
      return {0, 255};
    case Type::kInt16:
      return {-32768, 32767};
    case Type::kUInt16:
      return {0, 65535};
    default:
      return {INT32_MIN, INT32_MAX};
  }
}

// A per-tensor quantization: real = scale * (q - zero_point).
struct Affine {
  float scale = 1;
  int32_t zero_point = 0;

  bool operator==(const Affine&) const = default;
};

// The quantization of a tensor of the layer, which must be int8, uint8, int16 or int32 with one
// positive scale and a zero point in the type's range.
Result<Affine> AffineOf(const LayerView& layer, const Tensor& tensor);
// The same, or that of uint16, which operators move, make and read, but do not compute with.
Result<Affine> AffineOfAny(const LayerView& layer, const Tensor& tensor);

// Input 0 and output 0 have the same type, a quantized one, with a quantization each.
struct InOut {
  Affine input;
  Affine output;
};
Result<InOut> SameTypeInOut(const LayerView& layer);

// The multiplier for requantization. It is 0 if `real` is not finite (a scale of 0). Errors name
// the layer.
Result<QuantizedMultiplier> MakeMultiplier(const LayerView& layer, double real);

// RequantizeDoubleRounding on one number.
inline int32_t Requantize(int32_t x, const QuantizedMultiplier& multiplier) {
  return RequantizeDoubleRounding<Scalar>(x, multiplier.mantissa, multiplier.left_shift(),
                                          multiplier.right_shift());
}

// Range of the output's type, narrowed to the activation's real range: a bound v becomes
// zero_point + round(v / scale), a float32 division rounded half away from zero.
Result<Range> ActivationRange(const LayerView& layer, Activation activation, Type type,
                              const Affine& output);

// x + zero_point, clamped; exact for every x.
inline int32_t AddAndClamp(int32_t x, int32_t zero_point, Range range) {
  const int64_t sum = int64_t{x} + zero_point;
  return static_cast<int32_t>(sum < range.min ? range.min : sum > range.max ? range.max : sum);
}

// log2 of a scale that is a power of two, as near as TFLite asks; else nothing.
std::optional<int> Log2OfScale(float scale);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_QUANTIZATION_H_
