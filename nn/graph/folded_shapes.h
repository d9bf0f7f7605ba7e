// Some constants and parameters of a graph were computed from shapes when the graph was made. The
// graph keeps here how, so that its inputs can take other shapes (nn/passes/infer_shapes.h).
#ifndef INTAGLIO_NN_GRAPH_FOLDED_SHAPES_H_
#define INTAGLIO_NN_GRAPH_FOLDED_SHAPES_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Makes a tensor a constant if it follows from constants. Returns whether it is one now.
using FoldTensor = std::function<bool(TensorId)>;

// How a layer got parameters from constants that follow from shapes. For example, SHAPE and PACK
// compute the new shape of a RESHAPE.
struct ParameterSource {
  // The layer's inputs and outputs before its parameters were taken from some of the inputs. At
  // least one output is still an output of the layer.
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  // Takes the parameters again. The caller passes the layer with the inputs and outputs above. The
  // function sets its operator, and removes the inputs and outputs that no run needs. Messages do
  // not name the layer.
  std::function<Status(Graph& graph, const FoldTensor& fold, Layer& layer)> take;
};

struct FoldedShapes {
  struct Folded {
    size_t before = 0;  // the index in Graph::layers of the layer that follows
    Layer layer;
  };
  // The layers whose results follow from shapes and that were removed, in their order.
  std::vector<Folded> layers;
  // The sources of parameters of all layers, including those that were removed.
  std::vector<std::shared_ptr<const ParameterSource>> sources;
  // Tensors that only these layers and sources of parameters need. The graph has emptied them.
  std::vector<std::pair<TensorId, Tensor>> tensors;
  // False if the graph no longer knows how its constants and parameters follow from shapes, as in a
  // part of a graph.
  bool complete = true;
};

// For a graph that no longer knows how its constants and parameters follow from shapes.
inline std::shared_ptr<const FoldedShapes> IncompleteShapes() {
  FoldedShapes shapes;
  shapes.complete = false;
  return std::make_shared<const FoldedShapes>(std::move(shapes));
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_FOLDED_SHAPES_H_
