// The byte shuffles of kernels/tile/fill_panel.h in four blocks.
#ifndef INTAGLIO_KERNELS_X86_SHUFFLES_AVX512_H_
#define INTAGLIO_KERNELS_X86_SHUFFLES_AVX512_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"

namespace intaglio {

struct ShufflesAvx512 {
  static constexpr int kBlocks = 4;
  using Bytes = __m512i;

  static INTAGLIO_INLINE Bytes LoadBlocks(const uint8_t* p, ptrdiff_t apart) {
    __m512i a = _mm512_castsi128_si512(LoadBlock(p));
    a = _mm512_inserti32x4(a, LoadBlock(p + apart), 1);
    a = _mm512_inserti32x4(a, LoadBlock(p + 2 * apart), 2);
    return _mm512_inserti32x4(a, LoadBlock(p + 3 * apart), 3);
  }
  static INTAGLIO_INLINE void Store(int8_t* p, Bytes a) { _mm512_storeu_si512(p, a); }
  static INTAGLIO_INLINE void StoreHalves(int8_t* p, ptrdiff_t apart, Bytes a) {
    a = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), a);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_castsi512_si256(a));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + apart), _mm512_extracti64x4_epi64(a, 1));
  }
  static INTAGLIO_INLINE Bytes Set(uint8_t a) { return _mm512_set1_epi8(static_cast<char>(a)); }
  static INTAGLIO_INLINE Bytes FlipKeep(Bytes a, Bytes flip, Bytes keep) {
    return _mm512_ternarylogic_epi64(a, flip, keep, 0x28);
  }
  template <int kBits>
  static INTAGLIO_INLINE Bytes InterleaveLow(Bytes a, Bytes b) {
    if constexpr (kBits == 8) {
      return _mm512_unpacklo_epi8(a, b);
    } else if constexpr (kBits == 16) {
      return _mm512_unpacklo_epi16(a, b);
    } else if constexpr (kBits == 32) {
      return _mm512_unpacklo_epi32(a, b);
    } else {
      return _mm512_unpacklo_epi64(a, b);
    }
  }
  template <int kBits>
  static INTAGLIO_INLINE Bytes InterleaveHigh(Bytes a, Bytes b) {
    if constexpr (kBits == 8) {
      return _mm512_unpackhi_epi8(a, b);
    } else if constexpr (kBits == 16) {
      return _mm512_unpackhi_epi16(a, b);
    } else if constexpr (kBits == 32) {
      return _mm512_unpackhi_epi32(a, b);
    } else {
      return _mm512_unpackhi_epi64(a, b);
    }
  }

 private:
  static INTAGLIO_INLINE __m128i LoadBlock(const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_SHUFFLES_AVX512_H_
