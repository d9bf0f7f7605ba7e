// LOGISTIC and TANH of int16.
#ifndef INTAGLIO_NN_OPS_ELEMENTWISE_SIGMOID16_H_
#define INTAGLIO_NN_OPS_ELEMENTWISE_SIGMOID16_H_

#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

Result<PreparedLayer> PrepareLogistic16(const LayerView& layer, const LayerOptions& options);
Result<PreparedLayer> PrepareTanh16(const LayerView& layer, const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_ELEMENTWISE_SIGMOID16_H_
