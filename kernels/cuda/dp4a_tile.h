// The DP4A kernel, thread by thread: a block of 16 x 16 threads computes 64 x 64 elements of the
// result, each thread 4 rows by 4 channels.
//
//   shared memory, twice:  | 64 rows x 64 depths | 64 channels x 64 depths |
//
// While one half is multiplied, the chunks of the next depths are on their way to registers.
// Everything a thread does between two barriers is a function here, so that the host can run a
// block thread by thread.
#ifndef INTAGLIO_KERNELS_CUDA_DP4A_TILE_H_
#define INTAGLIO_KERNELS_CUDA_DP4A_TILE_H_

#include "intaglio/kernels/cuda/chunk.h"
#include "intaglio/kernels/cuda/finish_run.h"
#include "intaglio/kernels/cuda/image_lines.h"
#include "intaglio/kernels/cuda/layout.h"
#include "intaglio/kernels/cuda/product.h"

namespace intaglio::cuda {

struct Dp4aTile {
  static constexpr int kRows = 64;
  static constexpr int kChannels = 64;
  static constexpr int kDepth = 64;
  static constexpr int kThreads = 256;
  static constexpr int kStages = 2;
  static constexpr int kSide = kRows * kDepth;  // bytes of one operand
  static constexpr int kHalf = 2 * kSide;
  static constexpr int kSharedBytes = 2 * kHalf;
  static constexpr Images kImages = Images::kAny;

  // The line of shared memory that holds element `i`, a row or a channel of the tile: threads that
  // read at the same time, 4 elements apart, then read neighbouring lines, in different banks.
  static INTAGLIO_INLINE constexpr int LineOf(int i) { return i % 4 * 16 + i / 4; }
};

template <bool kSignedRows, bool kFromImage>
class Dp4aThread {
 public:
  INTAGLIO_INLINE Dp4aThread(const DeviceProduct& p, const Slice& slice, TileIndex tile, int thread)
      : rows_(Rows::Of(p, slice, tile.row * Dp4aTile::kRows + thread / 4, 0)),
        channels_(ChannelChunks(p, slice)),
        first_row_(tile.row * Dp4aTile::kRows),
        first_channel_(tile.channel * Dp4aTile::kChannels),
        thread_(thread) {}

  // Each thread moves one chunk of either operand.
  INTAGLIO_INLINE void Load(int depth) {
    row_chunk_ = rows_.Load(0, depth + chunk() * kChunk);
    channel_chunk_ = LoadWholeChunk(channels_, first_channel_ + line(), depth + chunk() * kChunk);
  }
  INTAGLIO_INLINE void Store(char* half) const {
    At(half, Dp4aTile::LineOf(line()), chunk()) = row_chunk_;
    At(half + Dp4aTile::kSide, Dp4aTile::LineOf(ChannelOfLine(line())), chunk()) = channel_chunk_;
  }
  INTAGLIO_INLINE void Multiply(char* half) {
    INTAGLIO_UNROLL
    for (int c = 0; c < 4; ++c) {
      Chunk row[4];
      Chunk channel[4];
      INTAGLIO_UNROLL
      for (int i = 0; i < 4; ++i) {
        row[i] = At(half, Dp4aTile::LineOf(4 * (thread_ / 16) + i), c);
        channel[i] = At(half + Dp4aTile::kSide, Dp4aTile::LineOf(4 * (thread_ % 16) + i), c);
      }
      INTAGLIO_UNROLL
      for (int i = 0; i < 4; ++i) {
        INTAGLIO_UNROLL
        for (int j = 0; j < 4; ++j) {
          acc_[i][j] = DotChunk<kSignedRows>(row[i], channel[j], acc_[i][j]);
        }
      }
    }
  }
  template <class Finish>
  INTAGLIO_INLINE void End(const DeviceProduct& p, const Slice& slice, const Finish& finish) {
    FinishRun(p, slice, finish,
              {first_row_ + 4 * (thread_ / 16), 1, first_channel_ + 4 * (thread_ % 16)}, acc_);
  }

 private:
  using Rows = RowLines<kFromImage, 1>;

  INTAGLIO_INLINE int line() const { return thread_ / 4; }
  INTAGLIO_INLINE int chunk() const { return thread_ % 4; }
  static INTAGLIO_INLINE Chunk& At(char* side, int line, int chunk) {
    return *reinterpret_cast<Chunk*>(side + SwizzledOffset<4>(line, chunk));
  }

  typename Rows::Type rows_;
  ChunkSource channels_;
  int first_row_;
  int first_channel_;
  int thread_;
  Chunk row_chunk_{};
  Chunk channel_chunk_{};
  int32_t acc_[4][4] = {};
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_DP4A_TILE_H_
