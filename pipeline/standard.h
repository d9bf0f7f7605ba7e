// The standard output pipeline in plain numbers: what nearly every quantized operator needs, and
// what the kernels run in registers.
#ifndef INTAGLIO_PIPELINE_STANDARD_H_
#define INTAGLIO_PIPELINE_STANDARD_H_

#include <cstdint>
#include <limits>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/fixedpoint/type.h"

namespace intaglio {

// The direction along which a vector of parameters runs: one value per row, or one per column, of
// the result.
enum class Axis : uint8_t { kRows, kCols };

enum class Scaling : uint8_t {
  kNone,            // the accumulator itself
  kDoubleRounding,  // the three requantization modes of fixedpoint/requantize.h
  kSingleRounding,
  kFloatHalfEven,
  kReal64,   // fixedpoint/requantize_real64.h: LiteRT's fully connected operator
  kToFloat,  // float(acc) * scale, kept as float32
};

// out = cast(clamp(scaling(acc + bias) + zero_point)), where the zero-point addition and the cast
// saturate. float32 output takes kToFloat, has no zero point, and is not clamped.
struct StandardPipeline {
  Axis axis = Axis::kCols;  // of bias and of per-channel scaling

  const int32_t* bias = nullptr;  // one per channel, or null; acc + bias must fit int32

  Scaling scaling = Scaling::kNone;
  bool per_channel = false;           // the arrays below hold one value per channel, else one value
  const int32_t* mantissa = nullptr;  // the two fixed-point modes: real multiplier =
  const int32_t* exponent = nullptr;  // mantissa * 2^(exponent - 31)
  const float* scale = nullptr;       // kFloatHalfEven and kToFloat
  const double* real = nullptr;       // kReal64

  int32_t zero_point = 0;
  int32_t clamp_min = std::numeric_limits<int32_t>::min();  // in the output's own numbers
  int32_t clamp_max = std::numeric_limits<int32_t>::max();
  Type output = Type::kInt32;  // int8, uint8, int16, int32 or float32
};

// Refuses parameters that make no sense for a result of `rows` x `cols`; reads all multipliers.
Status Validate(const StandardPipeline& pipeline, int rows, int cols);

}  // namespace intaglio

#endif  // INTAGLIO_PIPELINE_STANDARD_H_
