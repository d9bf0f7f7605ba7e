// What Model::Update changes in a graph.
#ifndef INTAGLIO_NN_RUNTIME_UPDATE_GRAPH_H_
#define INTAGLIO_NN_RUNTIME_UPDATE_GRAPH_H_

#include <cstddef>
#include <span>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {

struct UpdatedGraph {
  Graph graph;                 // valid
  std::vector<size_t> layers;  // that read or write a changed tensor, in order
};

// A copy of the graph with these changes. Errors name the tensor.
Result<UpdatedGraph> UpdateGraph(const Graph& graph, std::span<const TensorUpdate> updates);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_RUNTIME_UPDATE_GRAPH_H_
