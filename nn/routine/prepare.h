// Prepares a layer by its operator's row.
#ifndef INTAGLIO_NN_ROUTINE_PREPARE_H_
#define INTAGLIO_NN_ROUTINE_PREPARE_H_

#include <string>
#include <vector>

#include "intaglio/nn/routine/candidates.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The name of the best kernel for this CPU; empty if no kernel is usable.
std::string BestKernel();

// Makes the routine of the candidate that is chosen among the row's, after the checks that the row
// states. What preparing may take is charged to the ledger before. Only for layers of graphs that
// passed Validate.
Result<PreparedLayer> Prepare(const LayerView& layer, const LayerOptions& options);

// The candidates of a layer on this CPU. Only for layers of graphs that passed Validate.
std::vector<CandidateInfo> ListCandidates(const LayerView& layer, const LayerOptions& options);

// The names of the routines that compute a layer if they are named, in order of preference, whether
// or not they are known to be faster somewhere. `bounded` says whether those come, too, whose
// results only lie within bounds; `parameters`, whether every name comes once more with each of
// its parameters (routine_name.h).
std::vector<std::string> NamesOfRoutines(const LayerView& layer, const std::string& kernel,
                                         bool bounded, bool parameters);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_PREPARE_H_
