// Where Winograd convolutions in integers are exact.
#ifndef INTAGLIO_GEMM_PLAN_WINOGRAD_GROUPS_H_
#define INTAGLIO_GEMM_PLAN_WINOGRAD_GROUPS_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "intaglio/kernels/winograd/winograd_args.h"
#include "intaglio/pack/matrix.h"

namespace intaglio {

// More channels than this are cut for the caches' sake.
inline constexpr int kMostGroupChannels = 512;

// Groups of channels begin at multiples of this.
inline constexpr int kGroupStep = 16;

// The first channel of group `index` of `groups`.
constexpr int GroupBegin(int channels, int index, int groups) {
  const int64_t steps = (channels + kGroupStep - 1) / kGroupStep;
  return std::min(static_cast<int>(steps * index / groups) * kGroupStep, channels);
}

// `filters`: taps * channels numbers to an output, column-major. zero_points: one, or one per
// output.
//
// The largest |w| of filters less their zero points, or what the type allows where that is no more
// than `most`.
int LargestWeight(const ConstMatrix& filters, std::span<const int32_t> zero_points, int most);

// The fewest groups of channels such that the |w| of every group and output add up to no more than
// most_magnitude. Filters of several blocks, which are not cut for the caches' sake, cannot be
// computed in more than one.
int CountWinogradGroups(const ConstMatrix& filters, std::span<const int32_t> zero_points,
                        const WinogradForm& form);

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_PLAN_WINOGRAD_GROUPS_H_
