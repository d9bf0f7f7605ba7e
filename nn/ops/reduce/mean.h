// MEAN and quantized SUM as numbers, whoever computes them.
#ifndef INTAGLIO_NN_OPS_REDUCE_MEAN_H_
#define INTAGLIO_NN_OPS_REDUCE_MEAN_H_

#include <cstdint>
#include <vector>

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/nn/ops/reduce/reduce.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// Sums less `zero_sum`, requantized.
struct QuantizedSum {
  Reduction reduction;
  int32_t zero_sum = 0;  // input zero point times the number of elements of a sum
  QuantizedMultiplier multiplier;
  Affine out;
};

// `divide`s by the number of elements on the way. Errors name the layer.
Result<QuantizedSum> QuantizedSumOf(const LayerView& layer, const std::vector<int>& axes,
                                    bool divide);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_REDUCE_MEAN_H_
