// A cheaper arithmetic for the channels of a panel, where it is proven to give the same bits.
#ifndef INTAGLIO_GEMM_PLAN_FIT_PANEL_H_
#define INTAGLIO_GEMM_PLAN_FIT_PANEL_H_

#include <cstdint>
#include <optional>

#include "intaglio/fixedpoint/fit_double_rounding.h"
#include "intaglio/gemm/plan/panel_params.h"
#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio {

// Rows of a product from which on its fits are won back in tens of calls. One takes a quarter of a
// microsecond to find, and saves 40 (Zen 5) to 140 picoseconds per row.
inline constexpr int64_t kRowsWorthAFit = 100;
// On Arm the multiply-add saves more than a cycle, by the models of bench/arm_budget, and takes
// some ten microseconds a channel.
inline constexpr int64_t kRowsWorthAMultiplyAdd = 500;

// Fits the panels of one product. Channels that share a multiplier share the fit that is found for
// the first of them. The constructor's arguments must outlive the fitter.
class PanelFitter {
 public:
  PanelFitter(const Panels& panels, const RowFacts& rows, const StandardPipeline& pipeline);

  // Turns vectors of filled double rounding params into fits (fixedpoint/fit_double_rounding.h). It
  // turns a vector only if all of its channels have a fit. For 8-bit output.
  void Fit(const PanelRange& panel, PanelParams& params);

 private:
  const std::optional<DoubleRoundingFit>& FitOf(const DoubleRoundingTask& task);
  // Widens the task to the accumulators of every channel.
  void WidenToAll(DoubleRoundingTask& task) const;

  const Panels& panels_;
  const RowFacts& rows_;
  const StandardPipeline& pipeline_;
  const EpilogueParams epilogue_;
  DoubleRoundingTask task_;  // the last task
  std::optional<DoubleRoundingFit> fit_;
  bool tries_all_;  // whether to try one fit for all channels
};

// Turns a panel to ScalingForm::kMultiplyAdd where each of its channels has such a fit (fixedpoint/
// fit_multiply_add.h), and says whether. For 8-bit output.
bool FitPanelByMultiplyAdd(const Panels& panels, const PanelRange& panel, const RowFacts& rows,
                           const StandardPipeline& pipeline, PanelParams& params);

// The channels of a panel that are finished by their fit.
int CountFitted(const PanelFormat& format, const PanelRange& panel, const PanelForm& params);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_FIT_PANEL_H_
