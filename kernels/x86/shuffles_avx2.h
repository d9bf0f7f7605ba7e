// The byte shuffles of kernels/tile/fill_panel.h in two blocks.
#ifndef INTAGLIO_KERNELS_X86_SHUFFLES_AVX2_H_
#define INTAGLIO_KERNELS_X86_SHUFFLES_AVX2_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"

namespace intaglio {

struct ShufflesAvx2 {
  static constexpr int kBlocks = 2;
  using Bytes = __m256i;

  static INTAGLIO_INLINE Bytes LoadBlocks(const uint8_t* p, ptrdiff_t apart) {
    return _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(p + apart),
                               reinterpret_cast<const __m128i*>(p));
  }
  static INTAGLIO_INLINE void Store(int8_t* p, Bytes a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a);
  }
  static INTAGLIO_INLINE void StoreHalves(int8_t* p, ptrdiff_t apart, Bytes a) {
    a = _mm256_permute4x64_epi64(a, _MM_SHUFFLE(3, 1, 2, 0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(a));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + apart), _mm256_extracti128_si256(a, 1));
  }
  static INTAGLIO_INLINE Bytes Set(uint8_t a) { return _mm256_set1_epi8(static_cast<char>(a)); }
  static INTAGLIO_INLINE Bytes FlipKeep(Bytes a, Bytes flip, Bytes keep) {
    return _mm256_and_si256(_mm256_xor_si256(a, flip), keep);
  }
  template <int kBits>
  static INTAGLIO_INLINE Bytes InterleaveLow(Bytes a, Bytes b) {
    if constexpr (kBits == 8) {
      return _mm256_unpacklo_epi8(a, b);
    } else if constexpr (kBits == 16) {
      return _mm256_unpacklo_epi16(a, b);
    } else if constexpr (kBits == 32) {
      return _mm256_unpacklo_epi32(a, b);
    } else {
      return _mm256_unpacklo_epi64(a, b);
    }
  }
  template <int kBits>
  static INTAGLIO_INLINE Bytes InterleaveHigh(Bytes a, Bytes b) {
    if constexpr (kBits == 8) {
      return _mm256_unpackhi_epi8(a, b);
    } else if constexpr (kBits == 16) {
      return _mm256_unpackhi_epi16(a, b);
    } else if constexpr (kBits == 32) {
      return _mm256_unpackhi_epi32(a, b);
    } else {
      return _mm256_unpackhi_epi64(a, b);
    }
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_SHUFFLES_AVX2_H_
