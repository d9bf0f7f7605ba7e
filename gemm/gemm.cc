#include "intaglio/gemm/gemm.h"

#include <cstdio>
#include <new>

#include "intaglio/gemm/blocking.h"
#include "intaglio/gemm/describe.h"
#include "intaglio/gemm/dispatch.h"
#include "intaglio/gemm/prepare.h"

namespace intaglio {
namespace {

Status Multiply(Context& context, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
                const Finish& finish) {
  try {
    PreparedProduct prepared;
    INTAGLIO_RETURN_IF_ERROR(Prepare(context, lhs, rhs, dst, finish, prepared));
    if (Verbose()) std::fprintf(stderr, "intaglio: %s\n", Describe(context, prepared).text.c_str());
    const Product& product = prepared.product;
    return Execute(context, product, Block(product, context.threads()));
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory for a product");
  }
}

}  // namespace

Status Gemm(Context& context, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const StandardPipeline& pipeline) {
  return Multiply(context, lhs, rhs, dst, {AsTilePipeline(pipeline), &pipeline, nullptr});
}

Status Gemm(Context& context, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const TilePipeline& pipeline) {
  return Multiply(context, lhs, rhs, dst, {pipeline, nullptr, nullptr});
}

Status Gemm(Context& context, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
            const BoundPipeline& pipeline) {
  const BoundPipeline::Storage* bound = pipeline.storage();
  if (bound == nullptr) return InvalidArgument("the pipeline is bound to nothing");
  const StandardPipeline& standard = bound->pipeline;
  return Multiply(context, lhs, rhs, dst, {AsTilePipeline(standard), &standard, bound});
}

}  // namespace intaglio
