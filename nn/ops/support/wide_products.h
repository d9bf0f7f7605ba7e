// Products of wide.cc: rows by panels, and dot products.
#ifndef INTAGLIO_NN_OPS_SUPPORT_WIDE_PRODUCTS_H_
#define INTAGLIO_NN_OPS_SUPPORT_WIDE_PRODUCTS_H_

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "intaglio/nn/ops/support/wide.h"
#include "intaglio/nn/ops/support/wide_vectors.h"

namespace intaglio::nn::wide {

// Computes kRows x kWidth vectors of sums, and stores `channels` of them.
template <int kBytes, int kRows, int kWidth>
[[gnu::always_inline]] inline void MultiplyTile(const PanelProduct& p, const float* panel,
                                                int first, int channels, const float* x,
                                                ptrdiff_t x_stride, float* out,
                                                ptrdiff_t out_stride) {
  using V = Vectors<kBytes>;
  typename V::Reals acc[kRows][kWidth];
  Clear(acc);
  for (int k = 0; k < p.depth; ++k, panel += kWidth * V::kLanes) {
    INTAGLIO_UNROLL
    for (int v = 0; v < kWidth; ++v) {
      typename V::Reals weights;
      std::memcpy(&weights, panel + v * V::kLanes, sizeof(weights));
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) acc[r][v] += x[r * x_stride + k] * weights;
    }
  }
  StoreLines(acc, p.bias == nullptr ? nullptr : p.bias + first, Clamp<kBytes>(p.low, p.high), out,
             out_stride, channels);
}

// Multiplies one panel. It computes enough sums at once to hide the latency of an addition, and few
// enough to fit the registers.
template <int kBytes, int kWidth>
[[gnu::always_inline]] inline void MultiplyPanel(const PanelProduct& p, const float* panel,
                                                 int first, const float* x, ptrdiff_t x_stride,
                                                 int rows, float* out, ptrdiff_t out_stride) {
  constexpr int kRows = kBytes < 64 ? 8 / kWidth : kWidth == 4 ? 6 : 16 / kWidth;
  const int channels = std::min<int>(p.channels - first, kWidth * Vectors<kBytes>::kLanes);
  int r = 0;
  for (; r + kRows <= rows; r += kRows) {
    MultiplyTile<kBytes, kRows, kWidth>(p, panel, first, channels, x + r * x_stride, x_stride,
                                        out + r * out_stride + first, out_stride);
  }
  for (; r < rows; ++r) {
    MultiplyTile<kBytes, 1, kWidth>(p, panel, first, channels, x + r * x_stride, x_stride,
                                    out + r * out_stride + first, out_stride);
  }
}

template <int kBytes>
[[gnu::always_inline]] inline void Multiply(const PanelProduct& p, const float* x,
                                            ptrdiff_t x_stride, int rows, float* out,
                                            ptrdiff_t out_stride) {
  constexpr int kLanes = Vectors<kBytes>::kLanes;
  constexpr int kPanel = kPanelVectors * kLanes;
  const float* panel = p.panels;
  int first = 0;
  for (; first + kPanel - kLanes < p.channels;
       first += kPanel, panel += ptrdiff_t{kPanel} * p.depth) {
    MultiplyPanel<kBytes, kPanelVectors>(p, panel, first, x, x_stride, rows, out, out_stride);
  }
  const int left = p.channels - first;
  if (left > 2 * kLanes) {
    MultiplyPanel<kBytes, 3>(p, panel, first, x, x_stride, rows, out, out_stride);
  } else if (left > kLanes) {
    MultiplyPanel<kBytes, 2>(p, panel, first, x, x_stride, rows, out, out_stride);
  } else if (left > 0) {
    MultiplyPanel<kBytes, 1>(p, panel, first, x, x_stride, rows, out, out_stride);
  }
}

// Loads the first `count` of four elements, at least one, and zeros for the rest.
[[gnu::always_inline]] inline Vectors<16>::Reals LoadFew(const float* p, ptrdiff_t count) {
  Vectors<16>::Reals v = {p[0]};
  if (count >= 4) std::memcpy(&v, p, sizeof(v));
  if (count == 2 || count == 3) v[1] = p[1];
  if (count == 3) v[2] = p[2];
  return v;
}

// Adds kRows dot products at once, to hide the latency of an addition.
template <int kBytes, int kRows>
[[gnu::always_inline]] inline void AddDotsOf(const float* const* rows, const float* x,
                                             ptrdiff_t depth, float* y) {
  constexpr int kSums = 8;
  constexpr int kWidth = std::min<int>(kBytes, kSums * 4);  // bytes
  constexpr int kParts = kSums * 4 / kWidth;
  using V = Vectors<kWidth>;
  typename V::Reals sums[kRows][kParts];
  Clear(sums);
  ptrdiff_t k = 0;
  for (; k + kSums <= depth; k += kSums) {
    INTAGLIO_UNROLL
    for (int p = 0; p < kParts; ++p) {
      typename V::Reals factors;
      Load(x + k + p * V::kLanes, V::kLanes, factors);
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) {
        typename V::Reals weights;
        Load(rows[r] + k + p * V::kLanes, V::kLanes, weights);
        sums[r][p] += weights * factors;
      }
    }
  }
  // Fewer than eight elements are left. The zeros added here change no sum, because no sum is -0.
  typename Vectors<16>::Reals halves[kRows][2];
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) std::memcpy(halves[r], sums[r], sizeof(halves[r]));
  INTAGLIO_UNROLL
  for (int h = 0; h < 2; ++h, k += 4) {
    if (k >= depth) break;
    const auto factors = LoadFew(x + k, depth - k);
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) halves[r][h] += LoadFew(rows[r] + k, depth - k) * factors;
  }
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const auto s = halves[r][0] + halves[r][1];
    y[r] += (s[0] + s[2]) + (s[1] + s[3]);
  }
}

template <int kBytes>
[[gnu::always_inline]] inline void AddDots(const float* const* rows, ptrdiff_t count,
                                           const float* x, ptrdiff_t depth, float* y) {
  constexpr int kRows = 4;
  ptrdiff_t r = 0;
  for (; r + kRows <= count; r += kRows) AddDotsOf<kBytes, kRows>(rows + r, x, depth, y + r);
  for (; r < count; ++r) AddDotsOf<kBytes, 1>(rows + r, x, depth, y + r);
}

}  // namespace intaglio::nn::wide

#endif  // INTAGLIO_NN_OPS_SUPPORT_WIDE_PRODUCTS_H_
