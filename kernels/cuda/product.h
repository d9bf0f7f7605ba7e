// One product in the canonical form of the device's kernels:
//
//   dst[row][channel] = finish(sum over depth of rows[row][depth] * channels[channel][depth])
//
// Both operands are contiguous along depth. The channels are packed (layout.h); the rows are int8
// or uint8 as the caller has them, their start and stride multiples of 16 bytes; those of a
// convolution are read from its image, without ever being a matrix.
#ifndef INTAGLIO_KERNELS_CUDA_PRODUCT_H_
#define INTAGLIO_KERNELS_CUDA_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/cuda/layout.h"
#include "intaglio/kernels/cuda/schedule.h"
#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/pack/im2col.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio::cuda {

static_assert(kChannelGroup == kMaxPanelWidth, "a PanelParams serves one group of channels");

struct DeviceProduct {
  const void* rows = nullptr;
  ptrdiff_t row_stride = 0;  // bytes
  bool rows_are_signed = true;
  bool rows_are_image = false;  // the rows are those of `image`, and the batch is 1
  bool whole_chunks = false;    // of `image`: every 16 bytes of a row lie together (image_lines.h)
  Im2col image;
  const int8_t* channels = nullptr;
  int padded_depth = 0;  // bytes from line to line of the channels

  int row_count = 0;
  int channel_count = 0;
  int depth = 0;

  // A batch of products, bytes (dst: elements) from one to the next.
  int batch = 1;
  ptrdiff_t row_batch = 0;
  ptrdiff_t channel_batch = 0;
  ptrdiff_t dst_batch = 0;

  // Split over depth: slice batch_index * splits + split of dst gets the sum over its part.
  int splits = 1;
  int depth_per_split = 0;  // a multiple of 2 kDepthUnit

  // Per group of channels, groups() for each of the batch or for all of it; null where there are no
  // offsets and nothing is scaled.
  const PanelParams* params = nullptr;
  ptrdiff_t params_batch = 0;  // PanelParams from one of the batch to the next
  const int32_t* row_sums =
      nullptr;  // row_count per product; null where no channel has a zero point

  void* dst = nullptr;
  ptrdiff_t dst_row_stride = 0;  // elements
  ptrdiff_t dst_channel_stride = 0;
  bool wide_stores = false;           // 16 elements may be stored at once from any 16th channel on
  Axis channels_along = Axis::kCols;  // of the caller's result

  INTAGLIO_INLINE constexpr int groups() const { return DivideUp(channel_count, kChannelGroup); }
  INTAGLIO_INLINE constexpr TileGrid Tiles(int tile_rows, int tile_channels) const {
    return {DivideUp(row_count, tile_rows), DivideUp(channel_count, tile_channels)};
  }
};

// One of the products of a batch and one of its splits, as a kernel's block sees it.
struct Slice {
  const char* rows;
  const int8_t* channels;
  const PanelParams* params;
  const int32_t* row_sums;
  ptrdiff_t dst_offset;  // elements
  DepthRange depth;
};

INTAGLIO_INLINE Slice SliceOf(const DeviceProduct& p, int index) {
  const int b = index / p.splits;
  Slice s;
  s.rows = static_cast<const char*>(p.rows) + b * p.row_batch;
  s.channels = p.channels + b * p.channel_batch;
  s.params = p.params == nullptr ? nullptr : p.params + b * p.params_batch;
  s.row_sums =
      p.row_sums == nullptr ? nullptr : p.row_sums + static_cast<ptrdiff_t>(b) * p.row_count;
  s.dst_offset = index * p.dst_batch;
  s.depth = DepthOfSplit(p.depth, p.depth_per_split, index % p.splits);
  return s;
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_PRODUCT_H_
