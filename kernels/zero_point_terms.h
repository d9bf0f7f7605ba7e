// What zero points of the panel side add to accumulators (TileArgs::row_sums and row_terms).
#ifndef INTAGLIO_KERNELS_ZERO_POINT_TERMS_H_
#define INTAGLIO_KERNELS_ZERO_POINT_TERMS_H_

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/kernel.h"

namespace intaglio {

// acc += what they ask of kRows rows from `first` on.
template <class V, int kVectors, int kRows>
INTAGLIO_INLINE void AddZeroPointTerms(const TileArgs& args, const auto& params, int first,
                                       typename V::I32 (&acc)[kRows][kVectors]) {
  using I32 = typename V::I32;
  if (args.row_terms != nullptr) {
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const I32 term = V::Set(args.row_terms[first + r]);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) acc[r][j] = V::Add(acc[r][j], term);
    }
  }
  if (args.row_sums != nullptr) {
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const I32 row_sum = V::Set(args.row_sums[first + r]);
      INTAGLIO_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        const I32 zero_point = V::Load(params.negative_zero_point + j * V::kLanes);
        acc[r][j] = V::Add(acc[r][j], V::Mul(zero_point, row_sum));
      }
    }
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ZERO_POINT_TERMS_H_
