// LOG_SOFTMAX of 8 bits, which has an arithmetic of its own.
#ifndef INTAGLIO_NN_OPS_REDUCE_LOG_SOFTMAX_H_
#define INTAGLIO_NN_OPS_REDUCE_LOG_SOFTMAX_H_

#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// Only for inputs with at least one dimension.
Result<PreparedLayer> PrepareLogSoftmax8(const LayerView& layer, const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_REDUCE_LOG_SOFTMAX_H_
