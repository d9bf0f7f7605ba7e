// Depthwise convolutions, pools and means: jobs (elementwise_jobs.h) that go over windows, four
// neighbouring channels in a thread.
#ifndef INTAGLIO_KERNELS_CUDA_WINDOW_JOBS_H_
#define INTAGLIO_KERNELS_CUDA_WINDOW_JOBS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/kernels/cuda/elementwise_jobs.h"
#include "intaglio/kernels/cuda/finish_run.h"
#include "intaglio/kernels/cuda/image_lines.h"
#include "intaglio/kernels/cuda/quad.h"

namespace intaglio::cuda {

// Output channel o reads input channel o / multiplier. A thread computes four channels of four
// pixels, which share its loads of the filters.
struct DepthwiseJob {
  static constexpr int kPixels = 4;

  DeviceProduct p;  // image, params and dst; rows are pixels; offsets of the params: the bias alone
  const uint8_t* filters;  // taps x channels, of the type of the image
  int32_t filter_zero_point;
  int multiplier;
  EpilogueParams epilogue;

  INTAGLIO_INLINE int runs() const { return DivideUp(p.channel_count, kQuad); }
  INTAGLIO_INLINE long long count() const {
    return static_cast<long long>(DivideUp(p.row_count, kPixels)) * runs();
  }

  INTAGLIO_INLINE void Run(long long i) const {
    const int channel = static_cast<int>(i % runs()) * kQuad;
    const int row = static_cast<int>(i / runs()) * kPixels;
    WindowPlace windows[kPixels];
    INTAGLIO_UNROLL
    for (int r = 0; r < kPixels; ++r) {
      windows[r] = WindowOf(p.image, Cuda::Min(row + r, p.row_count - 1));
    }
    int32_t acc[kPixels][kQuad] = {};
    const int taps = p.image.kernel_height * p.image.kernel_width;
    TapPlace at{0, 0, 0};
    for (int tap = 0; tap < taps; ++tap, NextTap(p.image, at))
      AddTap(tap, at, windows, channel, acc);
    FinishRun(p, SliceOf(p, 0), StandardFinish{epilogue}, {row, 1, channel}, acc);
  }

 private:
  // Padding is the zero point, which adds nothing.
  INTAGLIO_INLINE void AddTap(int tap, const TapPlace& at, const WindowPlace (&windows)[kPixels],
                              int channel, int32_t (&acc)[kPixels][kQuad]) const {
    const ByteType type{p.rows_are_signed};
    const int left = p.channel_count - channel;
    const uint32_t filter =
        LoadQuad(filters + static_cast<ptrdiff_t>(tap) * p.channel_count + channel, left) ^
        type.flip();
    INTAGLIO_UNROLL
    for (int r = 0; r < kPixels; ++r) {
      const uint8_t* pixel = PixelOf(p.image, windows[r], at.y, at.x);
      if (pixel == nullptr) continue;
      const uint32_t x = LoadInputs(pixel, channel, left) ^ type.flip();
      INTAGLIO_UNROLL
      for (int j = 0; j < kQuad; ++j) {
        const int32_t product = (ByteOf(x, j) - type.moved() - p.image.zero_point) *
                                (ByteOf(filter, j) - type.moved() - filter_zero_point);
        acc[r][j] = Cuda::Add(acc[r][j], product);
      }
    }
  }
  INTAGLIO_INLINE uint32_t LoadInputs(const uint8_t* pixel, int channel, int left) const {
    if (multiplier == 1) return LoadQuad(pixel + channel, left);
    uint32_t x = 0;
    INTAGLIO_UNROLL
    for (int j = 0; j < kQuad; ++j) {
      if (j < left) x |= static_cast<uint32_t>(pixel[(channel + j) / multiplier]) << (8 * j);
    }
    return x;
  }
};

// The largest or the mean of a window's pixels, to nearest, ties away from zero; padding does not
// count. In the image, groups and dilation are not used. Every window meets the image.
struct PoolJob {
  Im2col image;
  uint8_t* out;
  bool average;
  LineOutput output;  // its zero point is not used

  INTAGLIO_INLINE int runs() const { return DivideUp(image.channels, kQuad); }
  INTAGLIO_INLINE long long count() const {
    return static_cast<long long>(image.batch) * image.out_height * image.out_width * runs();
  }

  INTAGLIO_INLINE void Run(long long i) const {
    const int channel = static_cast<int>(i % runs()) * kQuad;
    const int left = image.channels - channel;
    const auto row = static_cast<int>(i / runs());
    const WindowPlace window = WindowOf(image, row);
    const ByteType type{output.is_signed};
    int32_t best[kQuad] = {};
    int32_t sum[kQuad] = {};
    int taps = 0;
    for (int y = 0; y < image.kernel_height; ++y) {
      for (int x = 0; x < image.kernel_width; ++x) {
        const uint8_t* pixel = PixelOf(image, window, y, x);
        if (pixel == nullptr) continue;
        ++taps;
        const uint32_t quad = LoadQuad(pixel + channel, left) ^ type.flip();
        INTAGLIO_UNROLL
        for (int j = 0; j < kQuad; ++j) {
          best[j] = Cuda::Max(best[j], ByteOf(quad, j));
          sum[j] += ByteOf(quad, j) - type.moved();
        }
      }
    }
    uint32_t result = 0;
    INTAGLIO_UNROLL
    for (int j = 0; j < kQuad; ++j) {
      const int32_t value = average ? Mean(sum[j], taps) : best[j] - type.moved();
      result |= static_cast<uint32_t>(static_cast<uint8_t>(
                    Cuda::Min(Cuda::Max(value, output.clamp_min), output.clamp_max)))
                << (8 * j);
    }
    StoreQuad(result, out + static_cast<ptrdiff_t>(row) * image.channels + channel, left);
  }

 private:
  static INTAGLIO_INLINE int32_t Mean(int32_t sum, int taps) {
    return sum < 0 ? -((taps / 2 - sum) / taps) : (sum + taps / 2) / taps;
  }
};

// out[o][c] = the sum of in[o][r][c] over r, requantized by a multiplier that holds the division.
struct MeanJob {
  const uint8_t* in;
  uint8_t* out;
  int outer;
  int reduced;
  int inner;
  int32_t zero_sum;  // the input's zero point times `reduced`
  QuantizedMultiplier multiplier;
  LineOutput output;

  INTAGLIO_INLINE int runs() const { return DivideUp(inner, kQuad); }
  INTAGLIO_INLINE long long count() const { return static_cast<long long>(outer) * runs(); }

  INTAGLIO_INLINE void Run(long long i) const {
    const int channel = static_cast<int>(i % runs()) * kQuad;
    const long long o = i / runs();
    const int left = inner - channel;
    const ByteType type{output.is_signed};
    int32_t sum[kQuad] = {};
    const uint8_t* from = in + o * reduced * inner + channel;
    for (int r = 0; r < reduced; ++r, from += inner) {
      const uint32_t quad = LoadQuad(from, left) ^ type.flip();
      INTAGLIO_UNROLL
      for (int j = 0; j < kQuad; ++j) sum[j] += ByteOf(quad, j) - type.moved();
    }
    uint32_t result = 0;
    INTAGLIO_UNROLL
    for (int j = 0; j < kQuad; ++j) {
      const int32_t scaled =
          RequantizeDoubleRounding<Cuda>(sum[j] - zero_sum, multiplier.mantissa,
                                         multiplier.left_shift(), multiplier.right_shift());
      result |= OutputByte(output, scaled) << (8 * j);
    }
    StoreQuad(result, out + o * inner + channel, left);
  }
};

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_WINDOW_JOBS_H_
