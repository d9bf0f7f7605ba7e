// The byte shuffles of kernels/tile/fill_panel.h in one block.
#ifndef INTAGLIO_KERNELS_X86_SHUFFLES_SSE41_H_
#define INTAGLIO_KERNELS_X86_SHUFFLES_SSE41_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"

namespace intaglio {

struct ShufflesSse41 {
  static constexpr int kBlocks = 1;
  using Bytes = __m128i;

  static INTAGLIO_INLINE Bytes LoadBlocks(const uint8_t* p, ptrdiff_t) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static INTAGLIO_INLINE void Store(int8_t* p, Bytes a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), a);
  }
  static INTAGLIO_INLINE void StoreHalves(int8_t* p, ptrdiff_t apart, Bytes a) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), a);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p + apart), _mm_unpackhi_epi64(a, a));
  }
  static INTAGLIO_INLINE Bytes Set(uint8_t a) { return _mm_set1_epi8(static_cast<char>(a)); }
  static INTAGLIO_INLINE Bytes FlipKeep(Bytes a, Bytes flip, Bytes keep) {
    return _mm_and_si128(_mm_xor_si128(a, flip), keep);
  }
  template <int kBits>
  static INTAGLIO_INLINE Bytes InterleaveLow(Bytes a, Bytes b) {
    if constexpr (kBits == 8) {
      return _mm_unpacklo_epi8(a, b);
    } else if constexpr (kBits == 16) {
      return _mm_unpacklo_epi16(a, b);
    } else if constexpr (kBits == 32) {
      return _mm_unpacklo_epi32(a, b);
    } else {
      return _mm_unpacklo_epi64(a, b);
    }
  }
  template <int kBits>
  static INTAGLIO_INLINE Bytes InterleaveHigh(Bytes a, Bytes b) {
    if constexpr (kBits == 8) {
      return _mm_unpackhi_epi8(a, b);
    } else if constexpr (kBits == 16) {
      return _mm_unpackhi_epi16(a, b);
    } else if constexpr (kBits == 32) {
      return _mm_unpackhi_epi32(a, b);
    } else {
      return _mm_unpackhi_epi64(a, b);
    }
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_SHUFFLES_SSE41_H_
