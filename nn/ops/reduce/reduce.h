// What the operators share that reduce along axes.
#ifndef INTAGLIO_NN_OPS_REDUCE_REDUCE_H_
#define INTAGLIO_NN_OPS_REDUCE_REDUCE_H_

#include <cstdint>
#include <vector>

#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The input and what it is reduced to, which has stride 0 along reduced dimensions.
struct Reduction {
  Loops<2> loops;
  int64_t count = 1;  // elements of the input per element of the output
};
Result<Reduction> ReductionOf(const LayerView& layer, const std::vector<int>& axes);

// The shape without the axes, or with 1 in their places.
ShapesResult InferReduction(const LayerView& layer, const std::vector<int>& axes, bool keep_dims);
template <class Op>
ShapesResult InferReduce(const LayerView& layer) {
  return InferReduction(layer, layer.op<Op>().axes, layer.op<Op>().keep_dims);
}

// REDUCE_PROD of int8 and int16.
Result<PreparedLayer> PrepareQuantizedProd(const LayerView& layer, const LayerOptions& options);

// SUM of int32, int64 and float32.
Result<PreparedLayer> PreparePlainSum(const LayerView& layer, const std::vector<int>& axes);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_REDUCE_REDUCE_H_
