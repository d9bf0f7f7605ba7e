// FULLY_CONNECTED as a childnet: a 1x1 convolution of images of one pixel, between two reshapes.
#ifndef INTAGLIO_NN_OPS_LINEAR_DENSE_AS_CONV_H_
#define INTAGLIO_NN_OPS_LINEAR_DENSE_AS_CONV_H_

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/layer_view.h"

namespace intaglio::nn {

// RESHAPE, CONV_2D, RESHAPE, which give the layer's bits. The convolution has the rounding of the
// layer. Where that is by float64 multipliers, integers have to give the same bits; it is an error
// if there are none. Only for 8 bits throughout, and for float32.
Result<Graph> DenseAsConv(const LayerView& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_DENSE_AS_CONV_H_
