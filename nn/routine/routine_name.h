// The names of routines: backend, type and algorithm and, where they are not the defaults,
// parameters, as in "cpu:qint8/winograd" and "cpu:qint8/winograd?tiles=24". A second parameter
// follows behind "&".
#ifndef INTAGLIO_NN_ROUTINE_ROUTINE_NAME_H_
#define INTAGLIO_NN_ROUTINE_ROUTINE_NAME_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/nn/graph/candidate.h"

namespace intaglio::nn {

// The name without parameters: that of the candidate which makes the routine.
std::string_view CandidateIn(std::string_view name);

// What stands behind it, with the "?"; empty if there is nothing.
std::string_view ParametersIn(std::string_view name);

// The value that the name gives a parameter, if it does.
std::optional<int> ParameterIn(std::string_view name, std::string_view parameter);

// Why the parameters of a name are none that the candidate has; empty if they are.
std::string WhyNotParameters(std::string_view name, const Candidate& candidate);

// What may stand behind the candidate's name: every combination of its parameters' values.
std::vector<std::string> ListParameters(const Candidate& candidate);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_ROUTINE_NAME_H_
