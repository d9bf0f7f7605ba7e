// Windows: depthwise taps and pools, for vectors of channels.
#ifndef INTAGLIO_KERNELS_FLOAT32_WINDOWS_H_
#define INTAGLIO_KERNELS_FLOAT32_WINDOWS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "intaglio/kernels/float32/float_loops.h"
#include "intaglio/kernels/float32/sums.h"
#include "intaglio/kernels/float32/vectors.h"

namespace intaglio::float32 {

// Calls f.Run<kBytes, kWidth>(c, n) for kWidth vectors of n channels from c on. Channels that fill
// no vector go to narrower vectors, because loading part of a vector is slow.
template <int kBytes, class Function>
[[gnu::always_inline]] inline void ForChannels(ptrdiff_t first, ptrdiff_t channels,
                                               const Function& f) {
  constexpr ptrdiff_t kLanes = Vectors<kBytes>::kLanes;
  ptrdiff_t c = first;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) f.template Run<kBytes, 4>(c, 4 * kLanes);
  for (; c + kLanes <= channels; c += kLanes) f.template Run<kBytes, 1>(c, kLanes);
  if constexpr (kBytes > 16) {
    ForChannels<kBytes / 2>(c, channels, f);
  } else if (c < channels) {
    f.template Run<kBytes, 1>(c, channels - c);
  }
}

template <class Sums, bool kShared>
struct TapsRun {
  const WindowTaps& w;
  float* out;

  template <int kBytes, int kWidth>
  [[gnu::always_inline]] void Run(ptrdiff_t first, ptrdiff_t n) const {
    // Several windows hide the latency of an addition, and share the filter's taps.
    constexpr int kWindows = kWidth == 1 ? 8 : kBytes == 64 ? 4 : 2;
    int i = 0;
    for (; i + kWindows <= w.windows; i += kWindows) Tile<kBytes, kWidth, kWindows>(i, first, n);
    for (; i < w.windows; ++i) Tile<kBytes, kWidth, 1>(i, first, n);
  }

 private:
  template <int kBytes, int kWidth, int kWindows>
  [[gnu::always_inline]] void Tile(int window, ptrdiff_t first, ptrdiff_t n) const {
    using V = Vectors<kBytes>;
    typename V::Reals acc[kWindows][kWidth];
    Clear(acc);
    for (int row = 0; row < w.rows; ++row) {
      const float* x = w.x + window * w.x_window + row * w.x_row + (kShared ? 0 : first);
      const float* filter = w.filter + row * w.filter_row + first;
      for (int column = 0; column < w.columns;
           ++column, x += w.x_column, filter += w.filter_column) {
        INTAGLIO_UNROLL
        for (int v = 0; v < kWidth; ++v) {
          typename V::Reals weights;
          Load(filter + v * V::kLanes, n - v * V::kLanes, weights);
          INTAGLIO_UNROLL
          for (int i = 0; i < kWindows; ++i) {
            typename V::Reals pixels;
            if constexpr (kShared) {
              LoadShared(x + i * w.x_window, first + v * V::kLanes, n - v * V::kLanes, pixels);
            } else {
              Load(x + i * w.x_window + v * V::kLanes, n - v * V::kLanes, pixels);
            }
            Sums::Add(pixels, weights, acc[i][v]);
          }
        }
      }
    }
    StoreLines(acc, w.bias + first, Clamp<kBytes>(w.low, w.high),
               out + window * w.out_window + first, w.out_window, n);
  }

  // Loads the pixels of up to a vector of channels of the output, of which n are left.
  template <class Reals>
  [[gnu::always_inline]] void LoadShared(const float* x, ptrdiff_t first, ptrdiff_t n,
                                         Reals& pixels) const {
    constexpr ptrdiff_t kLanes = sizeof(pixels) / sizeof(float);
    float lanes[kLanes] = {};
    for (ptrdiff_t i = 0; i < std::min(kLanes, n); ++i) lanes[i] = x[(first + i) / w.multiplier];
    std::memcpy(&pixels, lanes, sizeof(pixels));
  }
};

// Windows of kColumns taps a row that are one tap apart: each pixel is loaded once a row, for all
// windows that it lies in.
template <class Sums, int kColumns>
struct OverlappingTapsRun {
  const WindowTaps& w;
  float* out;

  template <int kBytes, int kWidth>
  [[gnu::always_inline]] void Run(ptrdiff_t first, ptrdiff_t n) const {
    Windows<kBytes, kWidth, 8>(0, first, n);
  }

 private:
  // All windows from this one on, kWindows at a time, and fewer at the end.
  template <int kBytes, int kWidth, int kWindows>
  [[gnu::always_inline]] void Windows(int window, ptrdiff_t first, ptrdiff_t n) const {
    constexpr ptrdiff_t kLanes = Vectors<kBytes>::kLanes;
    for (; window + kWindows <= w.windows; window += kWindows) {
      for (int v = 0; v < kWidth; ++v) {
        Tile<kBytes, kWindows>(window, first + v * kLanes, n - v * kLanes);
      }
    }
    if constexpr (kWindows > 1) Windows<kBytes, kWidth, kWindows / 2>(window, first, n);
  }

