// The kernel for a few rows, thread by thread: it is bound by reading the channels once. A block of
// 8 warps takes 4 channels; their chunks go round the threads along depth.
#ifndef INTAGLIO_KERNELS_CUDA_GEMV_TILE_H_
#define INTAGLIO_KERNELS_CUDA_GEMV_TILE_H_

#include "intaglio/kernels/cuda/chunk.h"
#include "intaglio/kernels/cuda/finish_run.h"
#include "intaglio/kernels/cuda/layout.h"
#include "intaglio/kernels/cuda/product.h"

namespace intaglio::cuda {

template <int kRowsAtOnce>
struct GemvTile {
  static constexpr int kRows = kRowsAtOnce;
  static constexpr int kChannels = 4;
  static constexpr int kThreads = 256;
  static constexpr int kDepth = kThreads * kChunk;  // of one round
  static constexpr int kStages = 2;
  static constexpr int kSharedBytes = 0;
  static constexpr Images kImages = Images::kNone;
};

// Partial sums over the thread's chunks, to be added over the block.
template <class Tile, bool kSignedRows>
INTAGLIO_INLINE void GemvThread(const DeviceProduct& p, const Slice& slice, TileIndex tile,
                                int thread, int32_t (&acc)[Tile::kRows][Tile::kChannels]) {
  const ChunkSource rows = RowChunks(p, slice);
  const ChunkSource channels = ChannelChunks(p, slice);
  for (int at = slice.depth.begin + thread * kChunk; at < slice.depth.end; at += Tile::kDepth) {
    Chunk channel[Tile::kChannels];
    INTAGLIO_UNROLL
    for (int j = 0; j < Tile::kChannels; ++j) {
      channel[j] = LoadWholeChunk(channels, LineOfChannel(tile.channel * Tile::kChannels + j), at);
    }
    INTAGLIO_UNROLL
    for (int i = 0; i < Tile::kRows; ++i) {
      const Chunk row = LoadChunk(rows, tile.row * Tile::kRows + i, at);
      INTAGLIO_UNROLL
      for (int j = 0; j < Tile::kChannels; ++j) {
        acc[i][j] = DotChunk<kSignedRows>(row, channel[j], acc[i][j]);
      }
    }
  }
}

// Finishes one row of a block's tile.
template <class Tile, class Finish>
INTAGLIO_INLINE void GemvEnd(const DeviceProduct& p, const Slice& slice, const Finish& finish,
                             TileIndex tile, int row, const int32_t (&sums)[Tile::kChannels]) {
  int32_t acc[1][Tile::kChannels];
  INTAGLIO_UNROLL
  for (int j = 0; j < Tile::kChannels; ++j) acc[0][j] = sums[j];
  FinishRun(p, slice, finish, {tile.row * Tile::kRows + row, 1, tile.channel * Tile::kChannels},
            acc);
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_GEMV_TILE_H_
