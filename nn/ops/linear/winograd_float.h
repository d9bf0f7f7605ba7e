// CONV_2D of float32 by Winograd's algorithm F(4x4, 3x3): 36 products instead of 144. Its results
// are not those of the plain sums; docs/numerics.md bounds them. So it has to be named.
#ifndef INTAGLIO_NN_OPS_LINEAR_WINOGRAD_FLOAT_H_
#define INTAGLIO_NN_OPS_LINEAR_WINOGRAD_FLOAT_H_

#include <cstdint>
#include <vector>

#include "intaglio/nn/ops/linear/conv.h"

namespace intaglio::nn {

// The tiles of F(4x4, 3x3).
namespace winograd {
inline constexpr int kSide = 4;   // of a tile of outputs
inline constexpr int kUnder = 6;  // the side of the pixels under it
inline constexpr int kFrequencies = kUnder * kUnder;
inline constexpr int kPixels = kSide * kSide;
}  // namespace winograd

// Why it does not compute a layer of float32 with constant weights; null if it does.
const char* WhyNotWinogradFloat(const LayerView& layer, const LayerOptions& options);

Result<PreparedLayer> PrepareWinogradFloat(const LayerView& layer, const LayerOptions& options,
                                           const ConvShape& shape);

// The most tiles of 4x4 outputs that are computed at once.
inline constexpr int kWinogradFloatTileCounts[] = {24, 96};
inline constexpr CandidateParameter kWinogradFloatParameters[] = {
    {"tiles", kWinogradFloatTileCounts}};

// Bounds the bytes of the transformed weights beyond those of the weights.
int64_t BoundWinogradFloat(const LayerView& layer, const LayerOptions& options);

// U = G w G' of [outputs, 3, 3, channels] weights: [36 frequencies, outputs, channels].
std::vector<float> WinogradWeightsOf(const float* weights, int outputs, int channels);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_WINOGRAD_FLOAT_H_
