// Bytes packed lane by lane, put in order.
#ifndef INTAGLIO_KERNELS_X86_ORDER_AVX512_H_
#define INTAGLIO_KERNELS_X86_ORDER_AVX512_H_

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"

namespace intaglio {

// Of four vectors of int32, packed by two and two, four numbers of each lie together in each lane.
INTAGLIO_INLINE __m512i InOrder(__m512i packed) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(order, packed);
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_ORDER_AVX512_H_
