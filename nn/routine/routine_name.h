// The names of routines: backend, type and algorithm and, where they are not the defaults,
// parameters, as in "cpu:qint8/winograd" and "cpu:qint8/winograd?tiles=24". A second parameter
// follows behind "&".
//
// If the routine is a childnet (childnet.h), the name goes on with how its layers are computed,
// where that is not the default: "cpu:qint8/conv[1=cpu:qint8/gemm?rows_part_of_l2=4@avx2*1]" gives
// layer 1 a routine, a kernel, and one thread. Each of these may be absent. Another layer follows
// behind ",".
#ifndef INTAGLIO_NN_ROUTINE_ROUTINE_NAME_H_
#define INTAGLIO_NN_ROUTINE_ROUTINE_NAME_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/candidate.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The name without parameters and layers: that of the candidate which makes the routine.
std::string_view CandidateIn(std::string_view name);

// What stands behind it: parameters and layers.
std::string_view SettingsIn(std::string_view name);

// The parameters, with the "?"; empty if there are none.
std::string_view ParametersIn(std::string_view name);

// The layers of a childnet, with the brackets; empty if there are none.
std::string_view LayersIn(std::string_view name);

// The value that the name gives a parameter, if it does.
std::optional<int> ParameterIn(std::string_view name, std::string_view parameter);

// Why the parameters of a name are none that the candidate has, or why its layers are none; empty
// if they are.
std::string WhyNotParameters(std::string_view name, const Candidate& candidate);

// What may stand behind the candidate's name: every combination of its parameters' values.
std::vector<std::string> ListParameters(const Candidate& candidate);

// Childnets may be nested so deep in a name: 1 is a childnet that has none.
inline constexpr int kDeepestChildnet = 4;

// How a layer of a childnet is computed.
struct ChildChoice {
  size_t layer = 0;  // its number in the childnet's graph
  LayerChoice choice = {};
};

// The choices for the layers of a childnet that the name states. Errors quote what is wrong.
Result<std::vector<ChildChoice>> ChildChoicesIn(std::string_view name);

// A name without layers, and these choices behind it.
std::string WithChildChoices(std::string_view name, const std::vector<ChildChoice>& choices);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_ROUTINE_NAME_H_
