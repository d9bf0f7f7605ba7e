// What a pipeline is bound to, and what it keeps then.
#ifndef INTAGLIO_GEMM_PLAN_BOUND_STORAGE_H_
#define INTAGLIO_GEMM_PLAN_BOUND_STORAGE_H_

#include <cstdint>
#include <memory>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/plan/product.h"
#include "intaglio/kernels/kernel_table.h"

namespace intaglio {

struct BoundPipeline::Storage {
  std::shared_ptr<const void> packed;  // what holds the panels
  const Panels* panels;
  KernelList kernels;  // candidates
  StandardPipeline pipeline;
  Type operand_type;
  int32_t operand_zero_point;
  EpilogueParams epilogue;
  AlignedBuffer params;  // a list per panel, and of a folded panel (kernels/params_list.h)
  bool weights_from_memory = false;   // BindOptions
  bool keep_rows_per_thread = false;  // the same
  Cutting cutting = {};               // the same
  bool bounded_to_bytes = false;      // all of params IsBounded, and results are bytes

  // Gives the product the kernel and the parameters that were bound. Refuses another matrix or kind
  // of operand than the pipeline was bound to.
  Status GiveTo(Product& product) const;

  const PanelForm* panel_params() const { return static_cast<const PanelForm*>(params.data()); }
};

// What a pipeline is bound to: panels, the kernel that reads them, and what that adds to the values
// of an operand.
struct BindTarget {
  std::shared_ptr<const void> packed;
  const Panels* panels;
  const Kernel* kernel;
  int32_t operand_move;
  Axis channels_along;
  bool takes_multiply_add = false;  // its tiles are Kernel::tile's of a kernel that does
  bool folded = false;              // the one panel's channels repeated, too, as a last panel
};

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_BOUND_STORAGE_H_
