// Element-wise loops: ranges, conversions from and to integers, rounding, the error function and
// the hyperbolic tangent, and scaled sums.
#ifndef INTAGLIO_KERNELS_FLOAT32_LINES_H_
#define INTAGLIO_KERNELS_FLOAT32_LINES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "intaglio/kernels/float32/float_loops.h"
#include "intaglio/kernels/float32/vectors.h"

namespace intaglio::float32 {

template <int kBytes>
[[gnu::always_inline]] inline void Range(const float* x, ptrdiff_t count, float* least,
                                         float* greatest) {
  using V = Vectors<kBytes>;
  // Four chains of each hide the latency of a comparison.
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

// The limits are integers, so clamping may come before rounding. Adding a half less its last bit
// rounds ties away from zero and changes no other result, because clamped numbers are below 2^23.
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
  ToBytes<kBytes>(
      count,
      to, [&](ptrdiff_t i, ptrdiff_t n, typename V::Words & words) __attribute__((always_inline)) {
        typename V::Reals v;
        Load(x + i, n, v);
        v *= inverse;
        v = v > low ? v : low;
        v = v < high ? v : high;
        v += v < zero ? zero - kAlmostHalf : zero + kAlmostHalf;
        words = __builtin_convertvector(v, typename V::Words) + zero_point;
      });
}

// The limits are integers, so clamping may come before rounding.
template <int kBytes>
[[gnu::always_inline]] inline void QuantizeHalfEven(const HalfEvenLine& q, const float* x,
                                                    ptrdiff_t count, uint8_t* to) {
  using V = Vectors<kBytes>;
  // Numbers below 2^22, added to this one, are rounded to integers, ties to even.
  constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23
  const typename V::Reals zero = {};
  const typename V::Reals low = zero + static_cast<float>(q.low - q.zero_point);
  const typename V::Reals high = zero + static_cast<float>(q.high - q.zero_point);
  const float scale = q.scale;
  const int32_t zero_point = q.zero_point;
  ToBytes<kBytes>(
      count,
      to, [&](ptrdiff_t i, ptrdiff_t n, typename V::Words & words) __attribute__((always_inline)) {
        typename V::Reals v;
        Load(x + i, n, v);
        v /= scale;
        v = v > low ? v : low;
        v = v < high ? v : high;
        v = (v + kMagic) - kMagic;
        words = __builtin_convertvector(v, typename V::Words) + zero_point;
      });
}

// NaN fails the first comparison, and so becomes `high`.
template <int kBytes>
[[gnu::always_inline]] inline void Truncate(int32_t low, int32_t high, const float* x,
                                            ptrdiff_t count, uint8_t* to) {
  using V = Vectors<kBytes>;
  const typename V::Reals least = typename V::Reals{} + static_cast<float>(low);
  const typename V::Reals greatest = typename V::Reals{} + static_cast<float>(high);
  ToBytes<kBytes>(
      count,
      to, [&](ptrdiff_t i, ptrdiff_t n, typename V::Words & words) __attribute__((always_inline)) {
        typename V::Reals v;
        Load(x + i, n, v);
        v = v < greatest ? v : greatest;
        v = v > least ? v : least;
        words = __builtin_convertvector(v, typename V::Words);
      });
}

// Adding 2^23 leaves no bits below 1, so the addition itself rounds half to even.
template <int kBytes>
[[gnu::always_inline]] inline void RoundHalfEven(const float* x, ptrdiff_t count, float* to) {
  using Reals = typename Vectors<kBytes>::Reals;
  constexpr float kNoFraction = 8388608.0f;
  const Reals zero = {};
  const Reals no_fraction = zero + kNoFraction;
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        Reals v;
        Load(x + i, n, v);
        const Reals magnitude = v < zero ? -v : v;
        const Reals rounded = (magnitude + no_fraction) - no_fraction;
        Reals result = v < zero ? zero - rounded : rounded;
        result = magnitude < no_fraction ? result : v;
        result = v == zero ? v : result;
        Store(result, to + i, n);
      });
}

// Converts kWidth vectors of each line, or `count` elements if kWidth is 1. `lines` must be a copy,
// so that no store to `to` can change its fields.
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
  constexpr int kTogether = kBytes == 64 ? 4 : 1;  // 4 if there are enough registers
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

