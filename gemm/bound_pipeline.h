// A standard pipeline bound to the packed matrix or filters whose products it finishes: all that
// does not change from call to call, found once. Calls with one skip the checks and the per-channel
// preparation that dominate small products.
#ifndef INTAGLIO_GEMM_BOUND_PIPELINE_H_
#define INTAGLIO_GEMM_BOUND_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/pack/packed_matrix.h"
#include "intaglio/pipeline/kept.h"
#include "intaglio/pipeline/pipeline.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio {

class PackedDepthwise;  // gemm/depthwise.h
class PackedWinograd;   // gemm/winograd.h
struct BindTarget;      // gemm/plan/bound_storage.h

// How products are cut and read. It changes how long they take, but no result.
struct Cutting {
  // The rows of a task take this part of L2 at most: 4 is a fourth. 0: as the kernel wants it.
  int rows_part_of_l2 = 0;
  // Gathers the rows of every window of a convolution, even where they might be read where they
  // overlap. Filters that were packed for reading windows (PrepackOptions) are read so anyway.
  bool gathers_windows = false;
};

struct BindOptions {
  // Whether to look, per channel, for a cheaper arithmetic that is proven to give the same bits
  // (fixedpoint/fit_double_rounding.h, fit_multiply_add.h), which takes a quarter of a
  // microsecond a channel on x86 and some ten on Arm...
  bool fit = true;
  // ... if products have so many rows, or convolutions pixels, that it is won back within some tens
  // of calls. The kernel is chosen for as many rows, too. Unlimited by default.
  int64_t rows = INT64_MAX;
  // Whether other data pass through the caches from one call to the next, as the weights of other
  // layers do. This matrix then comes from beyond L2 in each call, even if it is small. It is
  // fetched ahead where that pays.
  bool weights_from_memory = false;
  // Whether the other operand was computed by the same threads just before, and they read the
  // results next, as in a sequence of layers. Each thread then keeps to a part of the rows, which
  // its cache has, unless that costs more than taking rows from other threads.
  bool keep_rows_per_thread = false;
  Cutting cutting = {};
};

// Immutable; copies share. One made by default is bound to nothing, and refused. What the
// pipeline's pointers point to must outlive it.
class BoundPipeline {
 public:
  // For products of `matrix` with operands of this type and zero point.
  static Result<BoundPipeline> Bind(const PackedMatrix& matrix, const StandardPipeline& pipeline,
                                    Type operand_type, int32_t operand_zero_point,
                                    const BindOptions& options = {});

  // For depthwise convolutions of such an operand with `filters`.
  static Result<BoundPipeline> Bind(const PackedDepthwise& filters,
                                    const StandardPipeline& pipeline, Type operand_type,
                                    int32_t operand_zero_point, const BindOptions& options = {});

  // For convolutions of such an operand with `filters`, which refuse kReal64.
  static Result<BoundPipeline> Bind(const PackedWinograd& filters, const StandardPipeline& pipeline,
                                    Type operand_type, int32_t operand_zero_point,
                                    const BindOptions& options = {});

  // Any of these with a Pipeline of stages, of which a copy is kept. It also refuses stages that
  // do not form the standard pipeline; Gemm, GemmPlan and Depthwise take these as they are.
  template <class Constant, class... Stages>
  static Result<BoundPipeline> Bind(const Constant& matrix_or_filters,
                                    const Pipeline<Stages...>& pipeline, Type operand_type,
                                    int32_t operand_zero_point, const BindOptions& options = {}) {
    const auto kept = Kept(pipeline);
    if (kept == nullptr) return OutOfMemory("no memory to bind a pipeline");
    const auto standard = kept->Standard();
    if (!standard) return HasOwnStages();
    auto bound = Bind(matrix_or_filters, *standard, operand_type, operand_zero_point, options);
    if (bound.ok()) bound->kept_ = kept;
    return bound;
  }

  // For the engine: for products of any panels.
  static Result<BoundPipeline> Bind(const BindTarget& target, const StandardPipeline& pipeline,
                                    Type operand_type, int32_t operand_zero_point,
                                    const BindOptions& options);

  BoundPipeline() = default;

  size_t bytes() const;
  static constexpr size_t kChannelBytes = 40;  // of these, roughly

  struct Storage;
  const Storage* storage() const { return storage_.get(); }

 private:
  explicit BoundPipeline(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}

  static Status HasOwnStages();

  std::shared_ptr<const Storage> storage_;
  std::shared_ptr<const void> kept_;  // what the pipeline's pointers point to, if it was copied
};

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_BOUND_PIPELINE_H_
