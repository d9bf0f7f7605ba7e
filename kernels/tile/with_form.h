// From a panel's ScalingForm to what scales by it: the one list of both.
#ifndef INTAGLIO_KERNELS_TILE_WITH_FORM_H_
#define INTAGLIO_KERNELS_TILE_WITH_FORM_H_

#include "intaglio/kernels/tile/double_rounding.h"
#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/kernels/tile/scale_by_vector.h"
#include "intaglio/kernels/tile/single_and_half_even.h"

namespace intaglio {

// Whether a kernel's panels may have fits (Kernel::has_fma): V has kHasFma.
template <class V>
inline constexpr bool kTakesFits = requires {
  V::kHasFma;
};

// use(form, args...) of the panel's form; false of those that V has not, and of kMultiplyAdd, which
// is scaled when it is stored (StoreMultiplyAdd). Accumulators are among the arguments: g++ 12 may
// leave in memory what a lambda refers to.
template <class V, class Use, class... Args>
INTAGLIO_INLINE bool WithForm(const PanelForm& p, const Use& use, Args&... args) {
  switch (p.form) {
    case ScalingForm::kNone:
      return use(Unscaled<V>(), args...);
    case ScalingForm::kDoubleRounding:
      return use(GeneralScaling<V>(), args...);
    case ScalingForm::kDoubleRoundingBounded:
      return use(BoundedScaling<V>(), args...);
    case ScalingForm::kDoubleRoundingFitted:
      if constexpr (kTakesFits<V>) return use(FittedScaling<V, false>(), args...);
      return false;
    case ScalingForm::kDoubleRoundingStretched:
      if constexpr (kTakesFits<V>) return use(FittedScaling<V, true>(), args...);
      return false;
    case ScalingForm::kByVector:
      if constexpr (kTakesFits<V>) return use(ByVector<V>(), args...);
      return false;
    case ScalingForm::kSingleRounding:
      return use(Single<V>(), args...);
    case ScalingForm::kSingleRoundingBounded:
      return use(SingleBounded<V>(), args...);
    case ScalingForm::kFloatHalfEven:
      return use(HalfEven<V>(), args...);
    case ScalingForm::kFloatHalfEvenBounded:
      return use(HalfEvenBounded<V>(), args...);
    case ScalingForm::kToFloat:
      return use(ToReal<V>(), args...);
    case ScalingForm::kMultiplyAdd:
      return false;
  }
  return false;
}

template <int kVectors, class Use>
struct IfBounded {
  const PanelForm& p;
  const Use& use;

  template <class Form>
  INTAGLIO_INLINE bool operator()(Form form) const {
    if constexpr (Form::kForm == ScalingForm::kByVector) {
      return IsBounded(p, kVectors) && use(form);
    } else if constexpr (IsBounded(Form::kForm)) {
      return use(form);
    }
    return false;
  }
};

// use(form) if a panel is scaled by bounded forms, as nearly all are; else false.
template <class V, int kVectors, class Use>
INTAGLIO_INLINE bool WithBoundedScaling(const PanelForm& p, const Use& use) {
  return WithForm<V>(p, IfBounded<kVectors, Use>{p, use});
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_WITH_FORM_H_
