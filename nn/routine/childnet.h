// Routines that are small graphs of layers themselves: *childnets*. A dense layer may be a
// convolution between two reshapes. Each layer of a childnet has candidates, as those of any graph
// have, so a childnet is computed in as many ways as its layers can be (routine_name.h).
//
// Hilaga and others, "SoftNeuro: fast deep inference using multi-platform optimization", 2021,
// section III-D.
#ifndef INTAGLIO_NN_ROUTINE_CHILDNET_H_
#define INTAGLIO_NN_ROUTINE_CHILDNET_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/candidate.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// Makes a routine that runs the graph in its scratch. The graph's inputs are like those inputs of
// the layer that are not constants, in their order, and its only output is like the layer's; they
// are read and written where they lie. options.routine says how its layers are computed.
Result<PreparedLayer> PrepareChildnet(const LayerView& layer, const LayerOptions& options,
                                      Graph graph);

// Whoever wants the graph of a childnet, and no routine, gives this as options.device.
struct ChildnetRequest : Device {
  mutable std::optional<Graph> graph = std::nullopt;
};

// The prepare of a candidate whose childnet is kMake.
template <Result<Graph> (*kMake)(const LayerView& layer)>
Result<PreparedLayer> PrepareChildnetOf(const LayerView& layer, const LayerOptions& options) {
  Result<Graph> graph = kMake(layer);
  if (!graph.ok()) return graph.status();
  if (options.device == nullptr) return PrepareChildnet(layer, options, std::move(*graph));
  static_cast<const ChildnetRequest*>(options.device)->graph = std::move(*graph);
  return PreparedLayer();
}

// The parameters of a candidate that is a childnet. Its layers are no numbers, so the name of a
// routine has them in brackets.
inline constexpr CandidateParameter kChildnetParameters[] = {{"layers", {}}};
inline bool IsChildnet(const Candidate& candidate) {
  return candidate.parameters.data() == kChildnetParameters;
}

// The names of the layer's candidates that are childnets and accept it. With `bounded`, also those
// whose results only lie within bounds.
std::vector<std::string> NamesOfChildnets(const LayerView& layer, bool bounded);

// The graph of a layer's candidate with this name, which is a childnet. An error says why there is
// none.
Result<Graph> ChildnetNamed(const LayerView& layer, const std::string& name);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_CHILDNET_H_
