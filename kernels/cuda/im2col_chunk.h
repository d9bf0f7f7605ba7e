// A convolution's input as rows: one chunk of one row of the matrix that pack/im2col.h describes.
#ifndef INTAGLIO_KERNELS_CUDA_IM2COL_CHUNK_H_
#define INTAGLIO_KERNELS_CUDA_IM2COL_CHUNK_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/cuda/chunk.h"
#include "intaglio/pack/im2col.h"

namespace intaglio::cuda {

// Where the window of a row begins in the image.
struct WindowPlace {
  const uint8_t* image;
  int y;
  int x;
};
INTAGLIO_INLINE WindowPlace WindowOf(const Im2col& v, int row) {
  const int b = row / (v.out_height * v.out_width);
  const int oy = row / v.out_width % v.out_height;
  const int ox = row % v.out_width;
  return {static_cast<const uint8_t*>(v.data) +
              static_cast<ptrdiff_t>(b) * v.height * v.width * v.channels,
          oy * v.stride_height - v.pad_top, ox * v.stride_width - v.pad_left};
}

// The pixel of a tap, from its first channel of the group on; null outside of the image.
INTAGLIO_INLINE const uint8_t* PixelOf(const Im2col& v, const WindowPlace& window, int tap) {
  const int y = window.y + tap / v.kernel_width * v.dilation_height;
  const int x = window.x + tap % v.kernel_width * v.dilation_width;
  if (y < 0 || y >= v.height || x < 0 || x >= v.width) return nullptr;
  return window.image + (static_cast<ptrdiff_t>(y) * v.width + x) * v.channels + v.first_channel;
}

// Chunks lie within a pixel, and may be loaded at once.
INTAGLIO_INLINE bool HasWholeChunks(const Im2col& v) {
  return v.group_channels % kChunk == 0 && v.channels % kChunk == 0 &&
         v.first_channel % kChunk == 0 && reinterpret_cast<uintptr_t>(v.data) % kChunk == 0;
}

// Depths [at, at + 16) of a row; zeros past the last.
INTAGLIO_INLINE Chunk Im2colChunk(const Im2col& v, bool whole_chunks, int row, int at) {
  const WindowPlace window = WindowOf(v, row);
  const int depth = v.kernel_height * v.kernel_width * v.group_channels;
  const uint32_t padding = static_cast<uint8_t>(v.zero_point) * 0x01010101u;
  int tap = at / v.group_channels;
  int channel = at % v.group_channels;
  if (whole_chunks) {
    const uint8_t* pixel = PixelOf(v, window, tap);
    if (pixel == nullptr) return {{padding, padding, padding, padding}};
    return *reinterpret_cast<const Chunk*>(pixel + channel);
  }
  Chunk chunk{};
  const uint8_t* pixel = PixelOf(v, window, tap);
  INTAGLIO_UNROLL
  for (int i = 0; i < kChunk; ++i) {
    if (at + i < depth) {
      const uint32_t byte = pixel == nullptr ? padding & 0xff : pixel[channel];
      chunk.word[i / 4] |= byte << (8 * (i % 4));
      if (++channel == v.group_channels) {
        channel = 0;
        pixel = PixelOf(v, window, ++tap);
      }
    }
  }
  return chunk;
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_IM2COL_CHUNK_H_
