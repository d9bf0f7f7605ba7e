#include "intaglio/gemm/bound_pipeline.h"

#include <new>
#include <utility>

#include "intaglio/gemm/bind_panels.h"
#include "intaglio/gemm/dispatch.h"

namespace intaglio {

Result<BoundPipeline> BoundPipeline::Bind(const PackedMatrix& matrix,
                                          const StandardPipeline& pipeline, Type operand_type,
                                          int32_t operand_zero_point, const BindOptions& options) {
  const auto of_format = KernelFor(matrix.panels().format);
  if (!of_format.ok()) return of_format.status();
  const Panels& panels = matrix.panels();
  const Kernel* kernel = ForProduct(operand_type, {options.rows, panels.channels, panels.groups},
                                    CandidatesOf(**of_format));
  try {
    const BindTarget target{std::make_shared<const PackedMatrix>(matrix),
                            &panels,
                            kernel,
                            RowMove(kernel->row_format, operand_type),
                            matrix.side() == Side::kLhs ? Axis::kRows : Axis::kCols,
                            kernel->takes_multiply_add};
    auto storage = BindPanels(target, pipeline, operand_type, operand_zero_point, options);
    if (!storage.ok()) return storage.status();
    return BoundPipeline(std::move(*storage));
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to bind a pipeline");
  }
}

Status BoundPipeline::HasOwnStages() {
  return Unsupported(
      "bound pipeline: it has stages of other kinds than the standard pipeline; give it to Gemm, "
      "GemmPlan or Depthwise as it is");
}

size_t BoundPipeline::bytes() const { return storage_ == nullptr ? 0 : storage_->params.bytes(); }

}  // namespace intaglio
