// How a block's threads share the asynchronous copies of a tile's lines to shared memory.
#ifndef INTAGLIO_KERNELS_CUDA_COPY_LINES_H_
#define INTAGLIO_KERNELS_CUDA_COPY_LINES_H_

#include <cstdint>
#include <cstring>

#include "intaglio/kernels/cuda/chunk.h"
#include "intaglio/kernels/cuda/layout.h"

namespace intaglio::cuda {

// 16 bytes, `bytes` of them from `src` and the rest zeros, to shared memory: on the device some
// time before the copies are waited for.
INTAGLIO_INLINE void CopyChunk(const char* src, int bytes, char* dst) {
#if defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(dst))),
               "l"(src), "r"(bytes)
               : "memory");
#endif
#else
  std::memset(dst, 0, kChunk);
  if (bytes > 0) std::memcpy(dst, src, static_cast<size_t>(bytes));
#endif
}

// The lines first, first + step and so on of a matrix. Kernels read their operands through classes
// like this one: Load gives a chunk of line i, Copy brings it to shared memory.
struct MatrixLines {
  ChunkSource source;
  int first;
  int step;

  INTAGLIO_INLINE Chunk Load(int i, int at) const {
    return LoadChunk(source, first + i * step, at);
  }
  INTAGLIO_INLINE void Copy(int i, int at, char* dst) const {
    const int line = first + i * step;
    const int bytes = source.Bytes(line, at);
    // A copy of nothing still names an address: that of the first line.
    CopyChunk(bytes > 0 ? source.At(line, at) : source.data, bytes, dst);
  }
};

// Which chunks of kTileLines lines, kChunks of them in each, a thread of kThreads copies: the same
// chunk of every kStep-th line, neighbours along the depth by neighbouring threads.
template <int kTileLines, int kChunks, int kThreads>
struct LineShare {
  static_assert(kThreads % kChunks == 0);
  static constexpr int kStep = kThreads / kChunks;
  static constexpr int kCount = (kTileLines + kStep - 1) / kStep;

  static INTAGLIO_INLINE constexpr int Line(int thread) { return thread / kChunks; }

  // copy(i, depth, dst) for the thread's i-th line, into a side of the layout SwizzledOffset.
  template <class Copy>
  static INTAGLIO_INLINE void ForEach(int thread, int depth, char* side, const Copy& copy) {
    const int chunk = thread % kChunks;
    INTAGLIO_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const int line = Line(thread) + i * kStep;
      if (kTileLines % kStep != 0 && line >= kTileLines) break;
      copy(i, depth + chunk * kChunk, side + SwizzledOffset<kChunks>(line, chunk));
    }
  }
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_COPY_LINES_H_
