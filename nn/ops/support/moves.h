// Data movement: every operator that only puts elements elsewhere is a list of strided copies.
#ifndef INTAGLIO_NN_OPS_SUPPORT_MOVES_H_
#define INTAGLIO_NN_OPS_SUPPORT_MOVES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// out[to + ...] = in[from + ...], over nested loops with a stride in each. In elements. Strides may
// be 0 in the input (repetition) and negative in either (reversal).
struct Move {
  size_t input = 0;
  size_t output = 0;
  ptrdiff_t from = 0;
  ptrdiff_t to = 0;
  Loops<2> loops;  // the input, the output
};

// An element's bytes.
struct Element {
  std::byte bytes[8] = {};
};

// The layer as these moves, after filling output 0 with an element if there is one. Every move
// must stay inside its tensors, and together with the filling they must write every element. Checks
// that inputs and outputs have one type.
Result<PreparedLayer> PrepareMoves(const LayerView& layer, std::vector<Move> moves,
                                   const std::optional<Element>& fill = {});

// The bytes of the output's quantized zero, or of 0 where it has no quantization.
Result<Element> ZeroOf(const LayerView& layer);

// What PAD writes around its input: the stated number, or else the output's zero.
Result<Element> PaddingOf(const LayerView& layer);

// Fills `count` elements of `size` bytes.
void FillWith(const Element& element, size_t size, size_t count, void* out);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_MOVES_H_
