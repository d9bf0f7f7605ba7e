// What a graph keeps of the computations with shapes that were done when it was made. With it, the
// inputs can take other shapes (nn/passes/infer_shapes.h).
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

// A layer some of whose parameters were constants that follow from shapes, such as the new shape of
// a RESHAPE that SHAPE and PACK compute.
struct ParameterSource {
  // Those of the layer before its parameters were taken from some of the inputs. Some output is
  // still the layer's.
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  // Takes the parameters again. The layer comes with the inputs and outputs above. It gets its
  // operator, and keeps the inputs and outputs that it has when it runs. Messages do not name the
  // layer.
  std::function<Status(Graph& graph, const FoldTensor& fold, Layer& layer)> take;
};

struct FoldedShapes {
  struct Folded {
    size_t before = 0;  // the index in Graph::layers of the layer that follows
    Layer layer;
  };
  // The layers that were removed although their results follow from shapes, in their order.
  std::vector<Folded> layers;
  // How parameters were taken, of layers that were removed and of others.
  std::vector<std::shared_ptr<const ParameterSource>> sources;
  // Tensors that only these layers and sources of parameters need. The graph has emptied them.
  std::vector<std::pair<TensorId, Tensor>> tensors;
  // False in a part of a graph, which does not keep how its constants and parameters follow from
  // shapes.
  bool complete = true;
};

// Those of a part of a graph.
inline std::shared_ptr<const FoldedShapes> IncompleteShapes() {
  FoldedShapes shapes;
  shapes.complete = false;
  return std::make_shared<const FoldedShapes>(std::move(shapes));
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_FOLDED_SHAPES_H_
