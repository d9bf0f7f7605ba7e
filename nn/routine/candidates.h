// Chooses among the candidates of a layer (nn/graph/candidate.h).
#ifndef INTAGLIO_NN_ROUTINE_CANDIDATES_H_
#define INTAGLIO_NN_ROUTINE_CANDIDATES_H_

#include <span>
#include <string>
#include <vector>

#include "intaglio/nn/graph/candidate.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

enum class NumericClass { kExact, kBounded };  // the reference's bits, or within bounds of it

// What is known of a candidate for one layer.
struct CandidateInfo {
  std::string name;  // "cpu:qint8/gemm", as PreparedLayer has it
  NumericClass numeric = NumericClass::kExact;
  std::string why_not;  // empty: the candidate accepts the layer
};

// In order: without a choice, the first that accepts the layer is taken.
std::vector<CandidateInfo> ListCandidates(std::span<const Candidate> candidates,
                                          const LayerView& layer, const LayerOptions& options);

// The candidate named options.routine or, if that is empty, the first that accepts the layer. The
// error lists the candidates and why they were not taken.
Result<const Candidate*> ChooseCandidate(std::span<const Candidate> candidates,
                                         const LayerView& layer, const LayerOptions& options);

// The routine of a candidate, with its name.
Result<PreparedLayer> PrepareCandidate(const Candidate& candidate, const LayerView& layer,
                                       const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_CANDIDATES_H_
