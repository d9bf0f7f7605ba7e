// The forms of double rounding, over the parameters of a panel.
#ifndef INTAGLIO_KERNELS_DOUBLE_ROUNDING_H_
#define INTAGLIO_KERNELS_DOUBLE_ROUNDING_H_

#include <cstdint>

#include "intaglio/fixedpoint/fit_double_rounding.h"
#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/kernels/epilogue.h"

namespace intaglio {

// acc = scaled(acc) for kRows rows of vector j of a panel.
template <int kVectors, int kRows, class I32, class Scaled>
INTAGLIO_INLINE void ScaleVector(I32 (&acc)[kRows][kVectors], int j, const Scaled& scaled) {
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) acc[r][j] = scaled(acc[r][j]);
}

// What a vector is scaled by, from the lanes at `at`.
template <class V>
INTAGLIO_INLINE auto General(const PanelParams& p, int at) {
  using I32 = typename V::I32;
  const I32 mantissa = V::Load(p.mantissa + at);
  const I32 left = V::Load(p.left_shift + at);
  const I32 right = V::Load(p.right_shift + at);
  return [=](I32 a) { return RequantizeDoubleRounding<V>(a, mantissa, left, right); };
}
template <class V>
INTAGLIO_INLINE auto Bounded(const PanelParams& p, int at) {
  return DoubleRoundingBounded<V>(V::Load(p.mantissa + at), V::Load(p.right_shift + at));
}
template <class V, bool kStretched>
INTAGLIO_INLINE auto Fitted(const PanelParams& p, int at) {
  using I32 = typename V::I32;
  const auto stretch = V::LoadF(p.stretch + at);
  const auto shift = V::LoadF(p.shift + at);
  const auto scale = V::LoadF(p.scale + at);
  const auto addend = V::LoadF(p.addend + at);
  const I32 origin = V::Load(p.origin + at);
  return [=](I32 a) {
    auto f = V::FloatOfBits(a);
    if constexpr (kStretched) f = V::FusedMulAdd(f, stretch, shift);
    return DoubleRoundingFitted<V>(f, scale, addend, origin);
  };
}

// Vector j of the lanes from `first` of a panel, by its own form.
template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void ScaleByVector(const PanelParams& p, typename V::I32 (&acc)[kRows][kVectors],
                                   int j, int first) {
  const int at = first + j * V::kLanes;
  switch (p.vector_form[at / V::kLanes]) {
    case ScalingForm::kDoubleRoundingFitted:
      return ScaleVector(acc, j, Fitted<V, false>(p, at));
    case ScalingForm::kDoubleRoundingStretched:
      return ScaleVector(acc, j, Fitted<V, true>(p, at));
    case ScalingForm::kDoubleRoundingBounded:
      return ScaleVector(acc, j, Bounded<V>(p, at));
    default:
      return ScaleVector(acc, j, General<V>(p, at));
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DOUBLE_ROUNDING_H_
