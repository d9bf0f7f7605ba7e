// Bytes widened to the lanes of x86 vectors, over a kernel vocabulary V as taps.h names it, whose
// Load widens bytes too.
#ifndef INTAGLIO_KERNELS_X86_BYTES_H_
#define INTAGLIO_KERNELS_X86_BYTES_H_

#include <bit>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"

namespace intaglio {

template <class V>
struct BytesX86 {
  template <int kVectors>
  static INTAGLIO_INLINE void Widen(const uint8_t* p, uint8_t flip, typename V::I32* a) {
    using Operand = typename V::Operand;
    const Operand zero = V::Broadcast8(0);
    const Operand bytes = V::Xor(V::template LoadSpread<kVectors>(p), V::Broadcast8(flip));
    const Operand low = V::UnpackLow8(bytes, zero);
    a[0] = V::UnpackLow16(low, zero);
    if constexpr (kVectors > 1) a[1] = V::UnpackHigh16(low, zero);
    if constexpr (kVectors > 2) {
      const Operand high = V::UnpackHigh8(bytes, zero);
      a[2] = V::UnpackLow16(high, zero);
      a[3] = V::UnpackHigh16(high, zero);
    }
  }

  template <int kVectors, class T>
  static INTAGLIO_INLINE void LoadInOrder(const T* p, typename V::I32* a) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) a[j] = V::Load(p + j * V::kLanes);
  }

  template <int kVectors>
  static INTAGLIO_INLINE void WidenPairs(const uint8_t* a, const uint8_t* b, uint8_t flip,
                                         typename V::I32* pairs) {
    using Operand = typename V::Operand;
    const Operand zero = V::Broadcast8(0);
    const Operand flips = V::Broadcast8(flip);
    const Operand x = V::Xor(V::template LoadSpread<kVectors>(a), flips);
    const Operand y = V::Xor(V::template LoadSpread<kVectors>(b), flips);
    const Operand low = V::UnpackLow8(x, y);
    pairs[0] = V::UnpackLow8(low, zero);
    if constexpr (kVectors > 1) pairs[1] = V::UnpackHigh8(low, zero);
    if constexpr (kVectors > 2) {
      const Operand high = V::UnpackHigh8(x, y);
      pairs[2] = V::UnpackLow8(high, zero);
      pairs[3] = V::UnpackHigh8(high, zero);
    }
  }

  template <class Words>
  static INTAGLIO_INLINE int LeastWord(Words words) {
    return _mm_cvtsi128_si32(_mm_minpos_epu16(std::bit_cast<__m128i>(words))) & 0xffff;
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_BYTES_H_
