// The forms of double rounding: each makes, from a panel's parameters (ParamsOfWidth) for the lanes
// from `at` on, what a vector of accumulators is scaled by.
#ifndef INTAGLIO_KERNELS_TILE_DOUBLE_ROUNDING_H_
#define INTAGLIO_KERNELS_TILE_DOUBLE_ROUNDING_H_

#include <cstdint>

#include "intaglio/fixedpoint/fit_double_rounding.h"
#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/fixedpoint/requantize_bounded.h"
#include "intaglio/kernels/tile/epilogue.h"

namespace intaglio {

template <class V>
struct GeneralScaling {
  static constexpr ScalingForm kForm = ScalingForm::kDoubleRounding;
  using I32 = typename V::I32;
  INTAGLIO_INLINE auto operator()(const auto& p, int at) const {
    const I32 mantissa = V::Load(p.mantissa + at);
    const I32 left = V::Load(p.left_shift + at);
    const I32 right = V::Load(p.right_shift + at);
    return [=](I32 a) { return RequantizeDoubleRounding<V>(a, mantissa, left, right); };
  }
};

template <class V>
struct BoundedScaling {
  static constexpr ScalingForm kForm = ScalingForm::kDoubleRoundingBounded;
  INTAGLIO_INLINE auto operator()(const auto& p, int at) const {
    return DoubleRoundingBounded<V>(V::Load(p.mantissa + at), V::Load(p.right_shift + at));
  }
};

template <class V, bool kStretched>
struct FittedScaling {
  static constexpr ScalingForm kForm =
      kStretched ? ScalingForm::kDoubleRoundingStretched : ScalingForm::kDoubleRoundingFitted;
  using I32 = typename V::I32;
  INTAGLIO_INLINE auto operator()(const auto& p, int at) const {
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
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_DOUBLE_ROUNDING_H_
