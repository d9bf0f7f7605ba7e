// The ways to compute the layers of an operator. They are a list in order: the first that accepts a
// layer computes it by default (nn/routine/candidates.h).
#ifndef INTAGLIO_NN_GRAPH_CANDIDATE_H_
#define INTAGLIO_NN_GRAPH_CANDIDATE_H_

#include <cstddef>
#include <span>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/type_set.h"

namespace intaglio::nn {

class LayerView;
struct Graph;
struct LayerOptions;
struct PreparedLayer;

// A number that a candidate takes, such as how much it computes at once, and the values to choose
// from. It changes how long a run takes, but no result.
struct CandidateParameter {
  const char* name;
  std::span<const int> values;
};

// One way. Its name is "cpu:qint8/gemm": backend, type, algorithm. The names of an operator's
// candidates for one type differ.
struct Candidate {
  const char* algorithm;
  // Makes the routine, or says what is wrong with the layer. Only called if the candidate accepts
  // the layer.
  Result<PreparedLayer> (*prepare)(const LayerView& layer, const LayerOptions& options);
  // The types that the typed input may have.
  TypeSet types = kAnyType;
  // Says why the candidate does not accept a layer of these types, or returns null if it does. If
  // there is no function, the candidate accepts every layer of these types.
  const char* (*why_not)(const LayerView& layer, const LayerOptions& options) = nullptr;
  // The types for which the results only lie within bounds of the reference's results. For all
  // other types they are the same bits.
  TypeSet bounded = SetOf(Type::kFloat32);
  // Stands in the name instead of the type of the typed input, such as "hybrid".
  const char* kind = nullptr;
  size_t typed_input = 0;
  const char* backend = "cpu";
  // They may be given behind the name (nn/routine/routine_name.h); else the candidate chooses.
  std::span<const CandidateParameter> parameters = {};
  // Bounds the bytes that preparing may take beyond what the operator's row says, if these options
  // ask for them. Null: none.
  int64_t (*extra_bytes)(const LayerView& layer, const LayerOptions& options) = nullptr;
  // Makes the graph that the routine runs, if the candidate is a childnet (nn/routine/childnet.h).
  Result<Graph> (*childnet)(const LayerView& layer) = nullptr;
};

// Either one candidate or a list, which must live as long as the process.
class Candidates {
 public:
  constexpr Candidates() = default;
  constexpr Candidates(const Candidate& only) : only_(only) {}
  template <size_t kCount>
  constexpr Candidates(const Candidate (&list)[kCount]) : list_(list), count_(kCount) {}

  std::span<const Candidate> list() const {
    if (count_ > 0) return {list_, count_};
    return {&only_, size_t{only_.prepare != nullptr}};
  }

 private:
  Candidate only_ = {nullptr, nullptr};
  const Candidate* list_ = nullptr;
  size_t count_ = 0;
};

// A candidate that only moves elements, so its results are the reference's bits for every type.
constexpr Candidate Moves(const char* algorithm,
                          Result<PreparedLayer> (*prepare)(const LayerView& layer,
                                                           const LayerOptions& options),
                          size_t typed_input = 0, TypeSet types = kAnyType) {
  return {.algorithm = algorithm,
          .prepare = prepare,
          .types = types,
          .bounded = 0,
          .typed_input = typed_input};
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_CANDIDATE_H_
