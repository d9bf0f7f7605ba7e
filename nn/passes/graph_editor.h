// A graph while a pass replaces, inserts and removes layers.
#ifndef INTAGLIO_NN_PASSES_GRAPH_EDITOR_H_
#define INTAGLIO_NN_PASSES_GRAPH_EDITOR_H_

#include <cstddef>
#include <functional>
#include <list>
#include <optional>
#include <vector>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Takes the layers of a graph that passed Validate, and gives them back in Finish. In between the
// graph has none. Layers keep the labels that they had.
class GraphEditor {
 public:
  using Layers = std::list<Layer>;
  using Place = Layers::iterator;

  explicit GraphEditor(Graph& graph);

  // In the order in which they run.
  Layers& layers() { return layers_; }
  Tensor& At(TensorId id) { return graph_.tensors[static_cast<size_t>(id)]; }

  // The layer that makes a tensor, if one does.
  std::optional<Place> MakerOf(TensorId id) const { return makers_[static_cast<size_t>(id)]; }
  // How often layers read a tensor. An output of the graph is read once more.
  int ReadersOf(TensorId id) const { return readers_[static_cast<size_t>(id)]; }

  TensorId Add(Tensor tensor);
  // Adds a tensor like this one but for type, quantization and shape, without elements.
  TensorId AddLike(TensorId like, Type type, Quantization quantization, Shape shape);

  Place InsertBefore(Place place, Layer layer);
  Place InsertAfter(Place place, Layer layer);
  // Makes the layer read and write other tensors, or compute something else.
  void Replace(Place place, Layer layer);
  Place Remove(Place place);

  // Puts a layer in the place of the last one of a group and of the layers before it whose results
  // nobody reads then. The layer gets the outputs of the last one.
  void ReplaceGroup(Place last, Layer layer);

  // Makes all layers that are resolved from now on read `other`, which has the same elements, in
  // the place of a tensor. Returns false, and does nothing, if that is an output of the graph.
  bool Alias(TensorId id, TensorId other);
  // Makes the layer read what its inputs are aliases of.
  void Resolve(Place place);

  // Whether some output of the layer is read.
  bool IsRead(const Layer& layer) const;

  // Removes the layers of whose outputs none is read, if may_remove says so, and gives back the
  // rest.
  void Finish(const std::function<bool(const Layer&)>& may_remove);

 private:
  void Count(const Layer& layer, int change);
  void SetMaker(Place place);
  void ClearMaker(Place place);

  Graph& graph_;
  Layers layers_;
  std::vector<std::optional<Place>> makers_;
  std::vector<int> readers_;
  std::vector<TensorId> aliases_;
  std::vector<bool> is_output_;  // of the graph
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_GRAPH_EDITOR_H_
