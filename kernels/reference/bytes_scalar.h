// Bytes of lines (kernels/elementwise/byte_elementwise.h), in scalar "vectors" of one lane.
#ifndef INTAGLIO_KERNELS_REFERENCE_BYTES_SCALAR_H_
#define INTAGLIO_KERNELS_REFERENCE_BYTES_SCALAR_H_

#include <algorithm>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

struct BytesScalar {
  template <int kVectors>
  static INTAGLIO_INLINE void Widen(const uint8_t* p, uint8_t flip, int32_t* a) {
    for (int j = 0; j < kVectors; ++j) a[j] = p[j] ^ flip;
  }
  template <int kVectors, class T>
  static INTAGLIO_INLINE void LoadInOrder(const T* p, int32_t* a) {
    for (int j = 0; j < kVectors; ++j) a[j] = p[j];
  }
  template <int kVectors>
  static INTAGLIO_INLINE void WidenPairs(const uint8_t* a, const uint8_t* b, uint8_t flip,
                                         int32_t* pairs) {
    for (int j = 0; j < kVectors; ++j) pairs[j] = (a[j] ^ flip) | (b[j] ^ flip) << 16;
  }
  template <class Words>
  static INTAGLIO_INLINE int LeastWord(Words words) {
    int least = words[0];
    for (int i = 1; i < 8; ++i) least = std::min<int>(least, words[i]);
    return least;
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_REFERENCE_BYTES_SCALAR_H_
