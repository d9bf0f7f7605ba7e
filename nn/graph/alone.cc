#include "intaglio/nn/graph/alone.h"

namespace intaglio::nn {

Graph Alone(const Graph& graph, const Layer& layer) {
  Graph alone;
  Layer& copy = alone.layers.emplace_back(layer);
  const auto add = [&](TensorId& id) {
    if (id == kNoTensor) return;
    alone.tensors.push_back(graph.tensors[static_cast<size_t>(id)]);
    id = static_cast<TensorId>(alone.tensors.size()) - 1;
  };
  for (TensorId& id : copy.inputs) add(id);
  for (TensorId& id : copy.outputs) add(id);
  alone.outputs = copy.outputs;
  return alone;
}

}  // namespace intaglio::nn
