// Products: rows by panels, and dot products.
#ifndef INTAGLIO_KERNELS_FLOAT32_PRODUCTS_H_
#define INTAGLIO_KERNELS_FLOAT32_PRODUCTS_H_

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "intaglio/kernels/float32/float_loops.h"
#include "intaglio/kernels/float32/sums.h"
#include "intaglio/kernels/float32/vectors.h"

namespace intaglio::float32 {

// Some vectors of channels of a panel, which has kPanel vectors a depth.
template <int kBytes, int kPanel>
struct PanelPart {
  const PanelProduct& p;
  const float* panel;  // its first channel
  int first;           // the number of this channel
  int channels;        // that exist

  // Vectors [from, ...) of it.
  [[gnu::always_inline]] PanelPart Behind(int from) const {
    const int skipped = from * static_cast<int>(Vectors<kBytes>::kLanes);
    return {p, panel + skipped, first + skipped, channels - skipped};
  }
};

// Computes kRows x kWidth vectors of sums.
template <int kBytes, class Sums, int kRows, int kWidth, int kPanel>
[[gnu::always_inline]] inline void MultiplyTile(const PanelPart<kBytes, kPanel>& part,
                                                const float* x, ptrdiff_t x_stride, float* out,
                                                ptrdiff_t out_stride) {
  using V = Vectors<kBytes>;
  typename V::Reals acc[kRows][kWidth];
  Clear(acc);
  const PanelProduct& p = part.p;
  const float* panel = part.panel;
  for (int k = 0; k < p.depth; ++k, panel += kPanel * V::kLanes) {
    // All of the panel's row first, so that only one factor takes a register at a time.
    typename V::Reals weights[kWidth];
    INTAGLIO_UNROLL
    for (int v = 0; v < kWidth; ++v) std::memcpy(&weights[v], panel + v * V::kLanes, kBytes);
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      typename V::Reals factor;
      Broadcast(x[r * x_stride + k], factor);
      INTAGLIO_UNROLL
      for (int v = 0; v < kWidth; ++v) Sums::Add(factor, weights[v], acc[r][v]);
    }
  }
  StoreLines(acc, p.bias == nullptr ? nullptr : p.bias + part.first, Clamp<kBytes>(p.low, p.high),
             out + part.first, out_stride, part.channels);
}

// Multiplies kWidth vectors by rows, kRows at a time, and by fewer at the end.
template <int kBytes, class Sums, int kRows, int kWidth, int kPanel>
[[gnu::always_inline]] inline void MultiplyRows(const PanelPart<kBytes, kPanel>& part,
                                                const float* x, ptrdiff_t x_stride, int rows,
                                                float* out, ptrdiff_t out_stride) {
  int r = 0;
  for (; r + kRows <= rows; r += kRows) {
    MultiplyTile<kBytes, Sums, kRows, kWidth>(part, x + r * x_stride, x_stride,
                                              out + r * out_stride, out_stride);
  }
  if constexpr (kRows > 1) {
    constexpr int kFewer = kRows == 6 ? 4 : kRows / 2;
    if (r == rows) return;
    MultiplyRows<kBytes, Sums, kFewer, kWidth>(part, x + r * x_stride, x_stride, rows - r,
                                               out + r * out_stride, out_stride);
  }
}

// Multiplies one panel. A tile has enough sums to hide the latency of an addition, and few enough
// to fit the registers beside a row of the panel and a factor: 16 of up to 32 bytes, or 32 of 64.
template <int kBytes, class Sums, int kWidth>
[[gnu::always_inline]] inline void MultiplyPanel(const PanelProduct& p, const float* panel,
                                                 int first, const float* x, ptrdiff_t x_stride,
                                                 int rows, float* out, ptrdiff_t out_stride) {
  const int channels = std::min<int>(p.channels - first, kWidth * Vectors<kBytes>::kLanes);
  const PanelPart<kBytes, kWidth> part{p, panel, first, channels};
  if constexpr (kBytes == 64) {
    constexpr int kRows = kWidth == 1 ? 12 : 24 / kWidth;
    MultiplyRows<kBytes, Sums, kRows, kWidth>(part, x, x_stride, rows, out, out_stride);
  } else if constexpr (kWidth == 4) {
    // Half of it at a time, which loads the fewest factors for a sum; and all of it for rows that
    // are left, because a half would be too few sums.
    const int whole = rows / 6 * 6;
    MultiplyRows<kBytes, Sums, 6, 2>(part, x, x_stride, whole, out, out_stride);
    MultiplyRows<kBytes, Sums, 6, 2>(part.Behind(2), x, x_stride, whole, out, out_stride);
    MultiplyRows<kBytes, Sums, 2, 4>(part, x + whole * x_stride, x_stride, rows - whole,
                                     out + whole * out_stride, out_stride);
  } else {
    constexpr int kRows = kWidth == 1 ? 8 : 12 / kWidth;
    MultiplyRows<kBytes, Sums, kRows, kWidth>(part, x, x_stride, rows, out, out_stride);
  }
}

