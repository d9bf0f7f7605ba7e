#include "intaglio/nn/quantize/linear_layers.h"

#include <map>
#include <utility>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/quantize/demands.h"

namespace intaglio::nn::quantize {
namespace {

const Tensor& At(const Graph& graph, TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }

// What DEQUANTIZE reads, by what it writes.
std::map<TensorId, TensorId> DequantizedOf(const Graph& graph) {
  std::map<TensorId, TensorId> dequantized;
  for (const Layer& layer : graph.layers) {
    if (layer.op.Is<Dequantize>()) dequantized[layer.outputs[0]] = layer.inputs[0];
  }
  return dequantized;
}

}  // namespace

bool IsLinear(const Graph& graph, const Layer& layer) {
  const Demand* const demand = DemandOf(layer.op);
  if (demand == nullptr || !demand->has_weights()) return false;
  const Tensor& weights = At(graph, layer.inputs[kWeights]);
  return weights.constant && weights.type == Type::kFloat32 &&
         At(graph, layer.inputs[0]).type == Type::kFloat32;
}

std::vector<LinearLayer> FindLinearLayers(const Graph& graph, const Quantized& quantized) {
  const std::map<TensorId, TensorId> dequantized = DequantizedOf(quantized.graph);
  const auto integers_of = [&](TensorId id) {
    const auto found = dequantized.find(id);
    return found == dequantized.end() ? id : found->second;
  };
  std::vector<LinearLayer> layers;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const Outcome& outcome = quantized.layers[i];
    if (!outcome.quantized || !IsLinear(graph, graph.layers[i])) continue;
    const Layer& integers = quantized.graph.layers[quantized.places[i]];
    LinearLayer& layer = layers.emplace_back();
    layer.layer = i;
    layer.label = outcome.label;
    layer.weights = integers_of(integers.inputs[kWeights]);
    if (HasInput(integers, kBias)) layer.bias = integers_of(integers.inputs[kBias]);
  }
  return layers;
}

}  // namespace intaglio::nn::quantize
