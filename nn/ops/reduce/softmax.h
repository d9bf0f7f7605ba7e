// SOFTMAX of int16 and of float32, and that of 8 bits as numbers, whoever computes them.
#ifndef INTAGLIO_NN_OPS_REDUCE_SOFTMAX_H_
#define INTAGLIO_NN_OPS_REDUCE_SOFTMAX_H_

#include <array>
#include <cstdint>

#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

Result<PreparedLayer> PrepareSoftmax16(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareSoftmaxFloat(const LayerView& layer, const LayerOptions& options);

// For each distance to a row's largest number, exp(-distance * beta * scale) with 31 fraction bits,
// or 0 if the distance is out of range. The layer has an 8-bit input. Errors name the layer.
Result<std::array<int32_t, 256>> SoftmaxExpsOf(const LayerView& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_REDUCE_SOFTMAX_H_
