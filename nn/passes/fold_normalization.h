// Batch normalization multiplies each channel by a number and adds another one. Behind a product
// with constant weights these numbers become part of the weights and of the bias:
//
//   x - CONV_2D(w, b) - MUL(k) - ADD(c) - y
//   x - CONV_2D(w k, b k + c)           - y
#ifndef INTAGLIO_NN_PASSES_FOLD_NORMALIZATION_H_
#define INTAGLIO_NN_PASSES_FOLD_NORMALIZATION_H_

#include <cstddef>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/passes/fold_constants.h"

namespace intaglio::nn {

// How many layers it removed.
struct FoldedNormalization {
  size_t factors = 0;  // MUL
  size_t offsets = 0;  // ADD
};

// Takes a graph that passed Validate. It looks at convolutions and fully connected layers of
// float32, and at constants with one number, or with one for each channel. New weights and biases
// are rounded to float32, so results differ from those of the layers by rounding. They are the same
// if a layer without a bias gets one, but for infinities.
//
// It leaves alone what QUANTIZE reads, also through layers that work element by element: there the
// bits of dequantizing, float32 and quantizing are promised. Fusing quantization comes first, and
// what it makes has no weights of float32.
//
// Weights that would not be finite, or that the budget does not allow, stay. The graph does not
// know any more how its constants follow from shapes, if it did before (Graph::folded_shapes), so
// that ResizeInputs refuses it. Throws std::bad_alloc.
FoldedNormalization FoldNormalization(Graph& graph, FoldBudget& budget);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_FOLD_NORMALIZATION_H_
