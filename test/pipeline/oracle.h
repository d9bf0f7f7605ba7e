// What the standard output pipeline has to give for one accumulator: the definition in
// pipeline/standard.h read as rational arithmetic.
#ifndef INTAGLIO_TEST_PIPELINE_ORACLE_H_
#define INTAGLIO_TEST_PIPELINE_ORACLE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "intaglio/fixedpoint/type.h"
#include "intaglio/pipeline/standard.h"
#include "intaglio/test/fixedpoint/oracle.h"

namespace intaglio::test {

inline int32_t Wrap(int64_t a) { return static_cast<int32_t>(static_cast<uint32_t>(a)); }

// acc scaled, to int32, by the two fixed-point modes.
inline int32_t DoublyRounded(int32_t acc, int32_t mantissa, int exponent) {
  return DoubleRoundingOracle(acc, mantissa, std::max(exponent, 0), std::max(-exponent, 0));
}
inline int32_t SinglyRounded(int32_t acc, int32_t mantissa, int exponent) {
  return SingleRoundingOracle(acc, mantissa, 31 - exponent);
}
// By a float32: ties to even, and the outermost float32 that int32 holds for what is beyond.
inline int32_t FloatRounded(int32_t acc, float scale) {
  const float product = static_cast<float>(acc) * scale;
  if (product >= 2147483648.0f) return INT32_MAX - 127;
  if (product < -2147483648.0f) return INT32_MIN;
  return static_cast<int32_t>(std::nearbyint(product));
}
// By a float64: ties away from zero.
inline int32_t RealRounded(int32_t acc, double real) {
  const double product = std::round(static_cast<double>(acc) * real);
  return static_cast<int32_t>(std::clamp(product, -2147483648.0, 2147483647.0));
}

inline int64_t Lowest(Type type) {
  return type == Type::kInt8    ? -128
         : type == Type::kUInt8 ? 0
         : type == Type::kInt16 ? -32768
                                : INT32_MIN;
}
inline int64_t Highest(Type type) {
  return type == Type::kInt8    ? 127
         : type == Type::kUInt8 ? 255
         : type == Type::kInt16 ? 32767
                                : INT32_MAX;
}

// Writes a number as the element `index` of an array of `type`.
inline void PutElement(Type type, void* array, int64_t index, int64_t value) {
  if (type == Type::kInt8) {
    static_cast<int8_t*>(array)[index] = static_cast<int8_t>(value);
  } else if (type == Type::kUInt8) {
    static_cast<uint8_t*>(array)[index] = static_cast<uint8_t>(value);
  } else if (type == Type::kInt16) {
    const auto word = static_cast<int16_t>(value);
    std::memcpy(static_cast<char*>(array) + 2 * index, &word, 2);
  } else {
    const auto word = static_cast<int32_t>(value);
    std::memcpy(static_cast<char*>(array) + 4 * index, &word, 4);
  }
}

// clamp(value + zero_point) to [low, high] and to the type, saturating.
inline int64_t ShiftedAndClamped(Type type, int64_t value, int64_t zero_point, int64_t low,
                                 int64_t high) {
  const int64_t clamped = std::clamp(value + zero_point, low, high);
  return std::clamp(clamped, Lowest(type), Highest(type));
}

// Element (row, col) of the result, whose accumulator without bias is `acc`, written to
// array[index].
inline void FinishOracle(const StandardPipeline& p, int64_t acc, int row, int col, void* array,
                         int64_t index) {
  const int channel = p.axis == Axis::kRows ? row : col;
  const int at = p.per_channel ? channel : 0;
  const int32_t sum = Wrap(acc + (p.bias == nullptr ? 0 : p.bias[channel]));
  int64_t scaled = sum;
  switch (p.scaling) {
    case Scaling::kNone:
      break;
    case Scaling::kDoubleRounding:
      scaled = DoublyRounded(sum, p.mantissa[at], p.exponent[at]);
      break;
    case Scaling::kSingleRounding:
      scaled = SinglyRounded(sum, p.mantissa[at], p.exponent[at]);
      break;
    case Scaling::kFloatHalfEven:
      scaled = FloatRounded(sum, p.scale[at]);
      break;
    case Scaling::kReal64:
      scaled = RealRounded(sum, p.real[at]);
      break;
    case Scaling::kToFloat: {
      const float value = static_cast<float>(sum) * p.scale[at];
      std::memcpy(static_cast<char*>(array) + 4 * index, &value, 4);
      return;
    }
  }
  PutElement(p.output, array, index,
             ShiftedAndClamped(p.output, scaled, p.zero_point, p.clamp_min, p.clamp_max));
}

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_PIPELINE_ORACLE_H_
