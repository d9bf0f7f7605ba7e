#include "intaglio/nn/runtime/update_graph.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace intaglio::nn {
namespace {

Status SetElements(const TensorUpdate& update, Tensor& tensor) {
  const std::string name = "tensor '" + tensor.name + "'";
  if (!tensor.constant) return InvalidArgument(name + " is no constant, so it has no elements");
  if (update.bytes != tensor.data_bytes) {
    return InvalidArgument(name + " has " + std::to_string(tensor.data_bytes) + " bytes, " +
                           ToString(tensor.shape) + ", but " + std::to_string(update.bytes) +
                           " were given");
  }
  const auto copy = std::make_shared<std::vector<int64_t>>(update.bytes / 8 + 1);
  std::memcpy(copy->data(), update.data, update.bytes);
  tensor.data = copy->data();
  tensor.owner = copy;
  return {};
}

bool IsAnyOf(const std::vector<TensorId>& ids, const std::vector<bool>& changed) {
  return std::any_of(ids.begin(), ids.end(), [&](TensorId id) {
    return id != kNoTensor && changed[static_cast<size_t>(id)];
  });
}

}  // namespace

Result<UpdatedGraph> UpdateGraph(const Graph& graph, std::span<const TensorUpdate> updates) {
  UpdatedGraph updated{graph, {}};
  std::vector<bool> changed(graph.tensors.size(), false);
  for (const TensorUpdate& update : updates) {
    if (update.tensor < 0 || static_cast<size_t>(update.tensor) >= graph.tensors.size()) {
      return InvalidArgument("there is no tensor " + std::to_string(update.tensor) +
                             "; the model has " + std::to_string(graph.tensors.size()));
    }
    const auto i = static_cast<size_t>(update.tensor);
    if (update.data != nullptr) {
      INTAGLIO_RETURN_IF_ERROR(SetElements(update, updated.graph.tensors[i]));
    }
    if (update.quantization.has_value()) {
      updated.graph.tensors[i].quantization = *update.quantization;
    }
    changed[i] = true;
  }
  INTAGLIO_RETURN_IF_ERROR(Validate(updated.graph));
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    if (IsAnyOf(layer.inputs, changed) || IsAnyOf(layer.outputs, changed)) {
      updated.layers.push_back(i);
    }
  }
  return updated;
}

}  // namespace intaglio::nn
