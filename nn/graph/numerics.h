// How the sums of a layer's products become its outputs. The rules of formats differ, so they are
// data of the layer: a reader sets them, and the routines follow them.
#ifndef INTAGLIO_NN_GRAPH_NUMERICS_H_
#define INTAGLIO_NN_GRAPH_NUMERICS_H_

#include <cstdint>
#include <limits>

#include "intaglio/fixedpoint/float_sums.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio::nn {

enum class Accumulator : uint8_t { kInt32, kInt64 };

// This is no rule of a format, but an option of preparing a model.
using intaglio::FloatSums;

// The defaults are TFLite's rules for int8 convolutions.
//
// ONNX's rules are three scalings. x, weights and output may then be int8 or uint8 in any
// combination, and weights may have zero points per channel:
//   kFloatHalfEven  int8, uint8 or int16: float32(sum) * s, where s is input scale * weight scale /
//                   output scale, each step rounded to float32; clamped, then rounded half to even
//   kToFloat        float32: float32(sum) * (input scale * weight scale), plus a bias of float32. A
//                   bias of int32 is part of the sum.
//   kNone           int32, not quantized: the sum. Inputs without a quantization have the zero
//                   point 0.
// Operators without sums have one of ONNX's rules: with kFloatHalfEven they give the bits of
// dequantizing, computing in float32, and quantizing half to even.
struct Numerics {
  // The rounding: by two roundings, by one, by a float64 multiplier, or ONNX's.
  Scaling scaling = Scaling::kDoubleRounding;
  // The scales of input and weights are multiplied in float32, not in double.
  bool float32_scales = false;
  // A bias must have the scale of the products, up to a fiftieth of an output step.
  bool checks_bias_scale = false;
  // The type of the sums of int16 inputs, bias included. Sums of 8-bit inputs are int32.
  Accumulator accumulator = Accumulator::kInt64;
  // Bounds of the quantized outputs, in addition to those of their type and of the activation. Only
  // for kFloatHalfEven.
  int32_t clamp_min = std::numeric_limits<int32_t>::min();
  int32_t clamp_max = std::numeric_limits<int32_t>::max();

  bool operator==(const Numerics&) const = default;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_NUMERICS_H_
