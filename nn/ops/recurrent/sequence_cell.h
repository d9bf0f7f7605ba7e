// The cells of RECURRENT_SEQUENCE: what a step makes of the sums of its products.
#ifndef INTAGLIO_NN_OPS_RECURRENT_SEQUENCE_CELL_H_
#define INTAGLIO_NN_OPS_RECURRENT_SEQUENCE_CELL_H_

#include <cstddef>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/recurrent/sequence.h"

namespace intaglio::nn {

// In place.
void Apply(const FloatLoops& floats, const CellFunction& function, float* x, ptrdiff_t count);

// What is the same for all steps of a direction.
struct CellParameters {
  const FloatLoops* floats = nullptr;
  const RecurrentSequence* op = nullptr;
  ptrdiff_t units = 0;
  const CellFunction* functions = nullptr;
  const float* peepholes = nullptr;  // [3, units], or null
};

// One element of a sequence. Functions work on the units [begin, end).
struct CellStep {
  const float* of_x = nullptr;  // [gates, units]: products with x, and all biases but those of R h
  float* of_h = nullptr;        // [gates, units]: products with h
  float* h = nullptr;           // [units]: the last ones, then the next ones
  float* c = nullptr;
  float* reset_h = nullptr;  // r * h of kGru without reset_after
  ptrdiff_t begin = 0;
  ptrdiff_t end = 0;
};

// Makes h of the sums, and c. For kGru without reset_after, ResetState comes first, and of_h must
// hold the products of gate n with reset_h by then.
void UpdateState(const CellParameters& cell, const CellStep& step);
void ResetState(const CellParameters& cell, const CellStep& step);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_RECURRENT_SEQUENCE_CELL_H_
