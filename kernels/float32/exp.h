// Exponentials, and what follows from them: logistic functions, ELU, softplus, softmax and its
// logarithm.
#ifndef INTAGLIO_KERNELS_FLOAT32_EXP_H_
#define INTAGLIO_KERNELS_FLOAT32_EXP_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "intaglio/kernels/float32/float_loops.h"
#include "intaglio/kernels/float32/norms.h"
#include "intaglio/kernels/float32/vectors.h"

namespace intaglio::float32 {

// The terms of polynomials, from that of degree 0 on. Within the functions below they would be
// symbols that the linker shares between kernels.
constexpr double kTermsOfExp[] = {0x1.ffffffffababbp-1,  0x1.000000010b7f3p+0, 0x1.00000059d9720p-1,
                                  0x1.55555343b431ap-3,  0x1.555468597dcdcp-5, 0x1.1112fa5b3ba63p-7,
                                  0x1.6da4c0c8bcd5ap-10, 0x1.9eb715ae666f8p-13};
constexpr double kTermsOfElu[] = {1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720};
constexpr double kTermsOfSoftplus[] = {2,        2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,
                                       2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19};

// powers[p] = exp(x[p]) within a share of 4.2e-11. x = k ln 2 + r, where |r| <= ln 2 / 2, so exp(x)
// is exp(r) with k added to its exponent. The polynomial of exp(r) has the least relative error of
// its degree (Remez). x must be inside what has a result in float32 that is neither 0 nor infinite,
// or little beyond. The result for NaN is any number.
template <int kBytes, int kParts>
[[gnu::always_inline]] inline void PowersOfE(const typename Doubles<kBytes>::Reals (&x)[kParts],
                                             typename Doubles<kBytes>::Reals (&powers)[kParts]) {
  using Reals = typename Doubles<kBytes>::Reals;
  using Words = typename Doubles<kBytes>::Words;
  constexpr double kToInteger = 0x1.8p52;  // a double this large has no places behind the point
  Words exponents[kParts];
  Reals rests[kParts];
  INTAGLIO_UNROLL
  for (int p = 0; p < kParts; ++p) {
    const Reals shifted = x[p] * 0x1.71547652b82fep+0 + kToInteger;
    rests[p] = x[p] - (shifted - kToInteger) * 0x1.62e42fefa39efp-1;
    std::memcpy(&exponents[p], &shifted, sizeof(shifted));
    exponents[p] <<= 52;
  }
  Polynomials(kTermsOfExp, rests, powers);
  INTAGLIO_UNROLL
  for (int p = 0; p < kParts; ++p) {
    Words bits;
    std::memcpy(&bits, &powers[p], sizeof(bits));
    bits += exponents[p];
    std::memcpy(&powers[p], &bits, sizeof(bits));
  }
}

// to[i] = f(x[i], exp(x[i])), or NaN for NaN. f(v, low, high, result) takes a vector of x and both
// halves of its exponentials.
template <int kBytes, class Function>
[[gnu::always_inline]] inline void ForPowers(const float* x, ptrdiff_t count, float* to,
                                             const Function& f) {
  using V = Vectors<kBytes>;
  using Wide = typename Doubles<kBytes>::Reals;
  const Clamp<kBytes> inside(-104.0f, 89.0f);
  ForGroups<kBytes>(
      count, [&](auto group, ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        constexpr int kGroup = decltype(group)::value;
        Wide numbers[2 * kGroup];
        Wide powers[2 * kGroup];
        INTAGLIO_UNROLL
        for (int g = 0; g < kGroup; ++g) {
          typename V::Reals v;
          Load(x + i + g * V::kLanes, n, v);
          inside.Apply(v);
          Widen<kBytes>(v, numbers[2 * g], numbers[2 * g + 1]);
        }
        PowersOfE<kBytes>(numbers, powers);
        INTAGLIO_UNROLL
        for (int g = 0; g < kGroup; ++g) {
          typename V::Reals v;
          Load(x + i + g * V::kLanes, n, v);
          typename V::Reals result;
          f(v, powers[2 * g], powers[2 * g + 1], result);
          result = v == v ? result : v;
          Store(result, to + i + g * V::kLanes, n);
        }
      });
}

template <int kBytes>
[[gnu::always_inline]] inline void Exp(const float* x, ptrdiff_t count, float* to) {
  ForPowers<kBytes>(
      x, count, to,
      [](const auto&, const auto& low, const auto& high, auto& result)
          __attribute__((always_inline)) { Narrow<kBytes>(low, high, result); });
}

// power / (power + 1), rounded.
template <int kBytes>
[[gnu::always_inline]] inline void SigmoidOfPower(const typename Doubles<kBytes>::Reals& low,
                                                  const typename Doubles<kBytes>::Reals& high,
                                                  typename Vectors<kBytes>::Reals& result) {
  Narrow<kBytes>(low / (low + 1.0), high / (high + 1.0), result);
}

template <int kBytes>
[[gnu::always_inline]] inline void Sigmoid(const float* x, ptrdiff_t count, float* to) {
  ForPowers<kBytes>(
      x, count, to,
      [](const auto&, const auto& low, const auto& high, auto& result)
          __attribute__((always_inline)) { SigmoidOfPower<kBytes>(low, high, result); });
}

template <int kBytes>
[[gnu::always_inline]] inline void Logistic(const float* x, ptrdiff_t count, float* to) {
  using Reals = typename Vectors<kBytes>::Reals;
  const Reals least = Reals{} - 9.0f;
  const Reals last_below_one = Reals{} + 16.619047164916992f;
  const Reals one = Reals{} + 1.0f;
  ForPowers<kBytes>(
      x, count, to,
      [&](const Reals& v, const auto& low, const auto& high, Reals& result)
          __attribute__((always_inline)) {
            SigmoidOfPower<kBytes>(low, high, result);
            Reals power;
            Narrow<kBytes>(low, high, power);
            result = v > last_below_one ? one : result;
            result = v < least ? power : result;
          });
}

// Near 0, a difference exp(x) - 1 would lose places, so the first terms of its series are summed
// up.
template <int kBytes>
[[gnu::always_inline]] inline void Elu(float alpha, const float* x, ptrdiff_t count, float* to) {
  using Reals = typename Vectors<kBytes>::Reals;
  using Wide = typename Doubles<kBytes>::Reals;
  const Reals zero = {};
  const Reals end_of_series = zero - 0x1p-4f;
  const Wide factor = Wide{} + static_cast<double>(alpha);
  ForPowers<kBytes>(
      x, count, to,
      [&](const Reals& v, const Wide& low, const Wide& high,
          Reals& result) __attribute__((always_inline)) {
        Wide numbers[2];
        Wide series[2];
        Widen<kBytes>(v, numbers[0], numbers[1]);
        Polynomials(kTermsOfElu, numbers, series);
        Reals near;
        Reals far;
        Narrow<kBytes>(factor * (series[0] * numbers[0]), factor * (series[1] * numbers[1]), near);
        Narrow<kBytes>(factor * (low - 1.0), factor * (high - 1.0), far);
        result = v > end_of_series ? near : far;
        result = v < zero ? result : v;
      });
}

// max(x, 0) + log(1 + p) with p = exp(-|x|), and log(1 + p) = log((1 + s) / (1 - s)) =
// 2 (s + s^3 / 3 + s^5 / 5 + ...) for s = p / (p + 2) <= 1 / 3.
template <int kBytes>
[[gnu::always_inline]] inline void Softplus(const float* x, ptrdiff_t count, float* to) {
  using Reals = typename Vectors<kBytes>::Reals;
  using Wide = typename Doubles<kBytes>::Reals;
  const Reals zero = {};
  const Clamp<kBytes> inside(-104.0f, 89.0f);
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        Reals v;
        Load(x + i, n, v);
        Reals below = v < zero ? v : -v;
        inside.Apply(below);
        const Reals above = v > zero ? v : zero;
        Wide numbers[2];
        Wide powers[2];
        Widen<kBytes>(below, numbers[0], numbers[1]);
        PowersOfE<kBytes>(numbers, powers);
        Wide quotients[2];
        Wide squares[2];
        Wide series[2];
        Wide sums[2];
        INTAGLIO_UNROLL
        for (int p = 0; p < 2; ++p) {
          quotients[p] = powers[p] / (powers[p] + 2.0);
          squares[p] = quotients[p] * quotients[p];
        }
        Polynomials(kTermsOfSoftplus, squares, series);
        Widen<kBytes>(above, sums[0], sums[1]);
        INTAGLIO_UNROLL
        for (int p = 0; p < 2; ++p) sums[p] += quotients[p] * series[p];
        Reals result;
        Narrow<kBytes>(sums[0], sums[1], result);
        result = v == v ? result : v;
        Store(result, to + i, n);
      });
}

