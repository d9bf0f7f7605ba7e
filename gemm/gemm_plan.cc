#include "intaglio/gemm/gemm_plan.h"

#include <cstdint>
#include <cstdio>
#include <new>

#include "intaglio/gemm/blocking.h"
#include "intaglio/gemm/describe.h"
#include "intaglio/gemm/dispatch.h"
#include "intaglio/gemm/prepare.h"
#include "intaglio/pack/validate.h"

namespace intaglio {

struct GemmPlan::Storage {
  BoundPipeline pipeline;  // holds what the product points to
  PreparedProduct prepared;
  MutableMatrix dst;
  size_t operand_bytes;
  Blocking alone;  // for one thread
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
    auto plan = std::make_shared<Storage>(Storage{pipeline, {}, dst, 0, {}});
    plan->dst.data = kResult;
    Context context;  // of which a product with a packed side takes nothing
    const StandardPipeline& standard = bound->pipeline;
    INTAGLIO_RETURN_IF_ERROR(Prepare(context, WithData(lhs, kOperand), WithData(rhs, kOperand),
                                     plan->dst, {AsTilePipeline(standard), &standard, bound},
                                     plan->prepared));
    const Product& product = plan->prepared.product;
    plan->operand_bytes =
        product.rows.is_im2col ? ImageBytes(product.rows.im2col) : SpanBytes(product.rows.matrix);
    plan->alone = Block(product, 1);
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
  (product.rows.is_im2col ? product.rows.im2col.data : product.rows.matrix.data) = operand;
  SetDestination(result, prepared.side, product);
  if (Verbose()) std::fprintf(stderr, "intaglio: %s\n", Describe(context, prepared).text.c_str());
  const int threads = ThreadsWorth(product, context.threads());
  return threads == 1 ? Execute(context, product, storage_->alone)
                      : Execute(context, product, Block(product, threads));
} catch (const std::bad_alloc&) {
  return OutOfMemory("no memory for a product");
}

}  // namespace intaglio
