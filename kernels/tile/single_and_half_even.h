// The forms of single rounding, of rounding half to even, and of no rounding, as double_rounding.h
// has those of double rounding.
#ifndef INTAGLIO_KERNELS_TILE_SINGLE_AND_HALF_EVEN_H_
#define INTAGLIO_KERNELS_TILE_SINGLE_AND_HALF_EVEN_H_

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/fixedpoint/requantize_bounded.h"
#include "intaglio/kernels/tile/epilogue.h"

namespace intaglio {

template <class V>
struct Unscaled {
  static constexpr ScalingForm kForm = ScalingForm::kNone;
  using I32 = typename V::I32;
  INTAGLIO_INLINE auto operator()(const auto&, int) const {
    return [](I32 a) { return a; };
  }
};

template <class V>
struct Single {
  static constexpr ScalingForm kForm = ScalingForm::kSingleRounding;
  using I32 = typename V::I32;
  INTAGLIO_INLINE auto operator()(const auto& p, int at) const {
    const I32 mantissa = V::Load(p.mantissa + at);
    const I32 shift = V::Load(p.right_shift + at);
    return [=](I32 a) { return RequantizeSingleRounding<V>(a, mantissa, shift); };
  }
};

template <class V>
struct SingleBounded {
  static constexpr ScalingForm kForm = ScalingForm::kSingleRoundingBounded;
  INTAGLIO_INLINE auto operator()(const auto& p, int at) const {
    return SingleRoundingBounded<V>(V::Load(p.mantissa + at), V::Load(p.right_shift + at));
  }
};

template <class V>
struct HalfEven {
  static constexpr ScalingForm kForm = ScalingForm::kFloatHalfEven;
  using I32 = typename V::I32;
  INTAGLIO_INLINE auto operator()(const auto& p, int at) const {
    const auto scale = V::LoadF(p.scale + at);
    return [=](I32 a) { return RequantizeFloatHalfEven<V>(a, scale); };
  }
};

template <class V>
struct HalfEvenBounded {
  static constexpr ScalingForm kForm = ScalingForm::kFloatHalfEvenBounded;
  using I32 = typename V::I32;
  INTAGLIO_INLINE auto operator()(const auto& p, int at) const {
    const auto scale = V::LoadF(p.scale + at);
    return [=](I32 a) { return RequantizeFloatHalfEvenBounded<V>(a, scale); };
  }
};

// HalfEvenBounded of what fits int16, in the low 16 bits of each lane. The rest is of no use.
template <class V>
struct HalfEvenLow {
  using I32 = typename V::I32;
  INTAGLIO_INLINE auto operator()(const auto& p, int at) const {
    const auto scale = V::LoadF(p.scale + at);
    // Numbers below 2^22, added to this one, are rounded to integers, ties to even; its own low
    // bits are zeros.
    const auto magic = V::SetF(12582912.0f);  // 1.5 * 2^23
    return [=](I32 a) { return V::FloatBits(V::AddF(V::MulF(V::ToFloat(a), scale), magic)); };
  }
};

template <class V>
struct ToReal {
  static constexpr ScalingForm kForm = ScalingForm::kToFloat;
  using I32 = typename V::I32;
  INTAGLIO_INLINE auto operator()(const auto& p, int at) const {
    const auto scale = V::LoadF(p.scale + at);
    return [=](I32 a) { return V::FloatBits(V::MulF(V::ToFloat(a), scale)); };
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_SINGLE_AND_HALF_EVEN_H_
