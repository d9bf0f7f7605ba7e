#include "intaglio/nn/passes/graph_editor.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace intaglio::nn {

GraphEditor::GraphEditor(Graph& graph) : graph_(graph) {
  for (size_t i = 0; i < graph.layers.size(); ++i) graph.layers[i].label = LabelOf(graph, i);
  layers_.assign(std::make_move_iterator(graph.layers.begin()),
                 std::make_move_iterator(graph.layers.end()));
  graph.layers.clear();
  makers_.resize(graph.tensors.size());
  readers_.resize(graph.tensors.size());
  for (size_t i = 0; i < graph.tensors.size(); ++i) aliases_.push_back(static_cast<TensorId>(i));
  for (Place place = layers_.begin(); place != layers_.end(); ++place) {
    Count(*place, 1);
    SetMaker(place);
  }
  is_output_.resize(graph.tensors.size());
  for (const TensorId id : graph.outputs) {
    ++readers_[static_cast<size_t>(id)];
    is_output_[static_cast<size_t>(id)] = true;
  }
}

TensorId GraphEditor::Add(Tensor tensor) {
  const auto id = static_cast<TensorId>(graph_.tensors.size());
  graph_.tensors.push_back(std::move(tensor));
  makers_.emplace_back();
  readers_.push_back(0);
  aliases_.push_back(id);
  is_output_.push_back(false);
  return id;
}

TensorId GraphEditor::AddLike(TensorId like, Type type, Quantization quantization, Shape shape) {
  Tensor tensor;
  tensor.name = At(like).name;
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.quantization = std::move(quantization);
  return Add(std::move(tensor));
}

GraphEditor::Place GraphEditor::InsertBefore(Place place, Layer layer) {
  const Place inserted = layers_.insert(place, std::move(layer));
  Count(*inserted, 1);
  SetMaker(inserted);
  return inserted;
}

GraphEditor::Place GraphEditor::InsertAfter(Place place, Layer layer) {
  return InsertBefore(std::next(place), std::move(layer));
}

void GraphEditor::Replace(Place place, Layer layer) {
  Count(*place, -1);
  ClearMaker(place);
  *place = std::move(layer);
  Count(*place, 1);
  SetMaker(place);
}

GraphEditor::Place GraphEditor::Remove(Place place) {
  Count(*place, -1);
  ClearMaker(place);
  return layers_.erase(place);
}

void GraphEditor::ReplaceGroup(Place last, Layer layer) {
  std::vector<TensorId> unread = last->inputs;
  layer.outputs = last->outputs;
  Replace(last, std::move(layer));
  while (!unread.empty()) {
    const TensorId id = unread.back();
    unread.pop_back();
    if (id == kNoTensor || ReadersOf(id) > 0) continue;
    const std::optional<Place> maker = MakerOf(id);
    if (!maker.has_value() || IsRead(**maker)) continue;
    unread.insert(unread.end(), (*maker)->inputs.begin(), (*maker)->inputs.end());
    Remove(*maker);
  }
}

bool GraphEditor::Alias(TensorId id, TensorId other) {
  if (is_output_[static_cast<size_t>(id)]) return false;
  aliases_[static_cast<size_t>(id)] = aliases_[static_cast<size_t>(other)];
  return true;
}

void GraphEditor::Resolve(Place place) {
  Count(*place, -1);
  for (TensorId& id : place->inputs) {
    if (id != kNoTensor) id = aliases_[static_cast<size_t>(id)];
  }
  Count(*place, 1);
}

void GraphEditor::Finish(const std::function<bool(const Layer&)>& may_remove) {
  for (Place place = layers_.end(); place != layers_.begin();) {
    --place;
    if (!IsRead(*place) && may_remove(*place)) place = Remove(place);
  }
  graph_.layers.assign(std::make_move_iterator(layers_.begin()),
                       std::make_move_iterator(layers_.end()));
  layers_.clear();
}

void GraphEditor::Count(const Layer& layer, int change) {
  for (const TensorId id : layer.inputs) {
    if (id != kNoTensor) readers_[static_cast<size_t>(id)] += change;
  }
}

void GraphEditor::SetMaker(Place place) {
  for (const TensorId id : place->outputs) makers_[static_cast<size_t>(id)] = place;
}

// Another layer may make the tensor by now.
void GraphEditor::ClearMaker(Place place) {
  for (const TensorId id : place->outputs) {
    std::optional<Place>& maker = makers_[static_cast<size_t>(id)];
    if (maker == place) maker.reset();
  }
}

bool GraphEditor::IsRead(const Layer& layer) const {
  return std::any_of(layer.outputs.begin(), layer.outputs.end(),
                     [&](TensorId id) { return ReadersOf(id) > 0; });
}

}  // namespace intaglio::nn
