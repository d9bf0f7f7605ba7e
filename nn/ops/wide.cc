#include "intaglio/nn/ops/wide.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio::nn {
namespace {

// The compiler's own vectors: of loops with comparisons of reals it makes none. The bodies are
// always inlined, so that they are compiled for the target of the function that they are in.
template <int kBytes>
struct Vectors {
  static constexpr ptrdiff_t kLanes = kBytes / 4;
  typedef float Reals __attribute__((vector_size(kBytes)));
  typedef int32_t Words __attribute__((vector_size(kBytes)));
  typedef int8_t Bytes __attribute__((vector_size(kBytes / 4)));
};

// Calls f(i, kLanes) for whole vectors of elements, then f(i, those that are left).
template <int kBytes, class Function>
[[gnu::always_inline]] inline void ForVectors(ptrdiff_t count, const Function& f) {
  constexpr ptrdiff_t kLanes = Vectors<kBytes>::kLanes;
  ptrdiff_t i = 0;
  for (; i + kLanes <= count; i += kLanes) f(i, kLanes);
  if (i < count) f(i, count - i);
}

template <class Vector, class T>
[[gnu::always_inline]] inline void Load(const T* from, ptrdiff_t count, Vector& v) {
  if (count * ptrdiff_t{sizeof(T)} >= ptrdiff_t{sizeof(v)}) {
    std::memcpy(&v, from, sizeof(v));
  } else {
    v = Vector{};
    std::memcpy(&v, from, static_cast<size_t>(count) * sizeof(T));
  }
}

// The bytes of `from` that `count` has in its binary digits from kBytes on down.
template <ptrdiff_t kBytes>
[[gnu::always_inline]] inline void CopyDigits(const std::byte* from, ptrdiff_t count,
                                              std::byte* to) {
  if ((count & kBytes) != 0) {
    std::memcpy(to, from, kBytes);
    from += kBytes;
    to += kBytes;
  }
  if constexpr (kBytes > 1) CopyDigits<kBytes / 2>(from, count, to);
}

// Parts without a call, which would take longer than the rest.
template <class Vector, class T>
[[gnu::always_inline]] inline void Store(const Vector& v, T* to, ptrdiff_t count) {
  if (count * ptrdiff_t{sizeof(T)} >= ptrdiff_t{sizeof(v)}) {
    std::memcpy(to, &v, sizeof(v));
  } else {
    std::byte bytes[sizeof(v)];
    std::memcpy(bytes, &v, sizeof(v));
    CopyDigits<ptrdiff_t{sizeof(v)} / 2>(bytes, count * ptrdiff_t{sizeof(T)},
                                         reinterpret_cast<std::byte*>(to));
  }
}

template <int kBytes>
[[gnu::always_inline]] inline void Range(const float* x, ptrdiff_t count, float* least,
                                         float* greatest) {
  using V = Vectors<kBytes>;
  // Four of each, for the latency of a comparison.
  constexpr int kChains = 4;
  typename V::Reals low[kChains];
  typename V::Reals high[kChains];
  for (int c = 0; c < kChains; ++c) low[c] = high[c] = typename V::Reals{};
  const auto take = [&](int chain, const float* from, ptrdiff_t n) __attribute__((always_inline)) {
    typename V::Reals v;
    Load(from, n, v);
    low[chain] = v < low[chain] ? v : low[chain];
    high[chain] = v > high[chain] ? v : high[chain];
  };
  ptrdiff_t i = 0;
  for (; i + kChains * V::kLanes <= count; i += kChains * V::kLanes) {
    for (int c = 0; c < kChains; ++c) take(c, x + i + c * V::kLanes, V::kLanes);
  }
  ForVectors<kBytes>(
      count - i, [&](ptrdiff_t k, ptrdiff_t n)
                     __attribute__((always_inline)) { take(0, x + i + k, n); });
  for (int c = 1; c < kChains; ++c) {
    low[0] = low[c] < low[0] ? low[c] : low[0];
    high[0] = high[c] > high[0] ? high[c] : high[0];
  }
  float lows[V::kLanes];
  float highs[V::kLanes];
  std::memcpy(lows, low, sizeof(lows));
  std::memcpy(highs, high, sizeof(highs));
  for (ptrdiff_t half = V::kLanes / 2; half > 0; half /= 2) {
    for (ptrdiff_t k = 0; k < half; ++k) {
      lows[k] = lows[k + half] < lows[k] ? lows[k + half] : lows[k];
      highs[k] = highs[k + half] > highs[k] ? highs[k + half] : highs[k];
    }
  }
  *least = lows[0];
  *greatest = highs[0];
}

// Limits are integers, so that they may come before the rounding. Half, less its last bit, rounds
// ties away from zero and nothing else beyond: what is limited is below 2^23.
template <int kBytes>
[[gnu::always_inline]] inline void Quantize(const LineQuantizer& q, const float* x, ptrdiff_t count,
                                            int8_t* to) {
  using V = Vectors<kBytes>;
  constexpr float kAlmostHalf = 0x1.fffffep-2f;
  const typename V::Reals zero = {};
  const typename V::Reals low = zero + (q.low - q.zero_point);
  const typename V::Reals high = zero + (q.high - q.zero_point);
  const float inverse = q.inverse;
  const auto zero_point = static_cast<int32_t>(q.zero_point);
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        typename V::Reals v;
        Load(x + i, n, v);
        v *= inverse;
        v = v > low ? v : low;
        v = v < high ? v : high;
        v += v < zero ? zero - kAlmostHalf : zero + kAlmostHalf;
        const auto words = __builtin_convertvector(v, typename V::Words) + zero_point;
        Store(__builtin_convertvector(words, typename V::Bytes), to + i, n);
      });
}

