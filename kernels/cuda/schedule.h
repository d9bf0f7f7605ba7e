// Which tile of the result is computed when, and over which part of the depth.
#ifndef INTAGLIO_KERNELS_CUDA_SCHEDULE_H_
#define INTAGLIO_KERNELS_CUDA_SCHEDULE_H_

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/cuda/layout.h"

namespace intaglio::cuda {

// A grid of tiles, walked in bands of kBand tile rows: within a band, down its rows first, then on
// to the next tile column. The tiles in flight at one time then form a rectangle, which reads less
// of both operands than a strip would.
inline constexpr int kBand = 8;

struct TileGrid {
  int row_tiles;
  int channel_tiles;

  INTAGLIO_INLINE constexpr int count() const { return row_tiles * channel_tiles; }
};

struct TileIndex {
  int row;
  int channel;
};

// The place of the `index`-th tile, index in [0, count()).
INTAGLIO_INLINE constexpr TileIndex TileAt(const TileGrid& grid, int index) {
  const int per_band = kBand * grid.channel_tiles;
  const int first = index / per_band * kBand;
  const int left = grid.row_tiles - first;
  const int height = left < kBand ? left : kBand;
  const int in_band = index % per_band;
  return {first + in_band % height, in_band / height};
}

// The depths [begin, end) of one split of the sum. Every split but the last is depth_per_split
// long.
struct DepthRange {
  int begin;
  int end;
};
INTAGLIO_INLINE constexpr DepthRange DepthOfSplit(int depth, int depth_per_split, int split) {
  const long long begin = static_cast<long long>(depth_per_split) * split;
  const long long end = begin + depth_per_split;
  return {static_cast<int>(begin < depth ? begin : depth),
          static_cast<int>(end < depth ? end : depth)};
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_SCHEDULE_H_