  template <int kBytes, int kWindows>
  [[gnu::always_inline]] void Tile(int window, ptrdiff_t first, ptrdiff_t n) const {
    using Reals = typename Vectors<kBytes>::Reals;
    Reals acc[kWindows][1];
    Clear(acc);
    for (int row = 0; row < w.rows; ++row) {  // none in padding, where x is null
      const float* const x = w.x + window * w.x_window + row * w.x_row + first;
      const float* const filter = w.filter + row * w.filter_row + first;
      Reals weights[kColumns];
      INTAGLIO_UNROLL
      for (int c = 0; c < kColumns; ++c) Load(filter + c * w.filter_column, n, weights[c]);
      INTAGLIO_UNROLL
      for (int p = 0; p < kWindows + kColumns - 1; ++p) {
        Reals pixels;
        Load(x + p * w.x_column, n, pixels);
        INTAGLIO_UNROLL
        for (int c = 0; c < kColumns; ++c) {
          if (c <= p && p - c < kWindows) Sums::Add(pixels, weights[c], acc[p - c][0]);
        }
      }
    }
    StoreLines(acc, w.bias + first, Clamp<kBytes>(w.low, w.high),
               out + window * w.out_window + first, w.out_window, n);
  }
};

template <int kBytes, class Sums>
[[gnu::always_inline]] inline void AddTaps(const WindowTaps& w, ptrdiff_t channels, float* out) {
  if (w.multiplier != 1) return ForChannels<16>(0, channels, TapsRun<Sums, true>{w, out});
  if (w.x_window == w.x_column && w.windows > 1) {
    if (w.columns == 3) {
      return ForChannels<kBytes>(0, channels, OverlappingTapsRun<Sums, 3>{w, out});
    }
    if (w.columns == 5) {
      return ForChannels<kBytes>(0, channels, OverlappingTapsRun<Sums, 5>{w, out});
    }
  }
  ForChannels<kBytes>(0, channels, TapsRun<Sums, false>{w, out});
}

// How a pool combines vectors of pixels.
template <PoolKind kKind>
struct Pooling {
  static constexpr float kStart =
      kKind == PoolKind::kLargest ? std::numeric_limits<float>::lowest() : 0;

  template <class Reals>
  [[gnu::always_inline]] static void Take(const Reals& pixels, Reals& all) {
    if constexpr (kKind == PoolKind::kLargest) all = all < pixels ? pixels : all;
    if constexpr (kKind == PoolKind::kAverage) all += pixels;
    if constexpr (kKind == PoolKind::kRootMeanSquare) all += pixels * pixels;
  }
  template <int kLanes, class Reals>
  [[gnu::always_inline]] static void Finish(float taps, Reals& all) {
    if constexpr (kKind == PoolKind::kLargest) return;
    all /= taps;
    if constexpr (kKind == PoolKind::kRootMeanSquare) {
      for (int i = 0; i < kLanes; ++i) all[i] = std::sqrt(all[i]);
    }
  }
};

template <PoolKind kKind>
struct PoolRun {
  const WindowPixels& w;
  float* out;

  template <int kBytes, int kWidth>
  [[gnu::always_inline]] void Run(ptrdiff_t first, ptrdiff_t n) const {
    using V = Vectors<kBytes>;
    using P = Pooling<kKind>;
    typename V::Reals all[1][kWidth];
    for (auto& a : all[0]) a = typename V::Reals{} + P::kStart;
    for (int row = 0; row < w.rows; ++row) {
      const float* x = w.x + row * w.x_row + first;
      for (int column = 0; column < w.columns; ++column, x += w.x_column) {
        for (int v = 0; v < kWidth; ++v) {
          typename V::Reals pixels;
          Load(x + v * V::kLanes, n - v * V::kLanes, pixels);
          P::Take(pixels, all[0][v]);
        }
      }
    }
    const auto taps = static_cast<float>(w.rows * w.columns);
    for (auto& a : all[0]) P::template Finish<V::kLanes>(taps, a);
    StoreLines(all, nullptr, Clamp<kBytes>(w.low, w.high), out + first, 0, n);
  }
};

template <int kBytes>
[[gnu::always_inline]] inline void Pool(PoolKind kind, const WindowPixels& w, ptrdiff_t channels,
                                        float* out) {
  switch (kind) {
    case PoolKind::kAverage:
      return ForChannels<kBytes>(0, channels, PoolRun<PoolKind::kAverage>{w, out});
    case PoolKind::kLargest:
      return ForChannels<kBytes>(0, channels, PoolRun<PoolKind::kLargest>{w, out});
    case PoolKind::kRootMeanSquare:
      return ForChannels<kBytes>(0, channels, PoolRun<PoolKind::kRootMeanSquare>{w, out});
  }
}

}  // namespace intaglio::float32

#endif  // INTAGLIO_KERNELS_FLOAT32_WINDOWS_H_
