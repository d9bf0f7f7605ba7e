// dst = pipeline(lhs x rhs): the product of two 8-bit matrices, finished by an output pipeline.
// Start reading here.
//
// The words of this room; pack/panels.h has those of packed data, kernels/kernel.h those of
// kernels:
//   product       one lhs x rhs with its destination and pipeline
//   operand       one side of a product: a matrix, a convolution's input, or a packed matrix
//   canonical     of a product: rows by panels, transposed where lhs is packed (product.h)
//   finish        how accumulators become results: a pipeline, known in one of three ways
//   bind          to combine a pipeline with packed weights, so that calls find parameters ready
//   plan          a product checked and cut once, of which calls name the data alone
//   dispatch      the choice of a kernel for a CPU, a panel format and a size
//   blocking      how a product is cut into tasks (tasks.h)
//   task          some rows by some panels, done by one thread at a time
//   step          rows that are cut nowhere: a tile's, mostly
//   slice         a part of the rows that is done before the next one begins
//   scratch       a thread's memory during one call
//   direct        of a tile: written to its place by the kernel, not by way of scratch
//   edge          a last panel of fewer channels than its width
//   fetch         to ask for data from beyond L2 before it is read
//   context       threads and scratch, which serve one call at a time
#ifndef INTAGLIO_GEMM_GEMM_H_
#define INTAGLIO_GEMM_GEMM_H_

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/context.h"
#include "intaglio/gemm/prepack.h"
#include "intaglio/gemm/stage_registers.h"
#include "intaglio/pack/im2col.h"
#include "intaglio/pack/matrix.h"
#include "intaglio/pack/packed_matrix.h"
#include "intaglio/pipeline/pipeline.h"
#include "intaglio/pipeline/standard.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio {

// One side of a product: a matrix that may change on every call, a convolution's input (left-hand
// side only), or a constant packed before. Holds pointers; what they point to must outlive the
// call.
class Operand {
 public:
  enum class Kind { kMatrix, kIm2col, kPacked };

  Operand(const ConstMatrix& matrix)  // NOLINT: implicit
      : matrix_(matrix), kind_(Kind::kMatrix) {}
  Operand(const Im2col& view) : im2col_(view), kind_(Kind::kIm2col) {}  // NOLINT: implicit
  Operand(const PackedMatrix& packed)                                   // NOLINT: implicit
      : packed_(&packed), kind_(Kind::kPacked) {}

  Kind kind() const { return kind_; }
  // Each only of its kind.
  const ConstMatrix& matrix() const { return matrix_; }
  const Im2col& im2col() const { return im2col_; }
  const PackedMatrix& packed() const { return *packed_; }

 private:
  union {
    ConstMatrix matrix_;
    Im2col im2col_;
    const PackedMatrix* packed_;
  };
  Kind kind_;
};

// Computes dst = pipeline(lhs x rhs) with lhs M x K, rhs K x N, dst M x N. Operands are int8 or
// uint8 in any combination; at most one is packed.
//
// Accumulators are int32 modulo 2^32, exact where the true sum fits. K is refused where operands of
// these types and zero points could overflow int32, K * max|l - zl| * max|r - zr| > 2^31 - 1; of a
// packed side, its own values count.
//
// Errors: kInvalidArgument for shapes that do not fit, null data, strides too short, a K over the
// bound, pipeline parameters out of range, or a dst that overlaps an operand; kOutOfMemory. dst is
// untouched then.
Status Gemm(Context& context, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const StandardPipeline& pipeline);

// The same with a pipeline bound to the packed operand before (gemm/bound_pipeline.h). A product
// that is computed again and again is planned once by gemm/gemm_plan.h.
Status Gemm(Context& context, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const BoundPipeline& pipeline);

// The same with any pipeline, given by pointer, that is run over tiles of accumulators.
Status Gemm(Context& context, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const TilePipeline& pipeline);

// Does the same with a Pipeline of stages (pipeline/pipeline.h). Compositions that amount to the
// standard pipeline run in the kernels' registers. All others run over tiles in L1, in the
// registers that gemm/stage_registers.h chooses.
template <class... Stages>
Status Gemm(Context& context, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const Pipeline<Stages...>& pipeline) {
  if (const auto standard = pipeline.Standard()) return Gemm(context, lhs, rhs, dst, *standard);
  return Gemm(context, lhs, rhs, dst, AsTilePipeline(pipeline));
}

// For the engine, which also plans (gemm/gemm_plan.h) and describes (gemm/describe.h) products:
// checks everything, the pipeline's parameters included unless they were checked when it was bound,
// and makes the canonical form (gemm/plan/product.h).
struct Finish;
struct PreparedProduct;
Status Prepare(Context& context, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
               const Finish& finish, PreparedProduct& prepared);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_GEMM_H_
