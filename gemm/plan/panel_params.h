// From the caller's pipeline, per channel, to the kernel's epilogue, per lane.
#ifndef INTAGLIO_GEMM_PLAN_PANEL_PARAMS_H_
#define INTAGLIO_GEMM_PLAN_PANEL_PARAMS_H_

#include <cstdint>

#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio {

// What the panels' side must know of the other one.
struct RowFacts {
  int32_t zero_point;  // as the kernel sees it
  int64_t magnitude;   // the largest |value - zero point| of its type
};

// Fills what the epilogue needs for one panel: offsets, and the multipliers with the cheapest form
// of scaling that is exact for every accumulator these panels can produce. `standard` is null where
// the kernel only gives accumulators.
void FillPanelParams(const Panels& panels, const PanelRange& panel, const RowFacts& rows,
                     const StandardPipeline* standard, PanelParams& params);

// The same for all panels, in a list that begins at `first` (kernels/params_list.h).
void FillAllParams(const Panels& panels, const RowFacts& rows, const StandardPipeline* standard,
                   PanelForm* first);

// Whether kernels run the pipeline themselves. They do if its channels are those of their panels.
bool RunsInRegisters(const StandardPipeline& pipeline, Axis channels_along);

// The epilogue's part that all panels share.
EpilogueParams MakeEpilogue(const StandardPipeline* standard);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_PANEL_PARAMS_H_
