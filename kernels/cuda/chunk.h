// 16 bytes along the depth: the unit in which kernels read their operands.
#ifndef INTAGLIO_KERNELS_CUDA_CHUNK_H_
#define INTAGLIO_KERNELS_CUDA_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "intaglio/kernels/cuda/layout.h"
#include "intaglio/kernels/cuda/product.h"

namespace intaglio::cuda {

struct alignas(kChunk) Chunk {
  uint32_t word[4];
};

// How many bytes of the chunk at depth `at` are within [0, end): 0 to kChunk.
INTAGLIO_INLINE constexpr int BytesInside(int at, int end) {
  const int left = end - at;
  return left < 0 ? 0 : left < kChunk ? left : kChunk;
}

// A source of chunks: lines contiguous along depth, of which those beyond `lines`, and depths
// beyond `depth`, read as zero and are not touched.
struct ChunkSource {
  const char* data;
  ptrdiff_t stride;
  int lines;
  int depth;

  INTAGLIO_INLINE int Bytes(int line, int at) const {
    return line < lines ? BytesInside(at, depth) : 0;
  }
  INTAGLIO_INLINE const char* At(int line, int at) const { return data + line * stride + at; }
};
INTAGLIO_INLINE ChunkSource RowChunks(const DeviceProduct& p, const Slice& s) {
  return {s.rows, p.row_stride, p.row_count, s.depth.end};
}
// Of channels, depth is padded: what lies beyond a split's end meets zeros of the rows.
INTAGLIO_INLINE ChunkSource ChannelChunks(const DeviceProduct& p, const Slice& s) {
  return {reinterpret_cast<const char*>(s.channels), p.padded_depth, p.groups() * kChannelGroup,
          p.padded_depth};
}

INTAGLIO_INLINE Chunk LoadChunk(const ChunkSource& source, int line, int at) {
  const int bytes = source.Bytes(line, at);
  const char* p = source.At(line, at);
  Chunk chunk{};
  if (bytes == kChunk) {
    chunk = *reinterpret_cast<const Chunk*>(p);
  } else {
    INTAGLIO_UNROLL
    for (int i = 0; i < kChunk; ++i) {
      if (i < bytes)
        chunk.word[i / 4] |= static_cast<uint32_t>(static_cast<uint8_t>(p[i])) << (8 * (i % 4));
    }
  }
  return chunk;
}

// The same of channels, which are padded to whole chunks.
INTAGLIO_INLINE Chunk LoadWholeChunk(const ChunkSource& source, int line, int at) {
  if (source.Bytes(line, at) < kChunk) return {};
  return *reinterpret_cast<const Chunk*>(source.At(line, at));
}

// acc + the products of four bytes, `rows` signed or not, `channels` signed.
template <bool kSignedRows>
INTAGLIO_INLINE int32_t Dot4(uint32_t rows, uint32_t channels, int32_t acc) {
#if defined(__CUDA_ARCH__)
  int32_t result;
  if constexpr (kSignedRows) {
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(rows), "r"(channels), "r"(acc));
  } else {
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(rows), "r"(channels), "r"(acc));
  }
  return result;
#else
  for (int i = 0; i < 32; i += 8) {
    const auto x = static_cast<uint8_t>(rows >> i);
    const int32_t row = kSignedRows ? static_cast<int8_t>(x) : x;
    acc = Scalar::Add(acc, row * static_cast<int8_t>(channels >> i));
  }
  return acc;
#endif
}

template <bool kSignedRows>
INTAGLIO_INLINE int32_t DotChunk(const Chunk& rows, const Chunk& channels, int32_t acc) {
  INTAGLIO_UNROLL
  for (int w = 0; w < 4; ++w) acc = Dot4<kSignedRows>(rows.word[w], channels.word[w], acc);
  return acc;
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_CHUNK_H_
