// The ways to compute each layer of a network that the tuner tries.
#ifndef INTAGLIO_NN_TUNE_WAYS_H_
#define INTAGLIO_NN_TUNE_WAYS_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/routine/routine.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::tune {

// The ways of one layer. The first is how the layer is computed so far.
using Ways = std::vector<LayerChoice>;

// The most kernels that are tried for a layer: the others are for older CPUs.
inline constexpr size_t kMostKernels = 4;

// Every exact routine that accepts a layer, with each of the best kernels if the layer has packed
// constants and `options` name no kernel. Also the routine that the layer has, with its other
// parameters. With `allow_bounded`, every routine.
std::vector<Ways> RoutinesAndKernels(const Model& untuned, const PrepareOptions& options,
                                     bool allow_bounded = false);

// The ways in `chosen`, on fewer threads: half as many, and so on down to one.
std::vector<Ways> FewerThreads(const std::vector<LayerChoice>& chosen, int threads);

// The choices of a variant (nn/tune/profile.h), for PrepareOptions::routines.
std::vector<RoutineChoice> ChoicesOf(const std::vector<Ways>& ways, size_t variant);

size_t CountVariants(const std::vector<Ways>& ways);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_WAYS_H_
