#include "intaglio/gemm/gemm_plan.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <new>
#include <optional>

#include "intaglio/gemm/describe.h"
#include "intaglio/gemm/plan/bound_storage.h"
#include "intaglio/gemm/plan/check.h"
#include "intaglio/gemm/plan/cut_for_threads.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/plan/panel_params.h"
#include "intaglio/gemm/plan/product.h"
#include "intaglio/gemm/run/tasks.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// How a product is cut for several threads: found in the first call with so many, and kept for the
// next ones, as nearly all are.
class SharedBlocking {
 public:
  Blocking Of(const Product& product, int threads) const {
    int state = state_.load(std::memory_order_acquire);
    if (state == kMade && made_.threads == threads) return made_;
    const Blocking blocking = Block(product, threads);
    if (state == kNone && state_.compare_exchange_strong(state, kBusy)) {
      made_ = blocking;
      state_.store(kMade, std::memory_order_release);
    }
    return blocking;
  }

 private:
  static constexpr int kNone = 0;
  static constexpr int kBusy = 1;  // somebody writes it
  static constexpr int kMade = 2;
  mutable std::atomic<int> state_{kNone};
  mutable Blocking made_{};
};

}  // namespace

struct GemmPlan::Storage {
  // These hold what the product points to: a pipeline bound to panels, or panels and what kernels
  // add to accumulators.
  BoundPipeline pipeline;
  std::optional<PackedMatrix> packed;
  StandardPipeline standard;  // set if the pipeline is a standard one that kernels do not run
  AlignedBuffer params;
  PreparedProduct prepared;
  MutableMatrix dst;
  size_t operand_bytes = 0;
  ptrdiff_t first_byte = 0;  // of the operand's data, that the product reads as a matrix
  Blocking alone;            // for one thread
  SharedBlocking shared;     // for several
};

namespace {

// Checks ask for data that does not overlap. It is at no address yet, so it gets two that are
// apart.
const void* const kOperand = reinterpret_cast<const void*>(uintptr_t{1});
void* const kResult = reinterpret_cast<void*>(~(~uintptr_t{0} >> 1));

Operand WithData(const Operand& operand, const void* data) {
  if (operand.kind() == Operand::Kind::kPacked) return operand;
  if (operand.kind() == Operand::Kind::kIm2col) {
    Im2col view = operand.im2col();
    view.data = data;
    return view;
  }
  ConstMatrix matrix = operand.matrix();
  matrix.data = data;
  return matrix;
}

MutableMatrix WithoutData(MutableMatrix dst) {
  dst.data = kResult;
  return dst;
}

size_t DataBytes(const Operand& operand) {
  return operand.kind() == Operand::Kind::kIm2col ? ImageBytes(operand.im2col())
                                                  : SpanBytes(operand.matrix());
}

Status PrepareWithoutData(const Operand& lhs, const Operand& rhs, const Finish& finish,
                          GemmPlan::Storage& plan) {
  Context context;  // of which a product with a packed side takes nothing
  plan.dst = WithoutData(plan.dst);
  INTAGLIO_RETURN_IF_ERROR(Prepare(context, WithData(lhs, kOperand), WithData(rhs, kOperand),
                                   plan.dst, finish, plan.prepared));
  const Product& product = plan.prepared.product;
  plan.operand_bytes = DataBytes(lhs.kind() == Operand::Kind::kPacked ? rhs : lhs);
  if (!product.rows.is_im2col) {
    plan.first_byte = static_cast<const std::byte*>(product.rows.matrix.data) -
                      static_cast<const std::byte*>(kOperand);
  }
  plan.alone = Block(product, 1);
  return {};
}

// Binds a pipeline for products of `packed` with operands like `other`, which has `rows` rows.
Result<BoundPipeline> BindTo(const Operand& packed, const Operand& other, int64_t rows,
                             const StandardPipeline& pipeline) {
  const bool is_image = other.kind() == Operand::Kind::kIm2col;
  const Type type = is_image ? other.im2col().type : other.matrix().type;
  const int32_t zero_point = is_image ? other.im2col().zero_point : other.matrix().zero_point;
  BindOptions options;
  options.rows = rows;
  return BoundPipeline::Bind(packed.packed(), pipeline, type, zero_point, options);
}

// What kernels add to accumulators before a pipeline of the user's gets them.
Status FillParams(GemmPlan::Storage& plan) {
  Product& product = plan.prepared.product;
  const size_t bytes = product.panels->ranges.size() * product.params_bytes;
  plan.params = AlignedBuffer::Allocate(bytes);
  auto* const first = static_cast<PanelForm*>(plan.params.data());
  if (bytes > 0 && first == nullptr) return OutOfMemory("no memory to plan a product");
  FillAllParams(*product.panels, product.row_facts(), nullptr, first);
  product.params = first;
  return {};
}

Status CheckData(const GemmPlan::Storage& plan, const void* operand, const MutableMatrix& dst) {
  if (operand == nullptr && plan.operand_bytes > 0) return InvalidArgument("operand: null data");
  if (!IsPlain(dst)) INTAGLIO_RETURN_IF_ERROR(ValidateResult(dst));
  if (Overlap(operand, plan.operand_bytes, dst.data, SpanBytes(dst))) {
    return InvalidArgument("dst overlaps the operand");
  }
  return {};
}

}  // namespace

