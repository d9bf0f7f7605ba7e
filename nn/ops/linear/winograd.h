// CONV_2D of 8 bits by Winograd's algorithm (gemm/winograd.h).
#ifndef INTAGLIO_NN_OPS_LINEAR_WINOGRAD_H_
#define INTAGLIO_NN_OPS_LINEAR_WINOGRAD_H_

#include <cstdint>

#include "intaglio/nn/ops/linear/conv.h"

namespace intaglio::nn {

// Why it does not compute a layer with constant weights, or would not be faster. A layer that
// options.routine names it for needs not be faster.
const char* WhyNotWinogradLayer(const LayerView& layer, const LayerOptions& options);

Result<PreparedLayer> PrepareWinograd(const LayerView& layer, const LayerOptions& options,
                                      const ConvShape& shape);

// How many tiles of outputs are computed at once: of 3x3 filters, 4x4 outputs each.
inline constexpr int kWinogradTileCounts[] = {12, 24, 48, 96, 192};
// Whether weights are transformed when they are packed, instead of in each call.
inline constexpr int kWinogradKept[] = {0, 1};
inline constexpr CandidateParameter kWinogradParameters[] = {{"tiles", kWinogradTileCounts},
                                                             {"kept", kWinogradKept}};

// Bounds the bytes of the transformed weights of a layer by default, and how many more there are
// with these options.
int64_t BoundWinograd(const LayerView& layer);
int64_t BoundMoreWinograd(const LayerView& layer, const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_WINOGRAD_H_
