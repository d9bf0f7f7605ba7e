// Inside the quantizer: constants of float32 as constants of integers.
#ifndef INTAGLIO_NN_QUANTIZE_CONSTANTS_H_
#define INTAGLIO_NN_QUANTIZE_CONSTANTS_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/tensor.h"
#include "intaglio/nn/quantize/parameters.h"
#include "intaglio/nn/quantize/range.h"

namespace intaglio::nn::quantize {

// The elements of a constant of float32. Its memory may lie at any address.
std::vector<float> RealsOf(const Tensor& constant);

// The tensor with these elements, which it owns.
template <class T>
Tensor WithValues(const Tensor& old, std::vector<T> values) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  Tensor tensor = old;
  tensor.data = owner->data();
  tensor.data_bytes = owner->size() * sizeof(T);
  tensor.owner = owner;
  return tensor;
}

// With 0 in it. NaN and infinities are errors that name the tensor.
Result<RealRange> RangeOfConstant(const Tensor& constant);
Result<std::vector<RealRange>> RangesOfChannels(const Tensor& constant, int axis);

// The constant with one scale.
Tensor QuantizeConstant(const Tensor& constant, const Parameters& parameters, const Levels& levels);

// Weights with these scales: one, or one for each index of `axis`. In uint8 the zero point is 128,
// and the integers are those of int8 plus 128.
Tensor QuantizeWeights(const Tensor& weights, int axis, const std::vector<float>& scales, Type type,
                       int bits);

// A bias as int32 or int64, with the scales input_scale * scales[c] rounded to float32.
Tensor QuantizeBiases(const Tensor& bias, float input_scale, const std::vector<float>& scales,
                      Type type);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_CONSTANTS_H_
