#include "intaglio/gemm/prepare.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "intaglio/gemm/check.h"
#include "intaglio/gemm/dispatch.h"

namespace intaglio {
namespace {

void SetRows(const Operand& o, Side side, RowSource& rows) {
  if (o.kind() == Operand::Kind::kIm2col) {
    rows = RowSource::From(o.im2col());
  } else {
    rows.matrix = side == Side::kLhs ? o.matrix() : Transposed(o.matrix());
  }
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

// The side that is packed for this call, where none was packed before: the one whose vectors lie
// contiguous in dst, unless only the other lets the kernel apply the pipeline in registers.
Side ChoosePanelSide(const Operand& lhs, const MutableMatrix& dst,
                     const StandardPipeline* standard) {
  if (lhs.kind() == Operand::Kind::kIm2col) return Side::kRhs;
  // A vector makes one narrow panel; packing the matrix would cost more than the product.
  if (dst.rows == 1 || dst.cols == 1) return dst.cols == 1 ? Side::kRhs : Side::kLhs;
  const bool per_channel =
      standard != nullptr && (standard->bias != nullptr || standard->per_channel);
  if (per_channel) return standard->axis == Axis::kRows ? Side::kLhs : Side::kRhs;
  return RowsAreContiguous(dst) ? Side::kRhs : Side::kLhs;
}

// The kernel runs the standard pipeline where its channels are the panel side's.
bool RunsInRegisters(const StandardPipeline& s, Axis channels_along) {
  const bool per_channel = s.bias != nullptr || s.per_channel;
  return s.scaling != Scaling::kReal64 && (!per_channel || s.axis == channels_along);
}

// Packs a matrix that may be another one in the next call.
Status PackForCall(Context& context, const ConstMatrix& channels, const Kernel& kernel,
                   Panels& panels) {
  INTAGLIO_RETURN_IF_ERROR(LayOutPanels(kernel.panel, channels.rows, channels.cols, panels));
  const auto pack = [&](int first, int last) {
    PackExtents(channels, {}, Magnitudes::kOfType, kernel.pack, first, last, panels);
  };
  const auto extents = static_cast<int>(panels.extents.size());
  if (const int workers = std::min(context.threads(), extents); workers <= 1) {
    pack(0, extents);
  } else {
    std::atomic<int> next{0};
    context.Run(workers, [&](int) {
      for (int e = next.fetch_add(1); e < extents; e = next.fetch_add(1)) pack(e, e + 1);
    });
  }
  panels.has_zero_points = !panels.zero_points.empty() && panels.zero_points[0] != 0;
  return {};
}

}  // namespace

Status Prepare(Context& context, const Operand& lhs, const Operand& rhs, const MutableMatrix& dst,
               const Finish& finish, PreparedProduct& prepared) {
  INTAGLIO_RETURN_IF_ERROR(CheckOperands(lhs, rhs, dst));
  if (dst.type != finish.tile.output) {
    return InvalidArgument(std::string("dst is ") + NameOf(dst.type) + ", the pipeline's output " +
                           NameOf(finish.tile.output));
  }
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
    product.panels = &panel_operand.packed().panels();
    INTAGLIO_RETURN_IF_ERROR(CheckDepth(product.rows, *product.panels));
    auto kernel = KernelFor(product.panels->format);
    if (!kernel.ok()) return kernel.status();
    product.kernel = *kernel;
  } else {
    const ConstMatrix channels =
        side == Side::kLhs ? panel_operand.matrix() : Transposed(panel_operand.matrix());
    INTAGLIO_RETURN_IF_ERROR(CheckDepth(product.rows, channels));
    auto kernel = BestKernel();
    if (!kernel.ok()) return kernel.status();
    product.kernel = *kernel;
    Panels& panels = context.CallPanels();
    INTAGLIO_RETURN_IF_ERROR(PackForCall(context, channels, **kernel, panels));
    product.panels = &panels;
  }
  return finish.bound == nullptr ? Status() : UseBound(*finish.bound, product);
}

}  // namespace intaglio