// Bounds of vectors. NaN passes.
template <int kBytes>
struct Clamp {
  using Reals = typename Vectors<kBytes>::Reals;

  [[gnu::always_inline]] Clamp(float least, float greatest)
      : low(Reals{} + least), high(Reals{} + greatest) {}
  [[gnu::always_inline]] void Apply(Reals& v) const {
    v = v < low ? low : v;
    v = v > high ? high : v;
  }

  Reals low;
  Reals high;
};

// kWidth vectors of each line, of `count` elements if kWidth is 1. The fields of `lines` are a
// copy's, which no store to `to` can change.
template <int kBytes, int kWidth, bool kInTurn>
[[gnu::always_inline]] inline void VectorsToReal(const LinesToReal& lines,
                                                 const Clamp<kBytes>& clamp, ptrdiff_t first,
                                                 ptrdiff_t count, const int32_t* acc, float* to) {
  using V = Vectors<kBytes>;
  typename V::Words correction[kWidth];
  typename V::Reals scales[kWidth];
  typename V::Reals bias[kWidth];
  INTAGLIO_UNROLL
  for (int v = 0; v < kWidth; ++v) {
    const ptrdiff_t i = first + v * V::kLanes;
    correction[v] = typename V::Words{};
    if (lines.zero_point != 0) {
      Load(lines.weight_sums + i, count, correction[v]);
      correction[v] *= lines.zero_point;
    }
    Load(lines.weight_scales + i, count, scales[v]);
    Load(lines.bias + i, count, bias[v]);
    if (!kInTurn) scales[v] *= lines.scale;
  }
  for (int l = 0; l < lines.lines; ++l) {
    INTAGLIO_UNROLL
    for (int v = 0; v < kWidth; ++v) {
      const ptrdiff_t i = first + v * V::kLanes;
      typename V::Words words;
      Load(acc + l * lines.acc_stride + i, count, words);
      words -= correction[v];
      typename V::Reals real = __builtin_convertvector(words, typename V::Reals);
      real *= scales[v];
      if (kInTurn) real *= lines.scale;
      real += bias[v];
      clamp.Apply(real);
      Store(real, to + l * lines.to_stride + i, count);
    }
  }
}

template <int kBytes, bool kInTurn>
[[gnu::always_inline]] inline void ToRealBy(const LinesToReal& r, const int32_t* acc,
                                            ptrdiff_t count, float* to) {
  constexpr ptrdiff_t kLanes = Vectors<kBytes>::kLanes;
  constexpr int kTogether = kBytes == 64 ? 4 : 1;  // where there are registers for them
  const LinesToReal lines = r;
  const Clamp<kBytes> clamp(r.low, r.high);
  ptrdiff_t i = 0;
  for (; i + kTogether * kLanes <= count; i += kTogether * kLanes) {
    VectorsToReal<kBytes, kTogether, kInTurn>(lines, clamp, i, kLanes, acc, to);
  }
  for (; i < count; i += kLanes) {
    VectorsToReal<kBytes, 1, kInTurn>(lines, clamp, i, std::min(kLanes, count - i), acc, to);
  }
}

template <int kBytes>
[[gnu::always_inline]] inline void ToReal(const LinesToReal& r, const int32_t* acc, ptrdiff_t count,
                                          float* to) {
  if (r.in_turn) return ToRealBy<kBytes, true>(r, acc, count, to);
  ToRealBy<kBytes, false>(r, acc, count, to);
}

template <class Reals, int kLines, int kWidth>
[[gnu::always_inline]] inline void Clear(Reals (&sums)[kLines][kWidth]) {
  INTAGLIO_UNROLL
  for (auto& line : sums) {
    INTAGLIO_UNROLL
    for (auto& sum : line) sum = Reals{};
  }
}