template <int kBytes, class Sums>
[[gnu::always_inline]] inline void Multiply(const PanelProduct& p, const float* x,
                                            ptrdiff_t x_stride, int rows, float* out,
                                            ptrdiff_t out_stride) {
  constexpr int kLanes = Vectors<kBytes>::kLanes;
  constexpr int kPanel = kPanelVectors * kLanes;
  const float* panel = p.panels;
  int first = 0;
  for (; first + kPanel - kLanes < p.channels;
       first += kPanel, panel += ptrdiff_t{kPanel} * p.depth) {
    MultiplyPanel<kBytes, Sums, kPanelVectors>(p, panel, first, x, x_stride, rows, out, out_stride);
  }
  const int left = p.channels - first;
  if (left > 2 * kLanes) {
    MultiplyPanel<kBytes, Sums, 3>(p, panel, first, x, x_stride, rows, out, out_stride);
  } else if (left > kLanes) {
    MultiplyPanel<kBytes, Sums, 2>(p, panel, first, x, x_stride, rows, out, out_stride);
  } else if (left > 0) {
    MultiplyPanel<kBytes, Sums, 1>(p, panel, first, x, x_stride, rows, out, out_stride);
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
template <int kBytes, class Sums, int kRows>
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
        Sums::Add(factors, weights, sums[r][p]);
      }
    }
  }
  // Fewer than eight elements are left. The zeros added here change no sum, unless to 0 from -0, a
  // product that was too small.
  typename Vectors<16>::Reals halves[kRows][2];
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) std::memcpy(halves[r], sums[r], sizeof(halves[r]));
  INTAGLIO_UNROLL
  for (int h = 0; h < 2; ++h) {
    const ptrdiff_t at = k + 4 * h;
    if (at >= depth) continue;
    const auto factors = LoadFew(x + at, depth - at);
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      Sums::Add(factors, LoadFew(rows[r] + at, depth - at), halves[r][h]);
    }
  }
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const auto s = halves[r][0] + halves[r][1];
    y[r] += (s[0] + s[2]) + (s[1] + s[3]);
  }
}

template <int kBytes, class Sums>
[[gnu::always_inline]] inline void AddDots(const float* const* rows, ptrdiff_t count,
                                           const float* x, ptrdiff_t depth, float* y) {
  constexpr int kRows = 4;
  ptrdiff_t r = 0;
  for (; r + kRows <= count; r += kRows) AddDotsOf<kBytes, Sums, kRows>(rows + r, x, depth, y + r);
  for (; r < count; ++r) AddDotsOf<kBytes, Sums, 1>(rows + r, x, depth, y + r);
}

// The sums of kWidth vectors of channels from `first` on, of which n are left.
template <int kBytes, class Sums, int kWidth>
[[gnu::always_inline]] inline void MultiplyRowPart(const StridedMatrix& w, const float* x,
                                                   ptrdiff_t x_step, ptrdiff_t first, ptrdiff_t n,
                                                   float* out) {
  using V = Vectors<kBytes>;
  typename V::Reals acc[1][kWidth];
  Clear(acc);
  const float* line = w.data + first * w.column;
  for (int k = 0; k < w.depth; ++k, line += w.row) {
    typename V::Reals factor;
    Broadcast(x[k * x_step], factor);
    INTAGLIO_UNROLL
    for (int v = 0; v < kWidth; ++v) {
      typename V::Reals weights;
      LoadStrided(line + v * V::kLanes * w.column, w.column, n - v * V::kLanes, weights);
      Sums::Add(factor, weights, acc[0][v]);
    }
  }
  INTAGLIO_UNROLL
  for (int v = 0; v < kWidth; ++v) Store(acc[0][v], out + first + v * V::kLanes, n - v * V::kLanes);
}

template <int kBytes, class Sums>
[[gnu::always_inline]] inline void MultiplyRow(const StridedMatrix& w, const float* x,
                                               ptrdiff_t x_step, float* out) {
  constexpr ptrdiff_t kLanes = Vectors<kBytes>::kLanes;
  ptrdiff_t c = 0;
  for (; c + 4 * kLanes <= w.channels; c += 4 * kLanes) {
    MultiplyRowPart<kBytes, Sums, 4>(w, x, x_step, c, 4 * kLanes, out);
  }
  for (; c < w.channels; c += kLanes) {
    MultiplyRowPart<kBytes, Sums, 1>(w, x, x_step, c, w.channels - c, out);
  }
}

template <int kBytes, class Sums>
[[gnu::always_inline]] inline void AddMultiple(float factor, const float* x, ptrdiff_t count,
                                               float* y) {
  using Reals = typename Vectors<kBytes>::Reals;
  Reals factors;
  Broadcast(factor, factors);
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        Reals from;
        Reals sum;
        Load(x + i, n, from);
        Load(y + i, n, sum);
        Sums::Add(factors, from, sum);
        Store(sum, y + i, n);
      });
}

}  // namespace intaglio::float32

#endif  // INTAGLIO_KERNELS_FLOAT32_PRODUCTS_H_
