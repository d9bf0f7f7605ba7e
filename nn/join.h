// Concatenations that need no copy: results whose parts are written where they belong.
#ifndef INTAGLIO_NN_JOIN_H_
#define INTAGLIO_NN_JOIN_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/graph.h"
#include "intaglio/nn/layer.h"

namespace intaglio::nn {

// The place of a tensor inside the result of a concatenation, in bytes.
struct JoinedPlace {
  TensorId result = kNoTensor;
  size_t offset = 0;
};

// The places that tensors can be given, per tensor: of operands that a layer writes and that lie in
// the result in one piece, as they are. A result may itself have a place in another.
std::vector<JoinedPlace> FindJoins(const Graph& graph, const std::vector<PreparedLayer>& layers);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_JOIN_H_
