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

template <int kBytes>
struct Doubles {
  typedef double Reals __attribute__((vector_size(2 * kBytes)));
  typedef int64_t Words __attribute__((vector_size(2 * kBytes)));
};

// exp(x) within a share of 4.2e-11. x = k ln 2 + r, where |r| <= ln 2 / 2, so exp(x) is exp(r) with
// k added to its exponent. The polynomial of exp(r) has the least relative error of its degree
// (Remez). x is clamped to what has a result in float32 that is neither 0 nor infinite, and a
// little more. The result for NaN is any number.
template <int kBytes>
[[gnu::always_inline]] inline void PowerOfE(const typename Vectors<kBytes>::Reals& x,
                                            typename Doubles<kBytes>::Reals& power) {
  using Reals = typename Doubles<kBytes>::Reals;
  using Words = typename Doubles<kBytes>::Words;
  constexpr double kTerms[] = {0x1.ffffffffababbp-1,  0x1.000000010b7f3p+0, 0x1.00000059d9720p-1,
                               0x1.55555343b431ap-3,  0x1.555468597dcdcp-5, 0x1.1112fa5b3ba63p-7,
                               0x1.6da4c0c8bcd5ap-10, 0x1.9eb715ae666f8p-13};
  constexpr int kDegree = 7;
  constexpr double kToInteger = 0x1.8p52;  // a double this large has no places behind the point
  const Clamp<kBytes> inside(-104.0f, 89.0f);
  typename Vectors<kBytes>::Reals clamped = x;
  inside.Apply(clamped);
  const Reals number = __builtin_convertvector(clamped, Reals);
  const Reals shifted = number * 0x1.71547652b82fep+0 + kToInteger;
  const Reals rest = number - (shifted - kToInteger) * 0x1.62e42fefa39efp-1;
  Reals result = Reals{} + kTerms[kDegree];
  INTAGLIO_UNROLL
  for (int k = kDegree - 1; k >= 0; --k) result = result * rest + kTerms[k];
  Words exponent;
  Words bits;
  std::memcpy(&exponent, &shifted, sizeof(shifted));
  std::memcpy(&bits, &result, sizeof(result));
  bits += exponent << 52;
  std::memcpy(&power, &bits, sizeof(bits));
}

// to[i] = f(x[i], exp(x[i])), or NaN for NaN. f(v, power, result) takes vectors.
template <int kBytes, class Function>
[[gnu::always_inline]] inline void ForPowers(const float* x, ptrdiff_t count, float* to,
                                             const Function& f) {
  using Reals = typename Vectors<kBytes>::Reals;
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        Reals v;
        Load(x + i, n, v);
        typename Doubles<kBytes>::Reals power;
        PowerOfE<kBytes>(v, power);
        Reals result;
        f(v, power, result);
        result = v == v ? result : v;
        Store(result, to + i, n);
      });
}

template <int kBytes>
[[gnu::always_inline]] inline void Exp(const float* x, ptrdiff_t count, float* to) {
  using Reals = typename Vectors<kBytes>::Reals;
  ForPowers<kBytes>(
      x, count, to,
      [](const Reals&, const auto& power, Reals& result)
          __attribute__((always_inline)) { result = __builtin_convertvector(power, Reals); });
}

template <int kBytes>
[[gnu::always_inline]] inline void Sigmoid(const float* x, ptrdiff_t count, float* to) {
  using Reals = typename Vectors<kBytes>::Reals;
  ForPowers<kBytes>(
      x, count, to,
      [](const Reals&, const auto& power, Reals& result) __attribute__((always_inline)) {
        result = __builtin_convertvector(power / (power + 1.0), Reals);
      });
}

template <int kBytes>
[[gnu::always_inline]] inline void Logistic(const float* x, ptrdiff_t count, float* to) {
  using Reals = typename Vectors<kBytes>::Reals;
  const Reals low = Reals{} - 9.0f;
  const Reals last_below_one = Reals{} + 16.619047164916992f;
  const Reals one = Reals{} + 1.0f;
  ForPowers<kBytes>(
      x, count,
      to, [&](const Reals& v, const auto& power, Reals& result) __attribute__((always_inline)) {
        result = __builtin_convertvector(power / (power + 1.0), Reals);
        const Reals rounded = __builtin_convertvector(power, Reals);
        result = v > last_below_one ? one : result;
        result = v < low ? rounded : result;
      });
}

// f(x) = kTerms[0] + kTerms[1] x + ...
template <class Reals, size_t kCount>
[[gnu::always_inline]] inline void Polynomial(const double (&terms)[kCount], const Reals& x,
                                              Reals& f) {
  f = Reals{} + terms[kCount - 1];
  INTAGLIO_UNROLL
  for (size_t k = kCount - 1; k > 0; --k) f = f * x + terms[k - 1];
}

// Near 0, a difference exp(x) - 1 would lose places, so the first terms of its series are summed
// up.
template <int kBytes>
[[gnu::always_inline]] inline void Elu(float alpha, const float* x, ptrdiff_t count, float* to) {
  using Reals = typename Vectors<kBytes>::Reals;
  using Wide = typename Doubles<kBytes>::Reals;
  constexpr double kTerms[] = {1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720};
  const Reals zero = {};
  const Reals end_of_series = zero - 0x1p-4f;
  const Wide factor = Wide{} + static_cast<double>(alpha);
  ForPowers<kBytes>(
      x, count,
      to, [&](const Reals& v, const auto& power, Reals& result) __attribute__((always_inline)) {
        const Wide number = __builtin_convertvector(v, Wide);
        Wide series;
        Polynomial(kTerms, number, series);
        const Reals near = __builtin_convertvector(factor * (series * number), Reals);
        const Reals far = __builtin_convertvector(factor * (power - 1.0), Reals);
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
  constexpr double kTerms[] = {2,        2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,
                               2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19};
  const Reals zero = {};
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t n) __attribute__((always_inline)) {
        Reals v;
        Load(x + i, n, v);
        const Reals below = v < zero ? v : -v;
        const Reals above = v > zero ? v : zero;
        Wide power;
        PowerOfE<kBytes>(below, power);
        const Wide quotient = power / (power + 2.0);
        Wide series;
        Polynomial(kTerms, quotient * quotient, series);
        const Wide sum = __builtin_convertvector(above, Wide) + quotient * series;
        Reals result = __builtin_convertvector(sum, Reals);
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
  using Reals = typename Vectors<kBytes>::Reals;
  ForEach<kBytes>(
      x, count, to, [&](Reals & v) __attribute__((always_inline)) {
        const Reals distance = (v - largest) * beta;
        typename Doubles<kBytes>::Reals power;
        PowerOfE<kBytes>(distance, power);
        v = distance == distance ? __builtin_convertvector(power, Reals) : distance;
      });
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
