// Routines that are small graphs of layers themselves: *childnets*. A dense layer may be a
// convolution between two reshapes. Each layer of a childnet has candidates, as those of any graph
// have, so a childnet is computed in as many ways as its layers can be (routine_name.h).
//
// Hilaga and others, "SoftNeuro: fast deep inference using multi-platform optimization", 2021,
// section III-D.
#ifndef INTAGLIO_NN_ROUTINE_CHILDNET_H_
#define INTAGLIO_NN_ROUTINE_CHILDNET_H_

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

template <Result<Graph> (*kMake)(const LayerView& layer)>
Result<PreparedLayer> PrepareChildnetOf(const LayerView& layer, const LayerOptions& options) {
  Result<Graph> graph = kMake(layer);
  if (!graph.ok()) return graph.status();
  return PrepareChildnet(layer, options, std::move(*graph));
}

// A candidate for layers of these types whose childnet is kMake.
template <Result<Graph> (*kMake)(const LayerView& layer)>
constexpr Candidate ChildnetCandidate(
    const char* algorithm, TypeSet types,
    const char* (*why_not)(const LayerView& layer, const LayerOptions& options),
    int64_t (*extra_bytes)(const LayerView& layer, const LayerOptions& options) = nullptr) {
  return {.algorithm = algorithm,
          .prepare = PrepareChildnetOf<kMake>,
          .types = types,
          .why_not = why_not,
          .extra_bytes = extra_bytes,
          .childnet = kMake};
}

// The names of the layer's candidates that are childnets and accept it. With `bounded`, also those
// whose results only lie within bounds.
std::vector<std::string> NamesOfChildnets(const LayerView& layer, bool bounded);

// The graph of a layer's candidate with this name, which is a childnet. An error says why there is
// none.
Result<Graph> ChildnetNamed(const LayerView& layer, const std::string& name);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_CHILDNET_H_
