#include "intaglio/gemm/gemm.h"

#include <cstdio>
#include <new>
#include <string>

#include "intaglio/gemm/describe.h"
#include "intaglio/gemm/plan/bound_storage.h"
#include "intaglio/gemm/plan/check.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/plan/product.h"
#include "intaglio/gemm/run/pack_for_call.h"
#include "intaglio/gemm/run/tasks.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio {
namespace {

void SetRows(const Operand& o, Side side, RowSource& rows) {
  if (o.kind() == Operand::Kind::kIm2col) {
    rows = RowSource::From(o.im2col());
  } else {
    rows.matrix = side == Side::kLhs ? o.matrix() : Transposed(o.matrix());
  }
}

Status OutputOfAnotherType(Type dst, Type output) {
  return InvalidArgument(std::string("dst is ") + NameOf(dst) + ", the pipeline's output " +
                         NameOf(output));
}

// Gives a product the panels of its packed side, and the kernel that reads them.
Status TakePacked(const PackedMatrix& packed, const Finish& finish, Product& product) {
  product.Take(packed.panels());
  INTAGLIO_RETURN_IF_ERROR(CheckRuns(product.rows, *product.panels));
  if (finish.bound != nullptr) return finish.bound->GiveTo(product);
  product.epilogue = MakeEpilogue(product.standard);
  INTAGLIO_RETURN_IF_ERROR(CheckDepth(*product.panels, product.rows.Magnitude()));
  const auto kernel = KernelFor(product.panels->format);
  if (!kernel.ok()) return kernel.status();
  product.kernel = ForProduct(product.rows.type(), product.size(), CandidatesOf(**kernel));
  return {};
}

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

Status Prepare(Context& context, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
               const Finish& finish, PreparedProduct& prepared) {
  INTAGLIO_RETURN_IF_ERROR(CheckOperands(lhs, rhs, dst));
  if (dst.type != finish.tile.output) return OutputOfAnotherType(dst.type, finish.tile.output);
  const StandardPipeline* standard = finish.standard;
  if (standard != nullptr && finish.bound == nullptr) {
    INTAGLIO_RETURN_IF_ERROR(Validate(*standard, dst.rows, dst.cols));
  }
  const bool lhs_packed = lhs.kind() == Operand::Kind::kPacked;
  const bool rhs_packed = rhs.kind() == Operand::Kind::kPacked;
  const Side side = lhs_packed   ? Side::kLhs
                    : rhs_packed ? Side::kRhs
                                 : ChoosePanelSide(lhs, dst, standard);
  const Operand& channels = side == Side::kLhs ? lhs : rhs;

  Product& product = prepared.product;
  if (side == Side::kLhs) {
    SetRows(rhs, Side::kRhs, product.rows);
  } else {
    SetRows(lhs, Side::kLhs, product.rows);
  }
  product.WriteTo(dst, side);
  product.tile = finish.tile;
  product.standard = standard != nullptr && RunsInRegisters(*standard, product.channels_along)
                         ? standard
                         : nullptr;
  prepared.side = side;
  prepared.packed_for_call = !lhs_packed && !rhs_packed;
  if (!prepared.packed_for_call) return TakePacked(channels.packed(), finish, product);
  if (finish.bound != nullptr) {
    return InvalidArgument("the pipeline was bound to another packed matrix");
  }
  const ConstMatrix& matrix = channels.matrix();
  return PackForCall(context, side == Side::kLhs ? matrix : Transposed(matrix), product);
}

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
