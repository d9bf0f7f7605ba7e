// What the time of a layer depends on, as the key of a timing (timings.h).
#ifndef INTAGLIO_NN_TUNE_TIMING_KEY_H_
#define INTAGLIO_NN_TUNE_TIMING_KEY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/routine/routine.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {
class Backend;
}

namespace intaglio::nn::tune {

// Four fields: the CPU's vendor, family, model and stepping, with a hash of its features and cache
// sizes (whether a hypervisor runs it is a feature); how many CPUs the process may use; a hash of
// the kernel table; the version of the library.
std::string MachineKey();

// Six fields: operator, types and shapes, a digest of what else is known of the layer, routine,
// kernel, threads. On a device, its hardware is in place of the kernel. `info` is of the layer in a
// model that runs it by default; `choice` leaves open what is as there. Operators do not show their
// parameters here: the digest has the work of a run and the numerics, so layers that differ in
// parameters alone mostly, but not always, differ in it.
std::string LayerKey(const Graph& graph, size_t layer, const LayerInfo& info,
                     const LayerChoice& choice, const PrepareOptions& options);

// The same for a copy of so many bytes to or from the memory of a device, which is waited for.
std::string TransferKey(const Backend& device, size_t bytes, bool to_device);

// What a line about a whole network says, in place of the operator.
inline constexpr const char* kCompared = "NETWORK";     // how long it took beside the untuned one
inline constexpr const char* kUndecided = "UNDECIDED";  // the same, after too few turns
inline constexpr const char* kTuned = "TUNED";          // how long the budget of its tuning was

// The same for a whole network, whose layers and constants `digest` (machine.h) stands for. The
// routine is a hash of how its layers are computed.
std::string NetworkKey(const char* says, const Graph& graph, uint64_t digest,
                       const std::vector<RoutineChoice>& choices,
                       const std::vector<size_t>& converted_layers, const PrepareOptions& options);

// The same for a tuning. `digest` is also of what may be tried. The budget is in the place of the
// routine; negative: what the network is worth.
std::string TunedKey(const Graph& graph, uint64_t digest, std::chrono::nanoseconds budget,
                     const PrepareOptions& options);

// Stands in place of a routine for the untuned way that was measured once more as the control. What
// it takes longer is noise.
inline constexpr const char* kControl = "control";

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_TIMING_KEY_H_
