#include "intaglio/gemm/describe.h"

#include <algorithm>
#include <new>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/gemm/machine/cores.h"
#include "intaglio/gemm/plan/bound_storage.h"
#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/plan/fit_panel.h"
#include "intaglio/gemm/plan/product.h"
#include "intaglio/gemm/run/tasks.h"
#include "intaglio/kernels/kernel_table.h"
#include "intaglio/kernels/params_list.h"

namespace intaglio {
namespace {

std::string NameOfInOrderForm(const Kernel& kernel) {
  const Kernel* form = InOrderForm(kernel);
  return form == nullptr ? "" : form->name;
}

std::string Text(const GemmDescription& d, const Product& p) {
  std::string text = std::to_string(p.row_count()) + " rows x " +
                     std::to_string(p.channel_count()) + " channels x K " +
                     std::to_string(p.depth()) + ", kernel " + d.kernel;
  if (!d.in_order_form.empty()) text += " (" + d.in_order_form + " on in-order cores)";
  text += d.transposed ? ", panels of lhs" : ", panels of rhs";
  text += d.packs_panels ? " packed for this call" : " packed before";
  text += d.rows_in_place   ? ", rows in place"
          : d.rows_in_lines ? ", lines packed"
                            : ", rows packed";
  text += d.in_registers ? ", pipeline in registers (" + std::to_string(d.bounded_panels) + " of " +
                               std::to_string(d.panels) + " panels bounded, " +
                               std::to_string(d.fitted_channels) + " of " +
                               std::to_string(p.channel_count()) + " channels fitted)"
                         : ", pipeline over tiles";
  if (!d.stage_registers.empty()) text += ", stages by " + d.stage_registers;
  text += ", " + std::to_string(d.row_tasks) + " x " + std::to_string(d.panel_tasks) + " tasks";
  for (const std::string& reason : d.skipped) text += "; not " + reason;
  return text;
}

Result<GemmDescription> DescribeFinished(Context& context, const Operand& lhs, const Operand& rhs,
                                         const MutableMatrix& dst, const Finish& finish) {
  try {
    PreparedProduct prepared;
    INTAGLIO_RETURN_IF_ERROR(Prepare(context, lhs, rhs, dst, finish, prepared));
    return Describe(context, prepared);
  } catch (const std::bad_alloc&) {
    return OutOfMemory("no memory to describe a product");
  }
}

}  // namespace

std::vector<KernelInfo> ListKernels() {
  std::vector<KernelInfo> list;
  for (const Kernel* kernel : RankedKernels()) {
    const std::string why_not = WhyNot(*kernel);
    list.push_back({kernel->name, kernel->panel.width(), kernel->max_rows, kernel->panel.depth_step,
                    why_not.empty(), why_not, NameOfInOrderForm(*kernel)});
  }
  return list;
}

GemmDescription Describe(Context& context, const PreparedProduct& prepared) {
  const DefaultFloatEnvironment environment;
  const Product& p = prepared.product;
  const Blocking blocking = Block(p, context.threads());
  GemmDescription d{};
  d.kernel = p.kernel->name;
  d.in_order_form = NameOfInOrderForm(*p.kernel);
  for (const Kernel* faster : RankedKernels()) {
    const KernelList rows = CandidatesOf(*faster);
    if (std::find(rows.begin(), rows.end(), p.kernel) != rows.end()) break;
    const std::string why_not = WhyNot(*faster);
    d.skipped.push_back(std::string(faster->name) + ": " +
                        (why_not.empty() ? "rhs or lhs was packed for another" : why_not));
  }
  d.transposed = prepared.side == Side::kLhs;
  d.packs_panels = prepared.packed_for_call;
  d.rows_in_place = blocking.in_place;
  d.rows_in_lines = blocking.windows;
  d.in_registers = p.standard != nullptr;
  if (!d.in_registers) d.stage_registers = p.tile.registers;
  d.panels = static_cast<int>(p.panels->ranges.size());
  for (size_t e = 0; e < p.panels->ranges.size(); ++e) {
    const PanelRange& panel = p.panels->ranges[e];
    PanelParams made;
    if (p.params == nullptr) {
      FillPanelParams(*p.panels, panel, p.row_facts(), p.standard, made);
    }
    const PanelForm& params = p.params == nullptr ? made : *ParamsAt(p.params, e, p.params_bytes);
    d.bounded_panels += IsBounded(params, panel.vectors) ? 1 : 0;
    d.fitted_channels += CountFitted(p.panels->format, panel, params);
  }
  d.row_tasks = blocking.row_tasks;
  d.panel_tasks = blocking.panel_tasks;
  d.scratch_bytes = blocking.scratch_bytes;
  d.text = Text(d, p);
  return d;
}

Result<GemmDescription> DescribeGemm(Context& context, const Operand& lhs, const Operand& rhs,
                                     const MutableMatrix& dst, const StandardPipeline& pipeline) {
  return DescribeFinished(context, lhs, rhs, dst, {AsTilePipeline(pipeline), &pipeline, nullptr});
}

Result<GemmDescription> DescribeGemm(Context& context, const Operand& lhs, const Operand& rhs,
                                     const MutableMatrix& dst, const TilePipeline& pipeline) {
  return DescribeFinished(context, lhs, rhs, dst, {pipeline, nullptr, nullptr});
}

Result<GemmDescription> DescribeGemm(Context& context, const Operand& lhs, const Operand& rhs,
                                     const MutableMatrix& dst, const BoundPipeline& pipeline) {
  const BoundPipeline::Storage* bound = pipeline.storage();
  if (bound == nullptr) return InvalidArgument("the pipeline is bound to nothing");
  return DescribeFinished(context, lhs, rhs, dst,
                          {AsTilePipeline(bound->pipeline), &bound->pipeline, bound});
}

}  // namespace intaglio
