// A layer as a graph of its own.
#ifndef INTAGLIO_NN_ALONE_H_
#define INTAGLIO_NN_ALONE_H_

#include "intaglio/nn/graph.h"

namespace intaglio::nn {

// Its tensors are the layer's inputs and outputs, in this order; the outputs are the graph's. The
// graph has no inputs, so that it passes Validate if all inputs are constants.
Graph Alone(const Graph& graph, const Layer& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ALONE_H_