template <int kBytes>
[[gnu::always_inline]] inline float Largest(const float* x, ptrdiff_t count) {
  using V = Vectors<kBytes>;
  constexpr int kChains = 4;  // hide the latency of a comparison
  typename V::Reals largest[kChains];
  for (auto& chain : largest) chain = typename V::Reals{} + std::numeric_limits<float>::lowest();
  ptrdiff_t i = 0;
  for (; i + kChains * V::kLanes <= count; i += kChains * V::kLanes) {
    INTAGLIO_UNROLL
    for (int c = 0; c < kChains; ++c) {
      typename V::Reals v;
      Load(x + i + c * V::kLanes, V::kLanes, v);
      largest[c] = v > largest[c] ? v : largest[c];
    }
  }
  float lanes[kChains * V::kLanes];
  std::memcpy(lanes, largest, sizeof(lanes));
  for (ptrdiff_t k = 0; i < count; ++i, ++k) lanes[k] = x[i] > lanes[k] ? x[i] : lanes[k];
  float result = lanes[0];
  for (const float lane : lanes) result = lane > result ? lane : result;
  return result;
}

// to[i] = f(from[i]); f changes a vector in its place.
template <int kBytes, class Function>
[[gnu::always_inline]] inline void ForEach(const float* from, ptrdiff_t count, float* to,
                                           const Function& f) {
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        typename Vectors<kBytes>::Reals v;
        Load(from + i, n, v);
        f(v);
        Store(v, to + i, n);
      });
}

