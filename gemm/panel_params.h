// From the caller's pipeline, per channel, to the kernel's epilogue, per lane.
#ifndef INTAGLIO_GEMM_PANEL_PARAMS_H_
#define INTAGLIO_GEMM_PANEL_PARAMS_H_

#include <cstdint>

#include "intaglio/kernels/epilogue.h"
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
void FillPanelParams(const Panels& panels, const PanelExtent& extent, const RowFacts& rows,
                     const StandardPipeline* standard, PanelParams& params);

// Makes, behind the parameters of the one extent, those of a panel of four vectors that holds its
// channels, of one vector or two, again and again. Panels have kMaxPanelWidth. each: of
// ParamsBytes.
void RepeatChannels(const Panels& panels, PanelForm* first, size_t each);

// The epilogue's part that all panels share.
EpilogueParams MakeEpilogue(const StandardPipeline* standard);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PANEL_PARAMS_H_
