// A product that is computed again and again: shapes, strides and pipeline are checked once, calls
// name the data alone. Of small products the checks take as long as the arithmetic.
#ifndef INTAGLIO_GEMM_GEMM_PLAN_H_
#define INTAGLIO_GEMM_GEMM_PLAN_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/stage_registers.h"
#include "intaglio/pipeline/kept.h"
#include "intaglio/pipeline/pipeline.h"
#include "intaglio/pipeline/standard.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio {

// Immutable; copies share their content. One operand must have been packed before (gemm/prepack.h).
// A default plan plans nothing, and running it is an error.
class GemmPlan {
 public:
  // For dst = pipeline(lhs x rhs) as of Gemm; the views' data is not looked at. What the pipeline's
  // pointers point to must outlive the plan, which keeps the packed operand. Errors: as Gemm's.
  static Result<GemmPlan> Make(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
                               const BoundPipeline& pipeline);

  // Does the same with any pipeline, over tiles.
  static Result<GemmPlan> Make(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
                               const TilePipeline& pipeline);

  // Does the same with the standard pipeline. The pipeline is bound to the packed operand if its
  // channels are that operand's.
  static Result<GemmPlan> Make(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
                               const StandardPipeline& pipeline);

  // Does the same with a Pipeline of stages, of which a copy is kept.
  template <class... Stages>
  static Result<GemmPlan> Make(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
                               const Pipeline<Stages...>& pipeline) {
    const auto kept = Kept(pipeline);
    if (kept == nullptr) return OutOfMemory("no memory to plan a product");
    const auto standard = kept->Standard();
    auto plan =
        standard ? Make(lhs, rhs, dst, *standard) : Make(lhs, rhs, dst, AsTilePipeline(*kept));
    if (plan.ok()) plan->kept_ = kept;
    return plan;
  }

  GemmPlan() = default;

  // Computes it, with the data of the operand that is not packed, and with dst's data and stride.
  // Errors: kInvalidArgument for null data, a stride too short, or a dst that overlaps the operand;
  // kOutOfMemory. dst is untouched then.
  Status Run(Context& context, const void* operand, void* dst, ptrdiff_t dst_stride) const;

  struct Storage;

 private:
  explicit GemmPlan(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}
  static Result<GemmPlan> MakeOverTiles(const Operand& lhs, const Operand& rhs,
                                        const MutableMatrix& dst, TilePipeline tile,
                                        const StandardPipeline* standard);

  std::shared_ptr<const Storage> storage_;
  std::shared_ptr<const void> kept_;  // what the pipeline's pointers point to, if it was copied
};

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_GEMM_PLAN_H_
