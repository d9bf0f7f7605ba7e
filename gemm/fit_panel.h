// A cheaper arithmetic for the channels of a panel, where it is proven to give the same bits.
#ifndef INTAGLIO_GEMM_FIT_PANEL_H_
#define INTAGLIO_GEMM_FIT_PANEL_H_

#include <cstdint>

#include "intaglio/gemm/panel_params.h"
#include "intaglio/kernels/epilogue.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio {

// Rows of a product from which on its fits are won back in tens of calls. One takes a quarter of a
// microsecond to find, and saves 40 (Zen 5) to 140 picoseconds per row.
inline constexpr int64_t kRowsWorthAFit = 100;
// On Arm the multiply-add saves more than a cycle, by the models of bench/arm_budget, and takes
// some ten microseconds a channel.
inline constexpr int64_t kRowsWorthAMultiplyAdd = 500;

// Turns vectors of double rounding params, filled before, to fits (fixedpoint/
// fit_double_rounding.h): those vectors all of whose channels have one. For 8-bit output.
void FitPanel(const Panels& panels, const PanelExtent& extent, const RowFacts& rows,
              const StandardPipeline& pipeline, PanelParams& params);

// Turns a panel to ScalingForm::kMultiplyAdd where each of its channels has such a fit (fixedpoint/
// fit_multiply_add.h), and says whether. For 8-bit output.
bool FitPanelByMultiplyAdd(const Panels& panels, const PanelExtent& extent, const RowFacts& rows,
                           const StandardPipeline& pipeline, PanelParams& params);

// The channels of a panel that are finished by their fit.
int CountFitted(const PanelFormat& format, const PanelExtent& extent, const PanelForm& params);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_FIT_PANEL_H_
