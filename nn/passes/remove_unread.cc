#include "intaglio/nn/passes/remove_unread.h"

#include <algorithm>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/graph/nested_graphs.h"
#include "intaglio/nn/passes/graph_editor.h"

namespace intaglio::nn {

size_t RemoveUnread(Graph& graph) {
  const size_t before = graph.layers.size();
  GraphEditor editor(graph);
  const auto is_variable = [&](TensorId id) { return id != kNoTensor && editor.At(id).variable; };
  editor.Finish([&](const Layer& layer) {
    return !layer.outputs.empty() && NestedGraphsOf(layer.op).empty() &&
           std::none_of(layer.inputs.begin(), layer.inputs.end(), is_variable);
  });
  const size_t removed = before - graph.layers.size();
  if (removed > 0 && graph.folded_shapes != nullptr) graph.folded_shapes = IncompleteShapes();
  return removed;
}

}  // namespace intaglio::nn
