#include "intaglio/gemm/run/pack_for_call.h"

#include <algorithm>

#include "intaglio/gemm/plan/check.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/run/task_parts.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio {

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

Status PackForCall(Context& context, const ConstMatrix& channels, Product& product) {
  INTAGLIO_RETURN_IF_ERROR(CheckDepth(product.rows, channels));
  const auto best = BestKernel();
  if (!best.ok()) return best.status();
  const Kernel& kernel = **best;
  product.epilogue = MakeEpilogue(product.standard);
  Panels& panels = context.CallPanels();
  INTAGLIO_RETURN_IF_ERROR(LayOutPanels(kernel.panel, channels.rows, channels.cols, panels));
  const auto pack = [&](int first, int last) {
    PackPanels(channels, {}, Magnitudes::kOfType, kernel.pack, first, last, panels);
  };
  const auto count = static_cast<int>(panels.ranges.size());
  if (const int workers = std::min(context.threads(), count); workers <= 1) {
    pack(0, count);
  } else {
    TaskParts parts(count, workers);
    context.Run(workers, [&](int worker) { parts.Run(worker, [&](int e) { pack(e, e + 1); }); });
  }
  panels.has_zero_points = !panels.zero_points.empty() && panels.zero_points[0] != 0;
  product.Take(panels);
  product.kernel = ForProduct(product.rows.type(), product.size(), CandidatesOf(kernel));
  return {};
}

}  // namespace intaglio
