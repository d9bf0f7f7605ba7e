#include "intaglio/nn/routine/concatenate_in_place.h"

namespace intaglio::nn {
namespace {

bool SameNumbers(const Tensor& a, const Tensor& b) {
  return a.quantization.scales == b.quantization.scales &&
         a.quantization.zero_points == b.quantization.zero_points;
}

// Bytes of the dimensions from `axis` on.
size_t BytesFrom(const Tensor& tensor, size_t axis) {
  return *CountBytes({tensor.shape.begin() + static_cast<ptrdiff_t>(axis), tensor.shape.end()},
                     tensor.type);
}

class Finder {
 public:
  Finder(const Graph& graph, const std::vector<PreparedLayer>& layers)
      : graph_(graph),
        layers_(layers),
        places_(graph.tensors.size()),
        written_(graph.tensors.size(), false),
        strides_(graph.tensors.size(), false),
        readers_(graph.tensors.size(), 0) {
    for (const Layer& layer : graph.layers) CountReaders(layer.inputs);
    CountReaders(graph.outputs);
  }

  std::vector<JoinedPlace> Find() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = graph_.layers[i];
      if (layers_[i].joined_axis) Place(layer, *layers_[i].joined_axis);
      // What has the memory of another tensor cannot have a place of its own.
      for (const TensorId id : layer.outputs) written_[Index(id)] = !layers_[i].alias;
      if (layers_[i].strides_output) strides_[Index(layer.outputs[0])] = true;
    }
    return std::move(places_);
  }

 private:
  static size_t Index(TensorId id) { return static_cast<size_t>(id); }

  void CountReaders(const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) {
      if (id != kNoTensor) ++readers_[Index(id)];
    }
  }

  // Gives operands of a concatenation their places. An operand that is one piece stays one piece if
  // the result itself gets a place: such a result has only one line or does not stride.
  void Place(const Layer& layer, int axis) {
    const TensorId result = layer.outputs[0];
    const Tensor& joined = graph_.tensors[Index(result)];
    const size_t all = BytesFrom(joined, 0);
    if (all == 0) return;  // its other dimensions may be too large to count
    const int rank = static_cast<int>(joined.shape.size());
    const size_t stride = BytesFrom(joined, static_cast<size_t>(axis));
    const bool whole = stride == all;
    size_t offset = 0;
    for (const TensorId id : layer.inputs) {
      const Tensor& tensor = graph_.tensors[Index(id)];
      const size_t bytes = BytesFrom(tensor, static_cast<size_t>(axis));
      const bool fits =
          whole || (axis == rank - 1 && strides_[Index(id)] && readers_[Index(id)] == 1);
      if (fits && written_[Index(id)] && places_[Index(id)].result == kNoTensor &&
          SameNumbers(tensor, joined)) {
        places_[Index(id)] = {result, offset, bytes, whole ? 0 : stride};
      }
      offset += bytes;
    }
  }

  const Graph& graph_;
  const std::vector<PreparedLayer>& layers_;
  std::vector<JoinedPlace> places_;
  std::vector<bool> written_;
  std::vector<bool> strides_;  // per tensor: its layer can write lines that lie apart
  std::vector<int> readers_;   // per tensor: the inputs of layers, and outputs of the graph
};

// The place of a tensor in the result that its own result has a place in.
JoinedPlace Compose(const JoinedPlace& inner, const JoinedPlace& outer) {
  return {outer.result, inner.offset + outer.offset, inner.bytes,
          outer.stride != 0 ? outer.stride : inner.stride};
}

}  // namespace

std::vector<JoinedPlace> FindJoins(const Graph& graph, const std::vector<PreparedLayer>& layers) {
  return Finder(graph, layers).Find();
}

std::vector<JoinedPlace> OutermostPlaces(const std::vector<JoinedPlace>& places) {
  std::vector<JoinedPlace> outermost(places.size());
  std::vector<size_t> inside;  // tensors that have places in each other, the innermost first
  for (size_t i = 0; i < places.size(); ++i) {
    size_t at = i;
    for (; outermost[at].result == kNoTensor; at = static_cast<size_t>(places[at].result)) {
      if (places[at].result == kNoTensor) {
        outermost[at] = {static_cast<TensorId>(at)};
        break;
      }
      inside.push_back(at);
    }
    for (; !inside.empty(); inside.pop_back()) {
      const JoinedPlace& result = outermost[static_cast<size_t>(places[inside.back()].result)];
      outermost[inside.back()] = Compose(places[inside.back()], result);
    }
  }
  return outermost;
}

}  // namespace intaglio::nn
