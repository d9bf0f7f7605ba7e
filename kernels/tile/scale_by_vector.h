// Panels whose vectors differ in the form of double rounding.
#ifndef INTAGLIO_KERNELS_TILE_SCALE_BY_VECTOR_H_
#define INTAGLIO_KERNELS_TILE_SCALE_BY_VECTOR_H_

#include <utility>

#include "intaglio/kernels/tile/double_rounding.h"
#include "intaglio/kernels/tile/epilogue.h"

namespace intaglio {

// acc = scaled(acc) for kRows rows of vector j of a panel.
template <int kVectors, int kRows, class I32, class Scaled>
INTAGLIO_INLINE void ScaleVector(I32 (&acc)[kRows][kVectors], int j, const Scaled& scaled) {
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) acc[r][j] = scaled(acc[r][j]);
}

// Each vector of the lanes from `first` on by its own form.
template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void ScaleByVector(const auto& p, typename V::I32 (&acc)[kRows][kVectors],
                                   int first) {
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) {
    const int at = first + j * V::kLanes;
    switch (p.vector_form[at / V::kLanes]) {
      case ScalingForm::kDoubleRoundingFitted:
        ScaleVector(acc, j, FittedScaling<V, false>()(p, at));
        break;
      case ScalingForm::kDoubleRoundingStretched:
        ScaleVector(acc, j, FittedScaling<V, true>()(p, at));
        break;
      case ScalingForm::kDoubleRoundingBounded:
        ScaleVector(acc, j, BoundedScaling<V>()(p, at));
        break;
      default:
        ScaleVector(acc, j, GeneralScaling<V>()(p, at));
    }
  }
}

// A vector's own form, one of the bounded ones, with the constants of all.
template <class V>
class OwnForm {
 public:
  using I32 = typename V::I32;

  INTAGLIO_INLINE OwnForm(const ParamsOf<V>& p, int at)
      : form_(p.vector_form[at / V::kLanes]),
        bounded_(BoundedScaling<V>()(p, at)),
        fitted_(FittedScaling<V, false>()(p, at)),
        stretched_(FittedScaling<V, true>()(p, at)) {}

  INTAGLIO_INLINE I32 operator()(I32 a) const {
    if (form_ == ScalingForm::kDoubleRoundingFitted) return fitted_(a);
    if (form_ == ScalingForm::kDoubleRoundingStretched) return stretched_(a);
    return bounded_(a);
  }

 private:
  template <class Form>
  using Scaled = decltype(Form()(std::declval<const ParamsOf<V>&>(), 0));

  ScalingForm form_;
  Scaled<BoundedScaling<V>> bounded_;
  Scaled<FittedScaling<V, false>> fitted_;
  Scaled<FittedScaling<V, true>> stretched_;
};

// Of double_rounding.h's kind, for vectors that differ.
template <class V>
struct ByVector {
  static constexpr ScalingForm kForm = ScalingForm::kByVector;
  INTAGLIO_INLINE auto operator()(const ParamsOf<V>& p, int at) const { return OwnForm<V>(p, at); }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_SCALE_BY_VECTOR_H_
