// Dispatch explains itself: what would run, and why nothing faster does.
#ifndef INTAGLIO_GEMM_DESCRIBE_H_
#define INTAGLIO_GEMM_DESCRIBE_H_

#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/gemm.h"

namespace intaglio {

struct PreparedProduct;

// One row of the kernel table.
struct KernelInfo {
  std::string name;
  int panel_width;  // of a tile: channels
  int rows;         // by rows
  int depth_step;
  bool usable;
  std::string why_not;        // where it is not usable
  std::string in_order_form;  // as GemmDescription has it
};

// Every kernel of this build, fastest first.
std::vector<KernelInfo> ListKernels();

// How one call would run.
struct GemmDescription {
  std::string kernel;
  // Of a process that may run on cores of both kinds: what takes the kernel's place in tasks on
  // those that issue in program order. Else empty.
  std::string in_order_form;
  std::vector<std::string> skipped;  // "name: reason" of every faster kernel
  bool transposed;                   // panels are made of lhs
  bool packs_panels;                 // neither side was packed before
  bool rows_in_place;                // the other side is read where it lies
  bool rows_in_lines;                // or, of a convolution, in the lines of its image, packed once
  bool in_registers;                 // the pipeline runs in the kernel's registers
  // If it does not: the registers in which a Pipeline of stages runs over tiles
  // (gemm/stage_registers.h).
  std::string stage_registers;
  int bounded_panels;  // panels whose accumulators allow a cheaper exact rounding
  int panels;
  int fitted_channels;  // of bound pipelines: finished by an arithmetic proven to give the same
                        // bits
  int row_tasks;
  int panel_tasks;
  size_t scratch_bytes;  // per thread
  std::string text;      // all of it in one line
};

// Checks the call as Gemm would, and describes it instead of running it.
Result<GemmDescription> DescribeGemm(Context& context, const Operand& lhs, const Operand& rhs,
                                     const MutableMatrix& dst, const StandardPipeline& pipeline);
Result<GemmDescription> DescribeGemm(Context& context, const Operand& lhs, const Operand& rhs,
                                     const MutableMatrix& dst, const BoundPipeline& pipeline);
Result<GemmDescription> DescribeGemm(Context& context, const Operand& lhs, const Operand& rhs,
                                     const MutableMatrix& dst, const TilePipeline& pipeline);
template <class... Stages>
Result<GemmDescription> DescribeGemm(Context& context, const Operand& lhs, const Operand& rhs,
                                     const MutableMatrix& dst,
                                     const Pipeline<Stages...>& pipeline) {
  if (const auto standard = pipeline.Standard()) {
    return DescribeGemm(context, lhs, rhs, dst, *standard);
  }
  return DescribeGemm(context, lhs, rhs, dst, AsTilePipeline(pipeline));
}

// For the engine: the same of a product that is prepared.
GemmDescription Describe(Context& context, const PreparedProduct& prepared);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_DESCRIBE_H_
