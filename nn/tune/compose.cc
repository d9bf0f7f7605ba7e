#include "intaglio/nn/tune/compose.h"

#include <algorithm>
#include <string>
#include <utility>

#include "intaglio/nn/passes/float_form.h"

namespace intaglio::nn::tune {
namespace {

// Layers that change the form of a tensor may get an input of another form.
bool ChangesForm(const Graph& graph, const Layer& layer) {
  return QuantizesReals(graph, layer) || DequantizesToReals(graph, layer);
}

}  // namespace

Result<Composed> Compose(const Graph& graph, const std::vector<LayerWay>& ways) {
  Composed composed;
  for (size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].in_float) composed.float_layers.push_back(i);
  }
  Result<FloatRewrite> network = ComputeInFloat(graph, composed.float_layers);
  if (!network.ok()) return network.status();
  composed.network = std::move(*network);
  const std::vector<LayerOrigin>& origins = composed.network.origins;
  composed.adapters = static_cast<size_t>(std::count_if(
      origins.begin(), origins.end(),
      [](const LayerOrigin& origin) { return origin.layer == LayerOrigin::kAdapter; }));
  composed.choices = ChoicesFor(graph, composed.network, ways);
  return composed;
}

std::vector<RoutineChoice> ChoicesFor(const Graph& graph, const FloatRewrite& network,
                                      const std::vector<LayerWay>& ways) {
  std::vector<RoutineChoice> choices;
  const bool mixed =
      std::any_of(ways.begin(), ways.end(), [](const LayerWay& w) { return w.in_float; });
  for (size_t i = 0; i < network.origins.size(); ++i) {
    const size_t origin = network.origins[i].layer;
    if (origin == LayerOrigin::kAdapter) continue;
    if (mixed && ChangesForm(graph, graph.layers[origin])) continue;
    const LayerChoice& choice = ways[origin].choice;
    if (choice.routine.empty() && choice.kernel.empty() && choice.threads == 0) continue;
    choices.push_back({std::to_string(i), choice.routine, choice.kernel, choice.threads});
  }
  return choices;
}

}  // namespace intaglio::nn::tune
