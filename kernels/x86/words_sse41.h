// The int16 vocabulary of kernels/winograd/ in SSE4.1.
#ifndef INTAGLIO_KERNELS_X86_WORDS_SSE41_H_
#define INTAGLIO_KERNELS_X86_WORDS_SSE41_H_

#include <cstdint>

#include "intaglio/kernels/x86/registers_sse41.h"
#include "intaglio/kernels/x86/winograd_x86.h"

namespace intaglio {

struct WordsSse41 : Sse41 {
  static INTAGLIO_INLINE I16 LoadBytes(const uint8_t* p, uint8_t flip) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return _mm_cvtepi8_epi16(_mm_xor_si128(bytes, _mm_set1_epi8(static_cast<char>(flip))));
  }
  static INTAGLIO_INLINE I16 Add16(I16 a, I16 b) { return _mm_add_epi16(a, b); }
  static INTAGLIO_INLINE I16 Sub16(I16 a, I16 b) { return _mm_sub_epi16(a, b); }
  static INTAGLIO_INLINE I16 MulLow16(I16 a, I16 b) { return _mm_mullo_epi16(a, b); }
  template <int kCount>
  static INTAGLIO_INLINE I16 ShiftLeft16(I16 a) {
    return _mm_slli_epi16(a, kCount);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_WORDS_SSE41_H_
