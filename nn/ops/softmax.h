// SOFTMAX of int16 and of float32.
#ifndef INTAGLIO_NN_OPS_SOFTMAX_H_
#define INTAGLIO_NN_OPS_SOFTMAX_H_

#include "intaglio/nn/layer.h"

namespace intaglio::nn {

Result<PreparedLayer> PrepareSoftmax16(const LayerView& layer);
Result<PreparedLayer> PrepareSoftmaxFloat(const LayerView& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SOFTMAX_H_
