// Clamps become a part of the layer whose result they clamp:
//
//   x - CONV_2D - RELU - y
//   x - CONV_2D(RELU)  - y
#ifndef INTAGLIO_NN_PASSES_FUSE_ACTIVATIONS_H_
#define INTAGLIO_NN_PASSES_FUSE_ACTIVATIONS_H_

#include <cstddef>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Takes a graph that passed Validate. It looks at RELU, RELU6, RELU_N1_TO_1 and CLIP with the same
// bounds, of float32, and at convolutions, fully connected layers, ADD, SUB, MUL and DIV before
// them. The bits stay the same. Clamps of quantized results are FuseQuantization's business.
//
// Returns how many layers it removed. The graph does not know any more how its constants follow
// from shapes, if it did before (Graph::folded_shapes), so that ResizeInputs refuses it. Throws
// std::bad_alloc.
size_t FuseActivations(Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_FUSE_ACTIVATIONS_H_
