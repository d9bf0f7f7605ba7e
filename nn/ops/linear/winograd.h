// CONV_2D of 8 bits by Winograd's algorithm (gemm/winograd.h), where its filters are 3x3.
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

// How many tiles, of 4x4 outputs each, are computed at once.
inline constexpr int kWinogradTileCounts[] = {12, 24, 48, 96, 192};
inline constexpr CandidateParameter kWinogradParameters[] = {{"tiles", kWinogradTileCounts}};

// Bounds the bytes of the transformed weights of a layer.
int64_t BoundWinograd(const LayerView& layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_WINOGRAD_H_
