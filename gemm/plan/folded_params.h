// The parameters of panels that hold the same channels for several pixels
// (kernels/depthwise/depthwise_args.h).
#ifndef INTAGLIO_GEMM_PLAN_FOLDED_PARAMS_H_
#define INTAGLIO_GEMM_PLAN_FOLDED_PARAMS_H_

#include <cstddef>

#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/pack/panels.h"

namespace intaglio {

// Makes, behind the parameters of the one panel, those of a panel of four vectors that holds its
// channels, of one vector or two, again and again. Panels have kMaxPanelWidth. each: of
// ParamsBytes.
void RepeatChannels(const Panels& panels, PanelForm* first, size_t each);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_FOLDED_PARAMS_H_
