// Layers of whose results nothing is read, neither by a layer nor by the caller, are removed, and
// then those that only they read:
//
//   x -+- CONV_2D - y                x - CONV_2D - y
//      +- EXP - SQRT
#ifndef INTAGLIO_NN_PASSES_REMOVE_UNREAD_H_
#define INTAGLIO_NN_PASSES_REMOVE_UNREAD_H_

#include <cstddef>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Takes a graph that passed Validate. Layers with variables, without outputs, or with graphs inside
// stay: they may do more than make their results. A run fails less often: a layer that is gone
// cannot divide by zero.
//
// Returns how many layers it removed. The graph does not know any more how its constants follow
// from shapes, if it did before (Graph::folded_shapes), so that ResizeInputs refuses it. Throws
// std::bad_alloc.
size_t RemoveUnread(Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_REMOVE_UNREAD_H_
