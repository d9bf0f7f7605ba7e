// Layers with the same operator, the same parameters and the same inputs compute the same: one is
// enough.
//
//   x -+- QUANTIZE - CONV_2D         x - QUANTIZE -+- CONV_2D
//      +- QUANTIZE - ADD                           +- ADD
#ifndef INTAGLIO_NN_PASSES_SHARE_EQUAL_H_
#define INTAGLIO_NN_PASSES_SHARE_EQUAL_H_

#include <cstddef>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Takes a graph that passed Validate. It knows the operators that tools write more than once, among
// them QUANTIZE, DEQUANTIZE, TRANSPOSE and RESHAPE; none of them has a state or a random result.
// Outputs of the graph keep their layers. Quantization can be fused where a result has one reader:
// so this pass comes before.
//
// Returns how many layers it removed. The graph does not know any more how its constants follow
// from shapes, if it did before (Graph::folded_shapes), so that ResizeInputs refuses it. Throws
// std::bad_alloc.
size_t ShareEqual(Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_SHARE_EQUAL_H_
