// Concatenations that need no copy, because layers write the operands into the result.
#ifndef INTAGLIO_NN_ROUTINE_CONCATENATE_IN_PLACE_H_
#define INTAGLIO_NN_ROUTINE_CONCATENATE_IN_PLACE_H_

#include <cstddef>
#include <vector>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The place of a tensor inside the result of a concatenation, in bytes. The tensor is one piece, or
// each line of its last dimension lies in a line of the result.
struct JoinedPlace {
  TensorId result = kNoTensor;
  size_t offset = 0;
  size_t bytes = 0;   // of the piece, or of each line
  size_t stride = 0;  // from line to line; 0 if the tensor is one piece
};

// Returns, for each tensor, the place that it may have in the result of a concatenation. A tensor
// may have a place if a layer writes it and the concatenation does not change its numbers. It may
// lie in separate lines only if the concatenation is its sole reader and its layer can write with a
// stride. A result may itself have a place in another result.
std::vector<JoinedPlace> FindJoins(const Graph& graph, const std::vector<PreparedLayer>& layers);

// For each tensor, its place in the outermost of the results that it lies in. A tensor without a
// place is its own result, with no offset and no stride.
std::vector<JoinedPlace> OutermostPlaces(const std::vector<JoinedPlace>& places);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_CONCATENATE_IN_PLACE_H_
