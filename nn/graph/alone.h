// Makes a graph of one layer alone.
#ifndef INTAGLIO_NN_GRAPH_ALONE_H_
#define INTAGLIO_NN_GRAPH_ALONE_H_

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// The graph's tensors are the layer's inputs, then its outputs, which are also the outputs of the
// graph. The graph has no inputs, so it passes Validate if all inputs of the layer are constants.
Graph Alone(const Graph& graph, const Layer& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_ALONE_H_
