#include "intaglio/nn/graph/input_advice.h"

#include <algorithm>
#include <cstddef>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn {
namespace {

constexpr size_t kMostTensors = 32;  // that are followed back
constexpr size_t kMostInputs = 4;

bool Contains(const std::vector<TensorId>& ids, TensorId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

const Layer* MakerOf(const Graph& graph, TensorId id) {
  const auto found = std::find_if(graph.layers.begin(), graph.layers.end(),
                                  [&](const Layer& layer) { return Contains(layer.outputs, id); });
  return found == graph.layers.end() ? nullptr : &*found;
}

}  // namespace

std::vector<TensorId> InputsBehind(const Graph& graph, const std::vector<TensorId>& tensors) {
  std::vector<TensorId> seen;
  const auto add = [&](const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) {
      const bool varies = id != kNoTensor && !graph.tensors[static_cast<size_t>(id)].constant;
      if (varies && !Contains(seen, id)) seen.push_back(id);
    }
  };
  add(tensors);
  std::vector<TensorId> inputs;
  for (size_t i = 0; i < seen.size(); ++i) {
    const Layer* const maker = MakerOf(graph, seen[i]);
    const bool is_input = Contains(graph.inputs, seen[i]);
    if (is_input) inputs.push_back(seen[i]);
    if (maker != nullptr) add(maker->inputs);
    if (!is_input && maker == nullptr) return {};
    if (seen.size() > kMostTensors || inputs.size() > kMostInputs) return {};
  }
  return inputs;
}

std::string AdviceFor(const Graph& graph, const std::vector<TensorId>& inputs) {
  if (inputs.empty()) return {};
  std::vector<std::string> names;
  for (const TensorId id : inputs) {
    names.push_back(ShortName(graph.tensors[static_cast<size_t>(id)].name));
  }
  const bool one = names.size() == 1;
  std::string text = one ? "; give input " : "; give inputs ";
  for (size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "'" : i + 1 == names.size() ? " and '" : ", '") + names[i] + "'";
  }
  return text + (one ? " a value" : " values") + " with the option constants (--constant " +
         names[0] + "=VALUE)";
}

std::string AdviceForTensor(const Graph& graph, TensorId tensor) {
  return graph.name.empty() ? "" : AdviceFor(graph, InputsBehind(graph, {tensor}));
}

std::string AdviceForInput(const LayerView& layer, size_t input) {
  return AdviceForTensor(layer.graph(), layer.layer().inputs[input]);
}

}  // namespace intaglio::nn
