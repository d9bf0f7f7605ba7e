// What the recurrent operators share.
#ifndef INTAGLIO_NN_OPS_RECURRENT_CELL_H_
#define INTAGLIO_NN_OPS_RECURRENT_CELL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/ops/recurrent/operators.h"
#include "intaglio/nn/ops/support/scratch_divider.h"
#include "intaglio/nn/routine/packed_once.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// In place.
void Apply(const FloatLoops& floats, CellActivation activation, float* x, ptrdiff_t count);

// The rows of a batch of sequences.
struct SequenceRows {
  int steps = 1;
  int batch = 1;
  bool time_major = true;

  int count() const { return steps * batch; }
  ptrdiff_t row(int step, int b) const {
    return time_major ? ptrdiff_t{step} * batch + b : ptrdiff_t{b} * steps + step;
  }
  // Between the rows of one step.
  ptrdiff_t stride() const { return time_major ? 1 : steps; }
};
// Of x: [batch, depth], or a sequence of such.
Result<SequenceRows> RowsOf(const LayerView& layer, bool sequence, bool time_major);

// The scale of weights that are quantized with one and the zero point 0.
Result<float> SymmetricScale(const LayerView& layer, const Tensor& tensor);

// The constant input i, float32 or int8, as real numbers.
Result<std::vector<float>> RealNumbersOf(const LayerView& layer, size_t i, Type type);

// Packs inputs as one matrix, one under the other. They are int8 weights [outputs, depth] with the
// zero point 0.
Result<PackedOf<PackedMatrix>> PackCellWeights(const LayerView& layer,
                                               const std::vector<size_t>& inputs,
                                               const LayerOptions& options);

// Input i is there, constant, and has this shape.
Status CheckConstant(const LayerView& layer, size_t i, const Shape& shape);

// Input i is a variable of so many elements.
Status CheckVariable(const LayerView& layer, size_t i, int64_t elements);

// Sums of so many products of 8-bit numbers fit int32.
Status CheckDepth(const LayerView& layer, int depth);

// A number of elements that the arena, as an int, and sums of products can hold.
Status CheckSizes(const LayerView& layer, int64_t rows, int64_t columns);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_RECURRENT_CELL_H_
