// Concatenations that need no copy: results whose parts are written where they belong.
#ifndef INTAGLIO_NN_ROUTINE_CONCATENATE_IN_PLACE_H_
#define INTAGLIO_NN_ROUTINE_CONCATENATE_IN_PLACE_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The place of a tensor inside the result of a concatenation, in bytes: one piece, or lines of its
// last dimension, each in a line of the result.
struct JoinedPlace {
  TensorId result = kNoTensor;
  size_t offset = 0;
  size_t bytes = 0;   // of the piece, or of each line
  size_t stride = 0;  // from line to line; 0 of one piece
};

// The places that tensors can be given, per tensor: of operands that a layer writes and that lie in
// the result as they are. In lines only those that nothing but their concatenation reads, of layers
// that write them so. A result may itself have a place in another.
std::vector<JoinedPlace> FindJoins(const Graph& graph, const std::vector<PreparedLayer>& layers);

// For each tensor, its place in the outermost of the results that it lies in. A tensor without a
// place is its own result, with no offset and no stride.
std::vector<JoinedPlace> OutermostPlaces(const std::vector<JoinedPlace>& places);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_CONCATENATE_IN_PLACE_H_
