// Constants that are added to each channel of a product become its bias:
//
//   x - FULLY_CONNECTED(w) - ADD(b) - y
//   x - FULLY_CONNECTED(w, b)       - y
#ifndef INTAGLIO_NN_PASSES_FOLD_BIAS_H_
#define INTAGLIO_NN_PASSES_FOLD_BIAS_H_

#include <cstddef>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Takes a graph that passed Validate. It looks at convolutions and fully connected layers without a
// bias, of float32, whatever makes their weights, or of integers whose outputs are their sums
// (Scaling::kNone), if none can overflow with the bias. Results keep their bits, but for
// infinities. It comes before FuseQuantization, which then finds products with a bias, and makes
// integer products of them whose results are quantized at once.
//
// Returns how many layers it removed. The graph does not know any more how its constants follow
// from shapes, if it did before (Graph::folded_shapes), so that ResizeInputs refuses it. Throws
// std::bad_alloc.
size_t FoldBias(Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_FOLD_BIAS_H_
