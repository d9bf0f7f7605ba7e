// What the routines of BATCH_MATMUL share.
#ifndef INTAGLIO_NN_OPS_LINEAR_BATCH_MATMUL_H_
#define INTAGLIO_NN_OPS_LINEAR_BATCH_MATMUL_H_

#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

struct MatMulSizes {
  int rows = 0;
  int depth = 0;
  int cols = 0;
  Shape batch;  // that both broadcast to
};

// The sizes of the product of the layer's first two inputs.
Result<MatMulSizes> MatMulSizesOf(const LayerView& layer, const BatchMatMul& op);
// Over the batches: operands and output, in elements.
Loops<3> MatMulLoops(const LayerView& layer, const MatMulSizes& sizes);

// The loops are those of MatMulLoops.
Result<PreparedLayer> PrepareBatchMatMulBytes(const LayerView& layer, const LayerOptions& options,
                                              const MatMulSizes& sizes, const Loops<3>& loops);
// The same for a constant second operand.
Result<PreparedLayer> PrepareBatchMatMulPacked(const LayerView& layer, const LayerOptions& options,
                                               const MatMulSizes& sizes, const Loops<3>& loops);
Result<PreparedLayer> PrepareBatchMatMulFloat(const LayerView& layer, const LayerOptions& options,
                                              const MatMulSizes& sizes, const Loops<3>& loops);
Result<PreparedLayer> PrepareBatchMatMulHybrid(const LayerView& layer, const LayerOptions& options,
                                               const MatMulSizes& sizes, const Loops<3>& loops);
Result<PreparedLayer> PrepareBatchMatMul16(const LayerView& layer, const MatMulSizes& sizes,
                                           const Loops<3>& loops,
                                           const QuantizedMultiplier& multiplier);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_BATCH_MATMUL_H_
