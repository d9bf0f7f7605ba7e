// Inside the .onnx reader: scales and zero points, which the format gives as inputs of nodes.
#ifndef INTAGLIO_NN_FORMATS_ONNX_QUANTIZATION_H_
#define INTAGLIO_NN_FORMATS_ONNX_QUANTIZATION_H_

#include "intaglio/nn/formats/onnx/products.h"
#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

// The rule of the standard: float32 multipliers, rounding half to even.
Numerics HalfEven();

// A scale and a zero point (kNoTensor: 0) that are known, each one number or one per index of the
// axis. Fails for others.
Quantization QuantizationOf(Translation& t, TensorId scale, TensorId zero_point, int axis = 0);
// Zero points alone, as the operators ...Integer have them. Scales are 1.
Quantization ZeroPointsOf(Translation& t, TensorId zero_point, int axis = 0);

// An input that holds quantized numbers: inputs i, i + 1 (its scale) and i + 2 (its zero point).
TensorId QuantizedInput(Translation& t, size_t i);
// The same for weights, whose scales may be one per channel.
Weights QuantizedWeights(Translation& t, size_t i);
// The output whose scale and zero point are inputs i and i + 1. It has the zero point's type, or
// `otherwise` without one.
Sums QuantizedOutput(Translation& t, size_t i, Type otherwise);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_QUANTIZATION_H_
