// Normalization of rows.
#ifndef INTAGLIO_KERNELS_FLOAT32_NORMS_H_
#define INTAGLIO_KERNELS_FLOAT32_NORMS_H_

#include <cmath>
#include <cstddef>
#include <cstring>

#include "intaglio/kernels/float32/float_loops.h"
#include "intaglio/kernels/float32/vectors.h"

namespace intaglio::float32 {

// The sum of term(x[i]) as RowNormalizer says. So many chains hide the latency of additions in
// every width. `term` makes the term of a vector, or of one number, in its place.
template <int kBytes, class Term>
[[gnu::always_inline]] inline double SumTerms(const float* x, ptrdiff_t count, const Term& term) {
  constexpr int kSums = 32;
  using V = Vectors<kBytes>;
  constexpr int kParts = kSums / V::kLanes;
  typename V::Reals parts[kParts];
  INTAGLIO_UNROLL
  for (auto& part : parts) part = typename V::Reals{};
  ptrdiff_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    INTAGLIO_UNROLL
    for (int p = 0; p < kParts; ++p) {
      typename V::Reals v;
      Load(x + i + p * V::kLanes, V::kLanes, v);
      term(v);
      parts[p] += v;
    }
  }
  float lanes[kSums];
  std::memcpy(lanes, parts, sizeof(lanes));
  for (int k = 0; i < count; ++i, ++k) {
    float v = x[i];
    term(v);
    lanes[k] += v;
  }
  double sums[kSums];
  for (int k = 0; k < kSums; ++k) sums[k] = static_cast<double>(lanes[k]);
  for (int half = kSums / 2; half > 0; half /= 2) {
    for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

template <int kBytes>
[[gnu::always_inline]] inline void Normalize(const RowNormalizer& n, const float* x,
                                             ptrdiff_t count, float* to) {
  using Reals = typename Vectors<kBytes>::Reals;
  const auto elements = static_cast<double>(count);
  const float mean =
      n.centers
          ? static_cast<float>(
                SumTerms<kBytes>(x, count, [](auto&) __attribute__((always_inline)){}) / elements)
          : 0.0f;
  const double squares = SumTerms<kBytes>(
      x, count, [mean](auto& v) __attribute__((always_inline)) {
        v -= mean;
        v *= v;
      });
  const auto inverse =
      static_cast<float>(1 / std::sqrt(squares / elements + static_cast<double>(n.epsilon)));
  const float* const scale = n.scale;
  const float* const bias = n.bias;
  ForVectors<kBytes>(
      count, [&](ptrdiff_t i, ptrdiff_t some) __attribute__((always_inline)) {
        Reals v;
        Load(x + i, some, v);
        v = (v - mean) * inverse;
        if (scale != nullptr) {
          Reals factor;
          Load(scale + i, some, factor);
          v *= factor;
        }
        if (bias != nullptr) {
          Reals addend;
          Load(bias + i, some, addend);
          v += addend;
        }
        Store(v, to + i, some);
      });
}

}  // namespace intaglio::float32

#endif  // INTAGLIO_KERNELS_FLOAT32_NORMS_H_
