// Formats differ in the order of an image's dimensions. A reader of a format that puts channels
// first writes transposes around each operator that wants them last. This pass moves them until
// they meet and cancel each other:
//
//   x - TRANSPOSE - CONV_2D - TRANSPOSE - RELU - TRANSPOSE - CONV_2D - TRANSPOSE - y
//   x - TRANSPOSE - CONV_2D -             RELU -             CONV_2D - TRANSPOSE - y
#ifndef INTAGLIO_NN_PASSES_REMOVE_TRANSPOSES_H_
#define INTAGLIO_NN_PASSES_REMOVE_TRANSPOSES_H_

#include <cstddef>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// How many TRANSPOSE layers there were, and are. What moves only dimensions of extent 1 is a
// RESHAPE and does not count.
struct RemovedTransposes {
  size_t before = 0;
  size_t after = 0;
};

// Takes a graph that passed Validate. Transposes move toward the outputs, through operators that
// work on each element, along axes, or on shapes, until an operator needs the order that they make.
// Constants get the new order at once. Results have the same bits, but for sums of float32 that are
// taken in another order: those of reductions, and of a fully connected layer behind a reshape.
//
// The graph does not know any more how its constants follow from shapes, if it did before
// (Graph::folded_shapes), so that ResizeInputs refuses it. Throws std::bad_alloc.
RemovedTransposes RemoveTransposes(Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_REMOVE_TRANSPOSES_H_
