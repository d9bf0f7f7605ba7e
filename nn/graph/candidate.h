// The ways to compute the layers of an operator, in order: the first that accepts a layer is its
// default (nn/routine/candidates.h).
#ifndef INTAGLIO_NN_GRAPH_CANDIDATE_H_
#define INTAGLIO_NN_GRAPH_CANDIDATE_H_

#include <cstddef>
#include <span>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/type_set.h"

namespace intaglio::nn {

class LayerView;
struct LayerOptions;
struct PreparedLayer;

// One way. Its name is "cpu:qint8/gemm": backend, type, algorithm. The names of an operator's
// candidates for one type differ.
struct Candidate {
  const char* algorithm;
  // Makes the routine, or says what is wrong with the layer. Called on layers that are accepted.
  Result<PreparedLayer> (*prepare)(const LayerView& layer, const LayerOptions& options);
  // The types of the typed input that are accepted.
  TypeSet types = kAnyType;
  // Says why a layer of these types is not accepted; null where it is. Without a function, every
  // layer is.
  const char* (*why_not)(const LayerView& layer, const LayerOptions& options) = nullptr;
  // The types for which results lie within bounds of the reference's. For others they are its bits.
  TypeSet bounded = SetOf(Type::kFloat32);
  // Names the type where it is not the typed input's, such as "hybrid".
  const char* kind = nullptr;
  size_t typed_input = 0;
  const char* backend = "cpu";
};

// Either one candidate or a list that lives as long as the program.
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

// A way that computes nothing: the reference's bits for every type.
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