// Lines of clamp(sums + bias), of kWidth vectors or, of these, `count` elements. Whole ones stay in
// registers: unrolled, as g++ keeps an array in memory one of whose places it does not know.
template <int kBytes, int kLines, int kWidth>
[[gnu::always_inline]] inline void StoreLines(
    const typename Vectors<kBytes>::Reals (&sums)[kLines][kWidth], const float* bias,
    const Clamp<kBytes>& clamp, float* to, ptrdiff_t stride, ptrdiff_t count) {
  using Reals = typename Vectors<kBytes>::Reals;
  constexpr ptrdiff_t kLanes = Vectors<kBytes>::kLanes;
  const bool whole = count >= kWidth * kLanes;
  INTAGLIO_UNROLL
  for (int v = 0; v < kWidth; ++v) {
    const ptrdiff_t n = whole ? kLanes : std::min(kLanes, count - v * kLanes);
    if (n <= 0) return;
    Reals addend = -Reals{};  // none: of all numbers only -0 changes no other
    if (bias != nullptr) Load(bias + v * kLanes, n, addend);
    Reals results[kLines];
    INTAGLIO_UNROLL
    for (int i = 0; i < kLines; ++i) {
      results[i] = sums[i][v] + addend;
      clamp.Apply(results[i]);
    }
    if (n == kLanes) {
      INTAGLIO_UNROLL
      for (int i = 0; i < kLines; ++i) {
        std::memcpy(to + i * stride + v * kLanes, &results[i], kBytes);
      }
    } else {
      for (int i = 0; i < kLines; ++i) Store(results[i], to + i * stride + v * kLanes, n);
    }
  }
}

// kRows x kWidth vectors of sums, of which `channels` are stored.
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

// One panel. As many sums at once as hide the latency of an addition and leave registers.
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

// Calls f.Run<kBytes, kWidth>(c, n) for kWidth vectors of n channels from c on. What fills no
// vector goes to narrower ones: loads of a part are slow.
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

struct TapsRun {
  const WindowTaps& w;
  float* out;

  template <int kBytes, int kWidth>
  [[gnu::always_inline]] void Run(ptrdiff_t first, ptrdiff_t n) const {
    // Several for the latency of an addition, and as they share the filter's taps.
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
      const float* x = w.x + window * w.x_window + row * w.x_row + first;
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
            Load(x + i * w.x_window + v * V::kLanes, n - v * V::kLanes, pixels);
            acc[i][v] += pixels * weights;
          }
        }
      }
    }
    StoreLines(acc, w.bias + first, Clamp<kBytes>(w.low, w.high),
               out + window * w.out_window + first, w.out_window, n);
  }
};

template <int kBytes>
[[gnu::always_inline]] inline void AddTaps(const WindowTaps& w, ptrdiff_t channels, float* out) {
  ForChannels<kBytes>(0, channels, TapsRun{w, out});
}

// What a pool makes of vectors of pixels.
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

// The first `count` of four, at least one, and zeros.
[[gnu::always_inline]] inline Vectors<16>::Reals LoadFew(const float* p, ptrdiff_t count) {
  Vectors<16>::Reals v = {p[0]};
  if (count >= 4) std::memcpy(&v, p, sizeof(v));
  if (count == 2 || count == 3) v[1] = p[1];
  if (count == 3) v[2] = p[2];
  return v;
}

// kRows at once, for the latency of an addition.
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
  // Of fewer than eight elements; no sum is -0, which a zero would change.
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

template <int kBytes>
[[gnu::always_inline]] inline void LogisticBlock(const float* x, ptrdiff_t count, float* powers,
                                                 float* to) {
  using Reals = typename Vectors<kBytes>::Reals;
  const Reals one = Reals{} + 1.0f;
  const Reals low = Reals{} - 9.0f;
  const Reals last_below_one = Reals{} + 16.619047164916992f;
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        Reals v;
        Load(x + i, n, v);
        v = v < low ? v : -v;
        Store(v, powers + i, n);
      });
  for (ptrdiff_t i = 0; i < count; ++i) powers[i] = std::exp(powers[i]);
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        Reals v;
        Reals power;
        Load(x + i, n, v);
        Load(powers + i, n, power);
        Reals result = one / (one + power);
        result = v > last_below_one ? one : result;
        result = v < low ? power : result;
        Store(result, to + i, n);
      });
}

template <int kBytes>
[[gnu::always_inline]] inline void Logistic(const float* x, ptrdiff_t count, float* to) {
  constexpr ptrdiff_t kBlock = 256;
  float powers[kBlock];
  for (ptrdiff_t i = 0; i < count; i += kBlock) {
    LogisticBlock<kBytes>(x + i, std::min(count - i, kBlock), powers, to + i);
  }
}

