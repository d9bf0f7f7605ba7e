// Puts a network together of layers that compute in different ways and schemas.
#ifndef INTAGLIO_NN_TUNE_COMPOSE_H_
#define INTAGLIO_NN_TUNE_COMPOSE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/passes/compute_in_float.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/nn/tune/other_form.h"

namespace intaglio::nn::tune {

// How a layer of the network is computed.
struct LayerWay {
  LayerChoice choice;
  bool converted = false;  // see TimedWay
};

struct Composed {
  FloatRewrite network;
  std::vector<RoutineChoice> choices;    // for PrepareOptions::routines, with that network's graph
  std::vector<size_t> converted_layers;  // of the form's network
  // Layers that stay as they are, with the default routine, though their ways are converted.
  std::vector<std::pair<size_t, std::string>> refused;
  size_t adapters = 0;  // that were put in
};

// `ways` has one for each layer of the form's network. `accepted` and errors are those of
// OtherForm::Convert.
Result<Composed> Compose(const OtherForm& form, std::vector<LayerWay> ways, bool accepted = false);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_COMPOSE_H_
