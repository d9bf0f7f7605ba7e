// The kernel of Hopper's wgmma: its shared memory, and what each warp does when. Tiles of 128 rows
// by kTileChannels channels, 128 depths a round.
//
//   shared memory, kStages times:  | 128 rows x 128 depths | kChannels channels x 128 depths |
//
// The rows of a convolution are copied by the threads of the producing warpgroup, in the layout
// that a bulk copy would give them.
//
// One warpgroup has the bulk tensor copies made, two multiply, 64 rows of the tile each. A stage is
// *full* when its bytes have come, and *empty* when both have multiplied it. Every block walks over
// tiles of its own; the ring runs on from tile to tile, so that the next tile's first rounds are
// copied while the last one's results are finished.
#ifndef INTAGLIO_KERNELS_CUDA_WGMMA_TILE_H_
#define INTAGLIO_KERNELS_CUDA_WGMMA_TILE_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/cuda/copy_lines.h"
#include "intaglio/kernels/cuda/layout.h"
#include "intaglio/kernels/cuda/product.h"
#include "intaglio/kernels/cuda/schedule.h"

namespace intaglio::cuda {

template <int kTileChannels>
struct WgmmaTile {
  static constexpr int kRows = 128;
  static constexpr int kChannels = kTileChannels;
  static constexpr int kDepth = 128;  // one line of the 128-byte swizzle
  static constexpr int kThreads = 3 * 128;
  static constexpr int kStages = kChannels == 256 ? 4 : 6;
  static constexpr int kRowBytes = kRows * kDepth;
  static constexpr int kChannelBytes = kChannels * kDepth;
  static constexpr int kStageBytes = kRowBytes + kChannelBytes;
  // Stages stand at multiples of 1024 bytes, the period of the swizzle; the barriers after them.
  static constexpr int kSharedBytes = 1024 + kStages * kStageBytes + 2 * kStages * 8;
  // Rounds whose copies by threads are on their way while the next one's are started. A stage is
  // given back a round after it was multiplied, so that two stages must be left to the readers.
  static constexpr int kLag = kStages - 2;
  static constexpr Images kImages = Images::kWholeChunks;
  static_assert(kSharedBytes <= 227 * 1024, "more than a block may have");
};

// The place in the ring of a block's n-th round, counted over all its tiles: the stage, and the
// parity of its barriers' phase that ends when it is full. A barrier that was never used counts as
// one whose phase of parity 1 has ended.
template <class Tile>
class Ring {
 public:
  INTAGLIO_INLINE constexpr int stage() const { return stage_; }
  INTAGLIO_INLINE constexpr uint32_t full_parity() const { return parity_; }
  INTAGLIO_INLINE constexpr uint32_t empty_parity() const { return parity_ ^ 1; }
  INTAGLIO_INLINE constexpr void Next() {
    if (++stage_ == Tile::kStages) {
      stage_ = 0;
      parity_ ^= 1;
    }
  }

 private:
  int stage_ = 0;
  uint32_t parity_ = 0;
};

// The chunks of a stage's rows that a thread of the producing warpgroup copies.
template <class Tile>
using ProducerShare = LineShare<Tile::kRows, Tile::kDepth / kChunk, 128>;

// The rounds of one slice.
INTAGLIO_INLINE constexpr int RoundsOf(const DepthRange& depth, int step) {
  return DivideUp(depth.end - depth.begin, step);
}

// The 64-bit description of an operand in shared memory (PTX ISA, "Matrix-descriptor format" of
// wgmma), contiguous along depth and in the 128-byte swizzle:
//   bits 0-13   address / 16        bits 32-45  bytes between blocks of 8 lines / 16: 1024 / 16
//   bits 16-29  not used with a swizzle; 1      bits 62-63  1, the 128-byte swizzle
// The next 32 depths of the same lines start 32 bytes further.
INTAGLIO_INLINE constexpr uint64_t DescribeShared(uint32_t address) {
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) | uint64_t{1} << 16 |
         uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

// What a tensor map is made of: elements are bytes, dimension 0 is the depth, 1 the lines, 2 the
// batch. Outside of it the copies read zeros.
struct TensorMapArgs {
  const void* data;
  uint64_t extent[3];
  uint64_t stride[2];  // bytes, of dimensions 1 and 2
  uint32_t box[3];
};
INTAGLIO_INLINE constexpr TensorMapArgs MapOf(const void* data, int depth, int lines, int batch,
                                              ptrdiff_t line_stride, ptrdiff_t batch_stride,
                                              int box_lines) {
  // A batch whose products share the operand is a batch of one; strides may not be 0.
  const bool shared = batch == 1 || batch_stride == 0;
  return {data,
          {static_cast<uint64_t>(depth), static_cast<uint64_t>(lines),
           shared ? uint64_t{1} : static_cast<uint64_t>(batch)},
          {static_cast<uint64_t>(line_stride),
           static_cast<uint64_t>(shared ? line_stride : batch_stride)},
          {128, static_cast<uint32_t>(box_lines), 1}};
}
INTAGLIO_INLINE constexpr TensorMapArgs RowMap(const DeviceProduct& p, int box_lines) {
  return MapOf(p.rows, p.depth, p.row_count, p.batch, p.row_stride, p.row_batch, box_lines);
}
INTAGLIO_INLINE constexpr TensorMapArgs ChannelMap(const DeviceProduct& p, int box_lines) {
  return MapOf(p.channels, p.padded_depth, p.groups() * kChannelGroup, p.batch, p.padded_depth,
               p.channel_batch, box_lines);
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_WGMMA_TILE_H_
