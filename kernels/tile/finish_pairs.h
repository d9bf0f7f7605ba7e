// The epilogue of whole tiles, in registers: for a kernel vocabulary V that has, beside what
// finish.h names,
//   ByteStore<kMoves>(const EpilogueParams&)             StoreBytes for either signedness and two
//                                                        rows; kMoves: adds the zero point
//     .Store<kVectors>(char*, char*, const I32*, const I32*)   its constants made once
#ifndef INTAGLIO_KERNELS_TILE_FINISH_PAIRS_H_
#define INTAGLIO_KERNELS_TILE_FINISH_PAIRS_H_

#include <cstddef>

#include "intaglio/kernels/tile/epilogue.h"
#include "intaglio/kernels/tile/with_form.h"

namespace intaglio {

template <class V>
inline constexpr bool kStoresPairs = requires {
  typename V::template ByteStore<true>;
};

// What stores the rows of panels that are scaled by Form.
template <class V, class Form>
using ByteStoreOf = typename V::template ByteStore<!HoldsZeroPoint(Form::kForm)>;

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

#endif  // INTAGLIO_KERNELS_TILE_FINISH_PAIRS_H_
