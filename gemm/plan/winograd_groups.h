// Where F(4x4, 3x3) in integers is exact.
#ifndef INTAGLIO_GEMM_PLAN_WINOGRAD_GROUPS_H_
#define INTAGLIO_GEMM_PLAN_WINOGRAD_GROUPS_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "intaglio/pack/matrix.h"

namespace intaglio {

// Every |x| is at most 128, so that sums of products x * w stay within [-2^25, 2^25), times 64
// within int32, if the |w| of one output channel add up to this at most.
inline constexpr int64_t kMostGroupMagnitude = ((int64_t{1} << 25) - 1) / 128;

// The largest |w| whose transform fits int16: 144 * |w| is at most 2^15 - 1.
inline constexpr int kMostWinogradWeight = ((1 << 15) - 1) / 144;

// More channels than this are cut for the caches' sake.
inline constexpr int kMostGroupChannels = 512;

// Groups of channels begin at multiples of this.
inline constexpr int kGroupStep = 16;

// The first channel of group `index` of `groups`.
constexpr int GroupBegin(int channels, int index, int groups) {
  const int64_t steps = (channels + kGroupStep - 1) / kGroupStep;
  return std::min(static_cast<int>(steps * index / groups) * kGroupStep, channels);
}

// `filters`: 9 * channels numbers to an output, column-major. zero_points: one, or one per output.
//
// The largest |w| of filters less their zero points, or what the type allows where that is no more
// than kMostWinogradWeight.
int LargestWeight(const ConstMatrix& filters, std::span<const int32_t> zero_points);

// The fewest groups of channels such that the |w| of every group and output add up to no more than
// kMostGroupMagnitude.
int CountWinogradGroups(const ConstMatrix& filters, std::span<const int32_t> zero_points);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_WINOGRAD_GROUPS_H_
