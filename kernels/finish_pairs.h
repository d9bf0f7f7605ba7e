// The epilogue of whole tiles, in registers: for a kernel vocabulary V that has, beside what
// finish.h names,
//   ByteStore<kMoves>(const EpilogueParams&)             StoreBytes for either signedness and two
//                                                        rows; kMoves: adds the zero point
//     .Store<kVectors>(char*, char*, const I32*, const I32*)   its constants made once
#ifndef INTAGLIO_KERNELS_FINISH_PAIRS_H_
#define INTAGLIO_KERNELS_FINISH_PAIRS_H_

#include <cstddef>

#include "intaglio/kernels/double_rounding.h"
#include "intaglio/kernels/epilogue.h"
#include "intaglio/kernels/other_rounding.h"
#include "intaglio/kernels/scale_by_vector.h"

namespace intaglio {

template <class V>
inline constexpr bool kStoresPairs = requires {
  typename V::template ByteStore<true>;
};

template <class Form>
inline constexpr bool kFormHoldsZeroPoint = requires {
  Form::kHoldsZeroPoint;
};

// What stores the rows of panels that are scaled by Form.
template <class V, class Form>
using ByteStoreOf = typename V::template ByteStore<!kFormHoldsZeroPoint<Form>>;

// use(form) if a panel is scaled by bounded forms, as nearly all are; else false.
template <class V, int kVectors, class Use>
INTAGLIO_INLINE bool WithBoundedScaling(const PanelForm& p, const Use& use) {
  switch (p.form) {
    case ScalingForm::kDoubleRoundingBounded:
      return use(Bounded<V>());
    case ScalingForm::kDoubleRoundingFitted:
      return use(Fitted<V, false>());
    case ScalingForm::kDoubleRoundingStretched:
      return use(Fitted<V, true>());
    case ScalingForm::kByVector:
      return IsBounded(p, kVectors) && use(ByVector<V>());
    case ScalingForm::kSingleRoundingBounded:
      return use(SingleBounded<V>());
    case ScalingForm::kFloatHalfEvenBounded:
      return use(HalfEvenBounded<V>());
    default:
      return false;
  }
}

// Scales and writes kRows rows, two at a time: the dependent steps of two rows fit into the
// scheduler of a CPU beside the products of the next tile, those of all rows do not. scaled[j]
// scales vector j.
template <class Store, class I32, int kVectors, int kRows, class Scaled>
INTAGLIO_INLINE void FinishPairs(const Store& store, const I32 (&acc)[kRows][kVectors],
                                 const Scaled (&scaled)[kVectors], char* row, ptrdiff_t stride) {
  static_assert(kRows % 2 == 0);
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; r += 2) {
    I32 a[kVectors];
    I32 b[kVectors];
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      a[j] = scaled[j](acc[r][j]);
      b[j] = scaled[j](acc[r + 1][j]);
    }
    store.template Store<kVectors>(row + r * stride, row + (r + 1) * stride, a, b);
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_FINISH_PAIRS_H_