template <int kBytes>
constexpr WideRoutines kRoutines = {kBytes / 4,      Range<kBytes>,    Quantize<kBytes>,
                                    ToReal<kBytes>,  Multiply<kBytes>, AddTaps<kBytes>,
                                    AddDots<kBytes>, Pool<kBytes>,     Logistic<kBytes>};

#if defined(__x86_64__)
[[gnu::target("avx2")]] void RangeAvx2(const float* x, ptrdiff_t count, float* least,
                                       float* greatest) {
  Range<32>(x, count, least, greatest);
}
[[gnu::target("avx2")]] void QuantizeAvx2(const LineQuantizer& q, const float* x, ptrdiff_t count,
                                          int8_t* to) {
  Quantize<32>(q, x, count, to);
}
[[gnu::target("avx2")]] void ToRealAvx2(const LinesToReal& r, const int32_t* acc, ptrdiff_t count,
                                        float* to) {
  ToReal<32>(r, acc, count, to);
}
[[gnu::target("avx2")]] void MultiplyAvx2(const PanelProduct& p, const float* x, ptrdiff_t x_stride,
                                          int rows, float* out, ptrdiff_t out_stride) {
  Multiply<32>(p, x, x_stride, rows, out, out_stride);
}
[[gnu::target("avx2")]] void AddTapsAvx2(const WindowTaps& w, ptrdiff_t channels, float* out) {
  AddTaps<32>(w, channels, out);
}
[[gnu::target("avx2")]] void AddDotsAvx2(const float* const* rows, ptrdiff_t count, const float* x,
                                         ptrdiff_t depth, float* y) {
  AddDots<32>(rows, count, x, depth, y);
}
[[gnu::target("avx2")]] void PoolAvx2(PoolKind kind, const WindowPixels& w, ptrdiff_t channels,
                                      float* out) {
  Pool<32>(kind, w, channels, out);
}
[[gnu::target("avx2")]] void LogisticAvx2(const float* x, ptrdiff_t count, float* to) {
  Logistic<32>(x, count, to);
}
constexpr WideRoutines kAvx2 = {8,           RangeAvx2,   QuantizeAvx2, ToRealAvx2,  MultiplyAvx2,
                                AddTapsAvx2, AddDotsAvx2, PoolAvx2,     LogisticAvx2};

[[gnu::target("avx512f,avx512bw")]] void RangeAvx512(const float* x, ptrdiff_t count, float* least,
                                                     float* greatest) {
  Range<64>(x, count, least, greatest);
}
[[gnu::target("avx512f,avx512bw")]] void QuantizeAvx512(const LineQuantizer& q, const float* x,
                                                        ptrdiff_t count, int8_t* to) {
  Quantize<64>(q, x, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void ToRealAvx512(const LinesToReal& r, const int32_t* acc,
                                                      ptrdiff_t count, float* to) {
  ToReal<64>(r, acc, count, to);
}
[[gnu::target("avx512f,avx512bw")]] void MultiplyAvx512(const PanelProduct& p, const float* x,
                                                        ptrdiff_t x_stride, int rows, float* out,
                                                        ptrdiff_t out_stride) {
  Multiply<64>(p, x, x_stride, rows, out, out_stride);
}
[[gnu::target("avx512f,avx512bw")]] void AddTapsAvx512(const WindowTaps& w, ptrdiff_t channels,
                                                       float* out) {
  AddTaps<64>(w, channels, out);
}
[[gnu::target("avx512f,avx512bw")]] void AddDotsAvx512(const float* const* rows, ptrdiff_t count,
                                                       const float* x, ptrdiff_t depth, float* y) {
  AddDots<64>(rows, count, x, depth, y);
}
[[gnu::target("avx512f,avx512bw")]] void PoolAvx512(PoolKind kind, const WindowPixels& w,
                                                    ptrdiff_t channels, float* out) {
  Pool<64>(kind, w, channels, out);
}
[[gnu::target("avx512f,avx512bw")]] void LogisticAvx512(const float* x, ptrdiff_t count,
                                                        float* to) {
  Logistic<64>(x, count, to);
}
constexpr WideRoutines kAvx512 = {16,
                                  RangeAvx512,
                                  QuantizeAvx512,
                                  ToRealAvx512,
                                  MultiplyAvx512,
                                  AddTapsAvx512,
                                  AddDotsAvx512,
                                  PoolAvx512,
                                  LogisticAvx512};
#endif

}  // namespace

const WideRoutines& WideRoutinesOf(std::string_view kernel) {
#if defined(__x86_64__)
  if (kernel.starts_with("avx512") || kernel.starts_with("amx")) return kAvx512;
  if (kernel.starts_with("avx")) return kAvx2;
#endif
  (void)kernel;
  return kRoutines<16>;
}

}  // namespace intaglio::nn