// The terms exp((x - largest) beta) of softmax. Returns their sum.
template <int kBytes>
[[gnu::always_inline]] inline double SoftmaxTerms(float largest, float beta, const float* x,
                                                  ptrdiff_t count, float* to) {
  ForEach<kBytes>(
      x, count, to, [&](auto& v) __attribute__((always_inline)) { v = (v - largest) * beta; });
  Exp<kBytes>(to, count, to);
  return SumTerms<kBytes>(to, count, [](auto&) __attribute__((always_inline)){});
}

template <int kBytes>
[[gnu::always_inline]] inline void Softmax(float beta, const float* x, ptrdiff_t count, float* to) {
  const float largest = Largest<kBytes>(x, count);
  const auto sum = static_cast<float>(SoftmaxTerms<kBytes>(largest, beta, x, count, to));
  ForEach<kBytes>(
      to, count, to, [&](auto& v) __attribute__((always_inline)) { v /= sum; });
}

template <int kBytes>
[[gnu::always_inline]] inline void LogSoftmax(const float* x, ptrdiff_t count, float* to) {
  const float largest = Largest<kBytes>(x, count);
  const auto log = static_cast<float>(std::log(SoftmaxTerms<kBytes>(largest, 1, x, count, to)));
  ForEach<kBytes>(
      x, count, to, [&](auto& v) __attribute__((always_inline)) { v = (v - largest) - log; });
}

}  // namespace intaglio::float32

#endif  // INTAGLIO_KERNELS_FLOAT32_EXP_H_
