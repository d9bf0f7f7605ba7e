#include "intaglio/gemm/describe.h"

#include <new>

#include "intaglio/gemm/dispatch.h"
#include "intaglio/gemm/prepare.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio {
namespace {

bool IsBounded(ScalingForm form) {
  return form == ScalingForm::kDoubleRoundingBounded ||
         form == ScalingForm::kSingleRoundingBounded || form == ScalingForm::kFloatHalfEvenBounded;
}

std::string Text(const GemmDescription& d, const Product& p) {
  std::string text = std::to_string(p.row_count()) + " rows x " +
                     std::to_string(p.channel_count()) + " channels x K " +
                     std::to_string(p.depth()) + ", kernel " + d.kernel;
  text += d.transposed ? ", panels of lhs" : ", panels of rhs";
  text += d.packs_panels ? " packed for this call" : " packed before";
  text += d.rows_in_place ? ", rows in place" : ", rows packed";
  text += d.in_registers ? ", pipeline in registers (" + std::to_string(d.bounded_panels) + " of " +
                               std::to_string(d.panels) + " panels bounded)"
                         : ", pipeline over tiles";
  text += ", " + std::to_string(d.row_tasks) + " x " + std::to_string(d.panel_tasks) + " tasks";
  for (const std::string& reason : d.skipped) text += "; not " + reason;
  return text;
}

}  // namespace

std::vector<KernelInfo> ListKernels() {
  std::vector<KernelInfo> list;
  for (const Kernel* kernel : KernelTable()) {
    const std::string why_not = WhyNot(*kernel);
    list.push_back({kernel->name, kernel->panel.width(), kernel->max_rows, kernel->panel.depth_step,
                    why_not.empty(), why_not});
  }
  return list;
}

GemmDescription Describe(Context& context, const PreparedProduct& prepared) {
  const Product& p = prepared.product;
  const Blocking blocking = Block(p, context.threads());
  GemmDescription d{};
  d.kernel = p.kernel->name;
  for (const Kernel* faster : KernelTable()) {
    if (faster == p.kernel || faster->for_safe_pairs == p.kernel) break;
    const std::string why_not = WhyNot(*faster);
    d.skipped.push_back(std::string(faster->name) + ": " +
                        (why_not.empty() ? "rhs or lhs was packed for another" : why_not));
  }
  d.transposed = prepared.side == Side::kLhs;
  d.packs_panels = prepared.packed_for_call;
  d.rows_in_place = blocking.in_place;
  d.in_registers = p.standard != nullptr;
  d.panels = static_cast<int>(p.panels->extents.size());
  for (const PanelExtent& extent : p.panels->extents) {
    PanelParams params;
    FillPanelParams(*p.panels, extent, p.row_facts(), p.standard, params);
    d.bounded_panels += IsBounded(params.form) ? 1 : 0;
  }
  d.row_tasks = blocking.row_tasks;
  d.panel_tasks = blocking.extent_tasks;
  d.scratch_bytes = blocking.scratch_bytes;
  d.text = Text(d, p);
  return d;
}

Result<GemmDescription> DescribeGemm(Context& context, const Operand& lhs, const Operand& rhs,
                                     const MutableMatrix& dst, const StandardPipeline& pipeline) {
  try {
    PreparedProduct prepared;
    INTAGLIO_RETURN_IF_ERROR(
        Prepare(context, lhs, rhs, dst, {AsTilePipeline(pipeline), &pipeline, nullptr}, prepared));
    return Describe(context, prepared);
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to describe a product");
  }
}

}  // namespace intaglio