Result<GemmPlan> GemmPlan::Make(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
                                const BoundPipeline& pipeline) {
  const BoundPipeline::Storage* bound = pipeline.storage();
  if (bound == nullptr) return InvalidArgument("the pipeline is bound to nothing");
  try {
    auto plan = std::make_shared<Storage>();
    plan->pipeline = pipeline;
    plan->dst = dst;
    const StandardPipeline& standard = bound->pipeline;
    INTAGLIO_RETURN_IF_ERROR(
        PrepareWithoutData(lhs, rhs, {AsTilePipeline(standard), &standard, bound}, *plan));
    return GemmPlan(std::move(plan));
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to plan a product");
  }
}

Result<GemmPlan> GemmPlan::Make(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
                                const TilePipeline& pipeline) {
  return MakeOverTiles(lhs, rhs, dst, pipeline, nullptr);
}

Result<GemmPlan> GemmPlan::Make(const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
                                const StandardPipeline& pipeline) {
  const bool lhs_packed = lhs.kind() == Operand::Kind::kPacked;
  const Operand& packed = lhs_packed ? lhs : rhs;
  if (packed.kind() != Operand::Kind::kPacked ||
      !RunsInRegisters(pipeline, lhs_packed ? Axis::kRows : Axis::kCols)) {
    return MakeOverTiles(lhs, rhs, dst, AsTilePipeline(pipeline), &pipeline);
  }
  // The checks come before anything reads the pipeline's arrays.
  INTAGLIO_RETURN_IF_ERROR(
      CheckOperands(WithData(lhs, kOperand), WithData(rhs, kOperand), WithoutData(dst)));
  const auto bound =
      BindTo(packed, lhs_packed ? rhs : lhs, lhs_packed ? dst.cols : dst.rows, pipeline);
  if (!bound.ok()) return bound.status();
  return Make(lhs, rhs, dst, *bound);
}

Result<GemmPlan> GemmPlan::MakeOverTiles(const Operand& lhs, const Operand& rhs,
                                         const MutableMatrix& dst, TilePipeline tile,
                                         const StandardPipeline* standard) {
  const bool lhs_packed = lhs.kind() == Operand::Kind::kPacked;
  if (!lhs_packed && rhs.kind() != Operand::Kind::kPacked) {
    return InvalidArgument("plan: neither operand was packed before");
  }
  try {
    auto plan = std::make_shared<Storage>();
    plan->packed = (lhs_packed ? lhs : rhs).packed();
    plan->dst = dst;
    if (standard != nullptr) {
      plan->standard = *standard;
      standard = &plan->standard;
      tile = AsTilePipeline(*standard);
    }
    INTAGLIO_RETURN_IF_ERROR(PrepareWithoutData(lhs, rhs, {tile, standard, nullptr}, *plan));
    INTAGLIO_RETURN_IF_ERROR(FillParams(*plan));
    return GemmPlan(std::move(plan));
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to plan a product");
  }
}

Status GemmPlan::Run(Context& context, const void* operand, void* dst, ptrdiff_t dst_stride) const
    try {
  if (storage_ == nullptr) return InvalidArgument("the plan is of nothing");
  MutableMatrix result = storage_->dst;
  result.data = dst;
  result.stride = dst_stride;
  INTAGLIO_RETURN_IF_ERROR(CheckData(*storage_, operand, result));
  PreparedProduct prepared = storage_->prepared;
  Product& product = prepared.product;
  if (product.rows.is_im2col) {
    product.rows.im2col.data = operand;
  } else {
    product.rows.matrix.data = static_cast<const std::byte*>(operand) + storage_->first_byte;
  }
  product.WriteTo(result, prepared.side);
  if (Verbose()) std::fprintf(stderr, "intaglio: %s\n", Describe(context, prepared).text.c_str());
  const int threads = ThreadsWorth(product, context.threads());
  return threads == 1 ? Execute(context, product, storage_->alone)
                      : Execute(context, product, storage_->shared.Of(product, threads));
} catch (const std::bad_alloc&) {
  return OutOfMemory("no memory for a product");
}

}  // namespace intaglio
