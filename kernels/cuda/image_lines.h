// A convolution's input as rows: chunks of the matrix that pack/im2col.h describes, read from the
// image as they are needed.
#ifndef INTAGLIO_KERNELS_CUDA_IMAGE_LINES_H_
#define INTAGLIO_KERNELS_CUDA_IMAGE_LINES_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/cuda/chunk.h"
#include "intaglio/kernels/cuda/copy_lines.h"
#include "intaglio/kernels/cuda/product.h"
#include "intaglio/kernels/cuda/registers_cuda.h"
#include "intaglio/pack/im2col.h"

namespace intaglio::cuda {

// Where the window of a row begins, which may be outside of the image. `pixel` counts through all
// images, modulo 2^32: a tap inside of the image comes out right.
struct WindowPlace {
  uint32_t pixel;
  int y;
  int x;
};
INTAGLIO_INLINE WindowPlace WindowOf(const Im2col& v, int row) {
  const int line = row / v.out_width;
  const int y = line % v.out_height * v.stride_height - v.pad_top;
  const int x = row % v.out_width * v.stride_width - v.pad_left;
  const auto image_line = static_cast<uint32_t>(line / v.out_height * v.height);
  return {(image_line + static_cast<uint32_t>(y)) * static_cast<uint32_t>(v.width) +
              static_cast<uint32_t>(x),
          y, x};
}

// Where depth `at` of a row lies in its window.
struct TapPlace {
  int y;
  int x;
  int channel;
};
INTAGLIO_INLINE TapPlace TapAt(const Im2col& v, int at) {
  const int tap = at / v.group_channels;
  return {tap / v.kernel_width * v.dilation_height, tap % v.kernel_width * v.dilation_width,
          at % v.group_channels};
}

INTAGLIO_INLINE void NextTap(const Im2col& v, TapPlace& tap) {
  tap.channel = 0;
  tap.x += v.dilation_width;
  if (tap.x < v.kernel_width * v.dilation_width) return;
  tap.x = 0;
  tap.y += v.dilation_height;
}

// A pixel of a window, from its first channel of the group on; null outside of the image.
INTAGLIO_INLINE const uint8_t* PixelOf(const Im2col& v, const WindowPlace& window, int y, int x) {
  const bool inside = static_cast<unsigned>(window.y + y) < static_cast<unsigned>(v.height) &&
                      static_cast<unsigned>(window.x + x) < static_cast<unsigned>(v.width);
  if (!inside) return nullptr;
  const uint32_t pixel = window.pixel + static_cast<uint32_t>(y) * static_cast<uint32_t>(v.width) +
                         static_cast<uint32_t>(x);
  return static_cast<const uint8_t*>(v.data) +
         static_cast<size_t>(pixel) * static_cast<size_t>(v.channels) + v.first_channel;
}

// Chunks lie within a pixel, and may be loaded at once.
inline bool HasWholeChunks(const Im2col& v) {
  return v.group_channels % kChunk == 0 && v.channels % kChunk == 0 &&
         v.first_channel % kChunk == 0 && reinterpret_cast<uintptr_t>(v.data) % kChunk == 0;
}

// What is read outside of the image.
INTAGLIO_INLINE Chunk PaddingOf(const Im2col& v) {
  const uint32_t word = static_cast<uint8_t>(v.zero_point) * 0x01010101u;
  return {{word, word, word, word}};
}

// Where depths [at, at + 16) of a window lie, of an image of whole chunks; null outside.
INTAGLIO_INLINE const uint8_t* WholeChunkOf(const Im2col& v, const WindowPlace& window, int at) {
  const TapPlace tap = TapAt(v, at);
  const uint8_t* pixel = PixelOf(v, window, tap.y, tap.x);
  return pixel == nullptr ? nullptr : pixel + tap.channel;
}

// The same of any image, byte by byte; zeros from `depth` on.
INTAGLIO_INLINE Chunk GatherChunk(const Im2col& v, const WindowPlace& window, int at, int depth) {
  const auto padding = static_cast<uint8_t>(v.zero_point);
  Chunk chunk{};
  TapPlace tap = TapAt(v, at);
  const uint8_t* pixel = PixelOf(v, window, tap.y, tap.x);
  INTAGLIO_UNROLL
  for (int i = 0; i < kChunk; ++i) {
    if (at + i < depth) {
      const uint32_t byte = pixel == nullptr ? padding : pixel[tap.channel];
      chunk.word[i / 4] |= byte << (8 * (i % 4));
      if (++tap.channel == v.group_channels) {
        NextTap(v, tap);
        pixel = PixelOf(v, window, tap.y, tap.x);
      }
    }
  }
  return chunk;
}

// The rows first, first + step and so on of an image's matrix. In place of those beyond the last
// it reads the last, and beyond the depth padding: neither counts in a result.
template <int kCount>
class ImageLines {
 public:
  INTAGLIO_INLINE ImageLines(const DeviceProduct& p, int first, int step)
      : view_(p.image), depth_(p.depth), whole_chunks_(p.whole_chunks) {
    INTAGLIO_UNROLL
    for (int i = 0; i < kCount; ++i) {
      windows_[i] = WindowOf(view_, Cuda::Min(first + i * step, p.row_count - 1));
    }
  }

  INTAGLIO_INLINE Chunk Load(int i, int at) const {
    if (!whole_chunks_) return GatherChunk(view_, windows_[i], at, depth_);
    const uint8_t* from = at < depth_ ? WholeChunkOf(view_, windows_[i], at) : nullptr;
    return from == nullptr ? PaddingOf(view_) : *reinterpret_cast<const Chunk*>(from);
  }

  // Only of an image of whole chunks.
  INTAGLIO_INLINE void CopyWhole(int i, int at, char* dst) const {
    const uint8_t* from = at < depth_ ? WholeChunkOf(view_, windows_[i], at) : nullptr;
    if (from == nullptr) {
      *reinterpret_cast<Chunk*>(dst) = PaddingOf(view_);
    } else {
      CopyChunk(reinterpret_cast<const char*>(from), kChunk, dst);
    }
  }

  INTAGLIO_INLINE void Copy(int i, int at, char* dst) const {
    if (whole_chunks_) return CopyWhole(i, at, dst);
    *reinterpret_cast<Chunk*>(dst) = GatherChunk(view_, windows_[i], at, depth_);
  }

 private:
  const Im2col& view_;  // in the kernel's parameters
  WindowPlace windows_[kCount];
  int depth_;
  bool whole_chunks_;
};

// The rows of a tile, as a kernel's threads copy them.
template <bool kFromImage, int kCount>
struct RowLines {
  using Type = MatrixLines;
  static INTAGLIO_INLINE Type Of(const DeviceProduct& p, const Slice& s, int first, int step) {
    return {RowChunks(p, s), first, step};
  }
};
template <int kCount>
struct RowLines<true, kCount> {
  using Type = ImageLines<kCount>;
  static INTAGLIO_INLINE Type Of(const DeviceProduct& p, const Slice&, int first, int step) {
    return {p, first, step};
  }
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_IMAGE_LINES_H_