// to[i] = x P(x^2) / Q(x^2) in float64, rounded; x is clamped to [-limit, limit]. The coefficients
// of erf and tanh are weighted least-squares fits, in which the weights levelled the relative
// error.
template <int kBytes, size_t kTermsP, size_t kTermsQ>
[[gnu::always_inline]] inline void OddQuotient(float limit, const double (&p)[kTermsP],
                                               const double (&q)[kTermsQ], const float* x,
                                               ptrdiff_t count, float* to) {
  using V = Vectors<kBytes>;
  using Wide = typename Doubles<kBytes>::Reals;
  const Clamp<kBytes> inside(-limit, limit);
  ForGroups<kBytes>(
      count, [&](auto group, ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        constexpr int kParts = 2 * decltype(group)::value;
        Wide numbers[kParts];
        Wide squares[kParts];
        INTAGLIO_UNROLL
        for (int k = 0; k < kParts; k += 2) {
          typename V::Reals v;
          Load(x + i + k / 2 * V::kLanes, n, v);
          inside.Apply(v);
          Widen<kBytes>(v, numbers[k], numbers[k + 1]);
          squares[k] = numbers[k] * numbers[k];
          squares[k + 1] = numbers[k + 1] * numbers[k + 1];
        }
        Wide over[kParts];
        Wide under[kParts];
        Polynomials(p, squares, over);
        Polynomials(q, squares, under);
        INTAGLIO_UNROLL
        for (int k = 0; k < kParts; k += 2) {
          typename V::Reals result;
          Narrow<kBytes>(numbers[k] * (over[k] / under[k]),
                         numbers[k + 1] * (over[k + 1] / under[k + 1]), result);
          Store(result, to + i + k / 2 * V::kLanes, n);
        }
      });
}

// Terms over and under the line of a quotient, outside of the functions for the reason that exp.h
// has.
constexpr double kErfOver[] = {0x1.20dd750df8f47p+0,  0x1.7b4baa035f885p-3,  0x1.bcf6ee5338776p-5,
                               0x1.f8938487e8176p-9,  0x1.8e0d81d4df859p-12, 0x1.3a65bd4e81e82p-18,
                               -0x1.c5a4ce8a43dfcp-27};
constexpr double kErfUnder[] = {1,
                                0x1.fd6785d91c12ep-2,
                                0x1.d2c6036c890f5p-4,
                                0x1.faa983ffa5805p-7,
                                0x1.56c5dee7f61acp-10,
                                0x1.08b5944d85d4dp-14};

// Within 2.1e-9; beyond 4, float32 has only 1.
template <int kBytes>
[[gnu::always_inline]] inline void Erf(const float* x, ptrdiff_t count, float* to) {
  OddQuotient<kBytes>(4.0f, kErfOver, kErfUnder, x, count, to);
}

constexpr double kTanhOver[] = {0x1.ffffffffaff98p-1,  0x1.20c082c52be4dp-3,
                                0x1.220f4d0163217p-8,  0x1.629ecc4a612dfp-15,
                                0x1.dd812daa0971ep-24, 0x1.433723cc36c39p-35};
constexpr double kTanhUnder[] = {1,
                                 0x1.e5b596b10bd3ep-2,
                                 0x1.de6e6f306a1bcp-6,
                                 0x1.06952066570c1p-11,
                                 0x1.5d7cb154d29b9p-19,
                                 0x1.959d6044c1d53p-29};

// Within 3.7e-11; beyond 9.02, float32 has only 1.
template <int kBytes>
[[gnu::always_inline]] inline void Tanh(const float* x, ptrdiff_t count, float* to) {
  OddQuotient<kBytes>(9.02f, kTanhOver, kTanhUnder, x, count, to);
}

// Where float64 holds the exact sums, one rounding of a fused multiply-add is that of the sum.
template <int kBytes, class Sums>
[[gnu::always_inline]] inline void AddScaled(const ScaledSum& sum, const float* b, ptrdiff_t count,
                                             float* a) {
  using Reals = typename Vectors<kBytes>::Reals;
  if constexpr (Sums::kSums == FloatSums::kFused) {
    const Reals scale_a = Reals{} + sum.scale_a;
    const Reals scale_b = Reals{} + sum.scale_b;
    const Reals offset = Reals{} + sum.offset;
    ForVectors<kBytes>(
        count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
          Reals x;
          Reals y;
          Load(a + i, n, x);
          Load(b + i, n, y);
          Reals total = offset;
          Sums::Add(y, scale_b, total);
          Sums::Add(x, scale_a, total);
          Store(total, a + i, n);
        });
    return;
  }
  typedef double Doubles __attribute__((vector_size(2 * kBytes)));
  const Doubles scale_a = Doubles{} + static_cast<double>(sum.scale_a);
  const Doubles scale_b = Doubles{} + static_cast<double>(sum.scale_b);
  const Doubles offset = Doubles{} + static_cast<double>(sum.offset);
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        Reals x;
        Reals y;
        Load(a + i, n, x);
        Load(b + i, n, y);
        y = __builtin_convertvector(__builtin_convertvector(y, Doubles) * scale_b + offset, Reals);
        x = __builtin_convertvector(
            __builtin_convertvector(x, Doubles) * scale_a + __builtin_convertvector(y, Doubles),
            Reals);
        Store(x, a + i, n);
      });
}

}  // namespace intaglio::float32

#endif  // INTAGLIO_KERNELS_FLOAT32_LINES_H_
