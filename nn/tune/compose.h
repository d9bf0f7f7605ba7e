// Puts a network together of layers that compute in different ways and schemas.
#ifndef INTAGLIO_NN_TUNE_COMPOSE_H_
#define INTAGLIO_NN_TUNE_COMPOSE_H_

#include <cstddef>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/passes/compute_in_float.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::tune {

// How a layer of the network is computed.
struct LayerWay {
  LayerChoice choice;
  bool in_float = false;  // see TimedWay
};

struct Composed {
  FloatRewrite network;
  std::vector<RoutineChoice> choices;  // for PrepareOptions::routines, with that network's graph
  std::vector<size_t> float_layers;    // of the network that was given
  size_t adapters = 0;                 // that were put in
};

// `ways` has one for each layer. Errors are those of ComputeInFloat.
Result<Composed> Compose(const Graph& graph, const std::vector<LayerWay>& ways);

// The choices of the layers of a network that was rewritten, from those of the layers before.
std::vector<RoutineChoice> ChoicesFor(const Graph& graph, const FloatRewrite& network,
                                      const std::vector<LayerWay>& ways);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_COMPOSE_H_
