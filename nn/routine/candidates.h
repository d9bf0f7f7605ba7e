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
  std::string name;  // "cpu:qint8/gemm"
  NumericClass numeric = NumericClass::kExact;
  std::string why_not;  // empty: the candidate accepts the layer
  // What may follow its name: "?tiles=24" (routine_name.h).
  std::vector<std::string> parameters = {};
};

// Describes the candidates in their order. Without a choice, the first that accepts the layer is
// taken.
std::vector<CandidateInfo> ListCandidates(std::span<const Candidate> candidates,
                                          const LayerView& layer, const LayerOptions& options);

// Returns the candidate named options.routine or, if that is empty, the first that accepts the
// layer. An error lists the candidates and why none of them was taken.
Result<const Candidate*> ChooseCandidate(std::span<const Candidate> candidates,
                                         const LayerView& layer, const LayerOptions& options);

// Makes the routine of a candidate, and gives it the candidate's name, with parameters if
// options.routine has some.
Result<PreparedLayer> PrepareCandidate(const Candidate& candidate, const LayerView& layer,
                                       const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_CANDIDATES_H_
