// Ways to prepare a model that all give the same bits.
#ifndef INTAGLIO_NN_RUNTIME_EXACT_ROUTINES_H_
#define INTAGLIO_NN_RUNTIME_EXACT_ROUTINES_H_

#include <vector>

#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {

// Choices for PrepareOptions::routines. Over all of them every exact routine of every layer of the
// model runs, with each of its parameters: as many networks as the layer with the most has
// routines, each with the next routine of all layers.
std::vector<std::vector<RoutineChoice>> ExactRoutines(const Model& model);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_RUNTIME_EXACT_ROUTINES_H_
