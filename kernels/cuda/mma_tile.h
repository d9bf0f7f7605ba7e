// The kernel of mma.sync m16n8k32, thread by thread. Tiles of both operands come to shared memory
// by asynchronous copies, kStages of them in a ring; each warp multiplies kWarpRows x kWarpChannels
// elements in fragments.
//
//   shared memory, kStages times:  | kRows rows x 64 depths | kChannels channels x 64 depths |
//
// As in dp4a_tile.h the host can run it: what remains to the device alone is the instruction
// itself, and waiting.
#ifndef INTAGLIO_KERNELS_CUDA_MMA_TILE_H_
#define INTAGLIO_KERNELS_CUDA_MMA_TILE_H_

#include <cstdint>
#include <cstring>

#include "intaglio/kernels/cuda/copy_lines.h"
#include "intaglio/kernels/cuda/finish_run.h"
#include "intaglio/kernels/cuda/image_lines.h"
#include "intaglio/kernels/cuda/layout.h"
#include "intaglio/kernels/cuda/product.h"

namespace intaglio::cuda {

template <int kTileRows, int kTileChannels, int kRowsOfWarp, int kChannelsOfWarp, int kRing>
struct MmaTile {
  static constexpr int kRows = kTileRows;
  static constexpr int kChannels = kTileChannels;
  static constexpr int kDepth = 64;
  static constexpr int kStages = kRing;
  static constexpr int kWarpRows = kRowsOfWarp;
  static constexpr int kWarpChannels = kChannelsOfWarp;
  static constexpr int kWarpsDown = kRows / kWarpRows;
  static constexpr int kThreads = 32 * kWarpsDown * (kChannels / kWarpChannels);
  static constexpr int kStageBytes = (kRows + kChannels) * kDepth;
  static constexpr int kSharedBytes = kStages * kStageBytes;
  // Of the few rows that smaller tiles are for, no image has so few.
  static constexpr Images kImages = kRows >= 64 ? Images::kAny : Images::kNone;
  static_assert(kWarpRows % 16 == 0 && kWarpChannels % 16 == 0 && kWarpChannels <= kChannelGroup);
};

// ldmatrix.x4 (layout.h); offset(lane) is the address that the lane gives.
template <class OffsetOf>
INTAGLIO_INLINE void LoadMatrices(const char* shared, int lane, const OffsetOf& offset,
                                  uint32_t (&registers)[4]) {
#if defined(__CUDA_ARCH__)
  const auto address =
      static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + static_cast<uint32_t>(offset(lane));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(address)
               : "memory");
#else
  for (int j = 0; j < 4; ++j) {
    std::memcpy(&registers[j], shared + offset(8 * j + lane / 4) + lane % 4 * 4, 4);
  }
#endif
}

// The accumulators of kBlocks blocks of 16 x 8, side by side in one group of channels: finishes
// them. `channel` is the first of the group, `first_block` the place of the blocks in it.
template <int kBlocks, class Finish>
INTAGLIO_INLINE void FinishBlocks(const DeviceProduct& p, const Slice& slice, const Finish& finish,
                                  int lane, int row, int channel, int first_block,
                                  const int32_t (&acc)[kBlocks][4]) {
  int32_t run[2][2 * kBlocks];
  INTAGLIO_UNROLL
  for (int i = 0; i < kBlocks; ++i) {
    INTAGLIO_UNROLL
    for (int r = 0; r < 4; ++r) run[r / 2][2 * i + r % 2] = acc[i][r];
  }
  const AccumulatorPlace first = PlaceInC(lane, 0);
  FinishRun(p, slice, finish,
            {row + first.row, 8, channel + ChannelOfLine(8 * first_block + first.col)}, run);
}

template <class Tile, bool kFromImage>
class MmaThread {
 public:
  static constexpr int kRowBlocks = Tile::kWarpRows / 16;
  static constexpr int kColBlocks = Tile::kWarpChannels / 8;

  INTAGLIO_INLINE MmaThread(const DeviceProduct& p, const Slice& slice, TileIndex tile, int thread)
      : rows_(Rows::Of(p, slice, tile.row * Tile::kRows + RowShare::Line(thread), RowShare::kStep)),
        channels_{ChannelChunks(p, slice),
                  tile.channel * Tile::kChannels + ChannelShare::Line(thread), ChannelShare::kStep},
        first_row_(tile.row * Tile::kRows),
        first_channel_(tile.channel * Tile::kChannels),
        thread_(thread) {}

  // This thread's part of the copies to one stage.
  INTAGLIO_INLINE void Copy(int depth, char* stage) const {
    RowShare::ForEach(thread_, depth, stage,
                      [&](int i, int at, char* dst) { rows_.Copy(i, at, dst); });
    ChannelShare::ForEach(thread_, depth, stage + Tile::kRows * Tile::kDepth,
                          [&](int i, int at, char* dst) { channels_.Copy(i, at, dst); });
  }

  // The fragments of depths [32 k_step, 32 k_step + 32) of a stage.
  INTAGLIO_INLINE void LoadFragments(const char* stage, int k_step) {
    INTAGLIO_UNROLL
    for (int i = 0; i < kRowBlocks; ++i) {
      LoadMatrices(
          stage, lane(),
          [&](int l) {
            const ChunkPlace at = AddressForA(l);
            return SwizzledOffset<4>(warp_row() + 16 * i + at.line, 2 * k_step + at.chunk);
          },
          a[i]);
    }
    const char* channels = stage + Tile::kRows * Tile::kDepth;
    INTAGLIO_UNROLL
    for (int j = 0; j < kColBlocks; j += 2) {
      uint32_t pair[4];
      LoadMatrices(
          channels, lane(),
          [&](int l) {
            const ChunkPlace at = AddressForB(l);
            return SwizzledOffset<4>(warp_channel() + 8 * j + at.line, 2 * k_step + at.chunk);
          },
          pair);
      INTAGLIO_UNROLL
      for (int r = 0; r < 4; ++r) b[j + r / 2][r % 2] = pair[r];
    }
  }

  template <class Finish>
  INTAGLIO_INLINE void End(const DeviceProduct& p, const Slice& slice, const Finish& finish) const {
    INTAGLIO_UNROLL
    for (int i = 0; i < kRowBlocks; ++i) {
      FinishBlocks(p, slice, finish, lane(), first_row_ + warp_row() + 16 * i,
                   first_channel_ + warp_channel() / kChannelGroup * kChannelGroup,
                   warp_channel() % kChannelGroup / 8, acc[i]);
    }
  }

  uint32_t a[kRowBlocks][4];
  uint32_t b[kColBlocks][2];
  int32_t acc[kRowBlocks][kColBlocks][4] = {};

 private:
  using RowShare = LineShare<Tile::kRows, Tile::kDepth / kChunk, Tile::kThreads>;
  using ChannelShare = LineShare<Tile::kChannels, Tile::kDepth / kChunk, Tile::kThreads>;
  using Rows = RowLines<kFromImage, RowShare::kCount>;

  INTAGLIO_INLINE int lane() const { return thread_ % 32; }
  INTAGLIO_INLINE int warp_row() const { return thread_ / 32 % Tile::kWarpsDown * Tile::kWarpRows; }
  INTAGLIO_INLINE int warp_channel() const {
    return thread_ / 32 / Tile::kWarpsDown * Tile::kWarpChannels;
  }

  typename Rows::Type rows_;
  MatrixLines channels_;
  int first_row_;
  int first_channel_;
  int thread_;
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_MMA_TILE_H_
