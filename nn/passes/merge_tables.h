// Layers of 8 bits that follow from one tensor, element by element, are one table of 256 numbers.
// Tools quantize each step of such a function by itself:
//
//   x -+- MAP_BYTES - MUL - MAP_BYTES - y        x - MAP_BYTES - y
//      +--------------+
#ifndef INTAGLIO_NN_PASSES_MERGE_TABLES_H_
#define INTAGLIO_NN_PASSES_MERGE_TABLES_H_

#include <cstddef>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Takes a graph that passed Validate. It looks at MAP_BYTES, at ADD, SUB and MUL by ONNX's rules,
// and at QLINEAR_ADD and QLINEAR_MUL, whose inputs are functions of one tensor or constants of one
// element. It computes the layers for all 256 numbers, so that the bits stay the same. A result
// that others read as well keeps its layers.
//
// Returns how many layers became, or moved into, a table. The graph does not know any more how its
// constants follow from shapes, if it did before (Graph::folded_shapes), so that ResizeInputs
// refuses it. Throws std::bad_alloc.
size_t MergeTables(Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_MERGE_TABLES_H_
