#include "intaglio/nn/tune/compose.h"

#include <algorithm>
#include <string>
#include <utility>

namespace intaglio::nn::tune {
namespace {

// The choices of the layers of a network that was converted, from those of the layers before.
std::vector<RoutineChoice> ChoicesFor(const OtherForm& form, const FloatRewrite& network,
                                      const std::vector<LayerWay>& ways) {
  std::vector<RoutineChoice> choices;
  const bool mixed =
      std::any_of(ways.begin(), ways.end(), [](const LayerWay& w) { return w.converted; });
  for (size_t i = 0; i < network.origins.size(); ++i) {
    const size_t origin = network.origins[i].layer;
    if (origin == LayerOrigin::kAdapter) continue;
    if (mixed && form.IsAdapter(origin)) continue;  // it may get an input of another form
    const LayerChoice& choice = ways[origin].choice;
    if (choice.routine.empty() && choice.kernel.empty() && choice.threads == 0) continue;
    choices.push_back({std::to_string(i), choice.routine, choice.kernel, choice.threads});
  }
  return choices;
}

}  // namespace

Result<Composed> Compose(const OtherForm& form, std::vector<LayerWay> ways, bool accepted) {
  Composed composed;
  std::vector<size_t> layers;
  for (size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].converted) layers.push_back(i);
  }
  Result<Conversion> conversion = form.Convert(layers, accepted);
  if (!conversion.ok()) return conversion.status();
  composed.network = std::move(conversion->network);
  composed.converted_layers = std::move(conversion->layers);
  composed.refused = std::move(conversion->refused);
  for (const auto& [layer, why_not] : composed.refused) ways[layer] = {};
  const std::vector<LayerOrigin>& origins = composed.network.origins;
  composed.adapters = static_cast<size_t>(std::count_if(
      origins.begin(), origins.end(),
      [](const LayerOrigin& origin) { return origin.layer == LayerOrigin::kAdapter; }));
  composed.choices = ChoicesFor(form, composed.network, ways);
  return composed;
}

}  // namespace intaglio::nn::tune
