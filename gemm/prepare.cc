#include "intaglio/gemm/prepare.h"

#include <string>

#include "intaglio/gemm/check.h"
#include "intaglio/gemm/dispatch.h"
#include "intaglio/gemm/pack_for_call.h"

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

}  // namespace

bool RunsInRegisters(const StandardPipeline& s, Axis channels_along) {
  const bool per_channel = s.bias != nullptr || s.per_channel;
  return s.scaling != Scaling::kReal64 && (!per_channel || s.axis == channels_along);
}

void SetDestination(const MutableMatrix& dst, Side panel_side, Product& product) {
  // As the transposed problem sees it, where the panels are on the left.
  const MutableMatrix view = panel_side == Side::kRhs ? dst : Transposed(dst);
  product.dst = static_cast<std::byte*>(dst.data);
  product.dst_type = dst.type;
  product.channels_along = panel_side == Side::kRhs ? Axis::kCols : Axis::kRows;
  const bool row_major = view.order == Order::kRowMajor;
  product.row_stride = row_major ? view.stride : 1;
  product.channel_stride = row_major ? 1 : view.stride;
  // A single channel is contiguous in any order.
  if (view.cols == 1) product.channel_stride = 1;
}

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
  const Operand& panel_operand = side == Side::kLhs ? lhs : rhs;

  Product& product = prepared.product;
  if (side == Side::kLhs) {
    SetRows(rhs, Side::kRhs, product.rows);
  } else {
    SetRows(lhs, Side::kLhs, product.rows);
  }
  SetDestination(dst, side, product);
  product.tile = finish.tile;
  product.standard = standard != nullptr && RunsInRegisters(*standard, product.channels_along)
                         ? standard
                         : nullptr;

  prepared.side = side;
  prepared.packed_for_call = !lhs_packed && !rhs_packed;
  if (!prepared.packed_for_call) {
    product.Take(panel_operand.packed().panels());
    INTAGLIO_RETURN_IF_ERROR(CheckRuns(product.rows, *product.panels));
    if (finish.bound != nullptr) return UseBound(*finish.bound, product);
    product.epilogue = MakeEpilogue(product.standard);
    INTAGLIO_RETURN_IF_ERROR(CheckDepth(*product.panels, product.rows.Magnitude()));
    auto kernel = KernelFor(product.panels->format);
    if (!kernel.ok()) return kernel.status();
    product.kernel = ForProduct(product.rows.type(), product.size(), CandidatesOf(**kernel));
  } else {
    if (finish.bound != nullptr)
      return InvalidArgument("the pipeline was bound to another packed matrix");
    const ConstMatrix channels =
        side == Side::kLhs ? panel_operand.matrix() : Transposed(panel_operand.matrix());
    INTAGLIO_RETURN_IF_ERROR(CheckDepth(product.rows, channels));
    auto kernel = BestKernel();
    if (!kernel.ok()) return kernel.status();
    product.epilogue = MakeEpilogue(product.standard);
    Panels& panels = context.CallPanels();
    INTAGLIO_RETURN_IF_ERROR(PackForCall(context, channels, **kernel, panels));
    product.Take(panels);
    product.kernel = ForProduct(product.rows.type(), product.size(), CandidatesOf(**kernel));
  }
  return {};
}

}  // namespace intaglio
