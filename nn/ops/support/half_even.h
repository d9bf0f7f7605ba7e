// QUANTIZE by ONNX's rules: x / scale, clamped, rounded half to even, plus the zero point.
#ifndef INTAGLIO_NN_OPS_SUPPORT_HALF_EVEN_H_
#define INTAGLIO_NN_OPS_SUPPORT_HALF_EVEN_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The clamp is in the result's numbers, of int8, uint8, int16 or uint16. NaN gives the lower bound.
struct HalfEvenQuantizer {
  float scale = 1;
  int32_t zero_point = 0;
  Range clamp;

  // To numbers of 8 bits, which are int8 or uint8 as the clamp says.
  HalfEvenLine of_bytes() const { return {scale, zero_point, clamp.min, clamp.max}; }
};

int32_t QuantizeHalfEven(const HalfEvenQuantizer& q, float x);

// A reason against candidates that compute by ONNX's rules, and one against all others.
const char* NeedsHalfEven(const LayerView& layer, const LayerOptions& options);
const char* RefusesHalfEven(const LayerView& layer, const LayerOptions& options);

// The quantizer of a layer's output, with the clamp of its numerics. Errors name the layer.
Result<HalfEvenQuantizer> OutputQuantizer(const LayerView& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_HALF_EVEN_H_
