// The float32 scales of a panel.
#ifndef INTAGLIO_GEMM_FLOAT_SCALES_H_
#define INTAGLIO_GEMM_FLOAT_SCALES_H_

#include <cstdint>

#include "intaglio/kernels/epilogue.h"
#include "intaglio/pack/panels.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio {

// Fills the scales, and returns the cheapest form of rounding half to even that is exact for
// accumulators of at most `bound`.
ScalingForm FillScales(const StandardPipeline& pipeline, const PanelFormat& format,
                       const PanelExtent& extent, int64_t bound, PanelParams& params);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_FLOAT_SCALES_H_
