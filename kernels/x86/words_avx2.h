// The int16 vocabulary of kernels/winograd/ in AVX2.
#ifndef INTAGLIO_KERNELS_X86_WORDS_AVX2_H_
#define INTAGLIO_KERNELS_X86_WORDS_AVX2_H_

#include <cstdint>

#include "intaglio/kernels/x86/registers_avx2.h"
#include "intaglio/kernels/x86/winograd_x86.h"

namespace intaglio {

struct WordsAvx2 : Avx2 {
  static INTAGLIO_INLINE I16 LoadBytes(const uint8_t* p, uint8_t flip) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm256_cvtepi8_epi16(_mm_xor_si128(bytes, _mm_set1_epi8(static_cast<char>(flip))));
  }
  static INTAGLIO_INLINE I16 Add16(I16 a, I16 b) { return _mm256_add_epi16(a, b); }
  static INTAGLIO_INLINE I16 Sub16(I16 a, I16 b) { return _mm256_sub_epi16(a, b); }
  static INTAGLIO_INLINE I16 MulLow16(I16 a, I16 b) { return _mm256_mullo_epi16(a, b); }
  template <int kCount>
  static INTAGLIO_INLINE I16 ShiftLeft16(I16 a) {
    return _mm256_slli_epi16(a, kCount);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_WORDS_AVX2_H_
