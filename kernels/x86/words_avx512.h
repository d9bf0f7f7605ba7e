// The int16 vocabulary of kernels/winograd/ in AVX-512.
#ifndef INTAGLIO_KERNELS_X86_WORDS_AVX512_H_
#define INTAGLIO_KERNELS_X86_WORDS_AVX512_H_

#include <cstdint>

#include "intaglio/kernels/x86/registers_avx512.h"
#include "intaglio/kernels/x86/winograd_x86.h"

namespace intaglio {

struct WordsAvx512 {
  static constexpr int k16Lanes = 32;
  using I16 = __m512i;

  static INTAGLIO_INLINE I16 Load16(const int16_t* p) { return _mm512_loadu_si512(p); }
  static INTAGLIO_INLINE void Store16(int16_t* p, I16 a) { _mm512_storeu_si512(p, a); }
  static INTAGLIO_INLINE I16 LoadBytes(const uint8_t* p, uint8_t flip) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return _mm512_cvtepi8_epi16(_mm256_xor_si256(bytes, _mm256_set1_epi8(static_cast<char>(flip))));
  }
  static INTAGLIO_INLINE I16 Add16(I16 a, I16 b) { return _mm512_add_epi16(a, b); }
  static INTAGLIO_INLINE I16 Sub16(I16 a, I16 b) { return _mm512_sub_epi16(a, b); }
  static INTAGLIO_INLINE I16 Set16(int16_t a) { return _mm512_set1_epi16(a); }
  static INTAGLIO_INLINE I16 MulLow16(I16 a, I16 b) { return _mm512_mullo_epi16(a, b); }
  template <int kCount>
  static INTAGLIO_INLINE I16 ShiftLeft16(I16 a) {
    return _mm512_slli_epi16(a, kCount);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_WORDS_AVX512_H_
