// AVX2's operations on vectors of bytes, which taps (taps.h) and element-wise routines (bytes.h,
// kernels/elementwise/blend_bytes.h) take.
#ifndef INTAGLIO_KERNELS_X86_BYTE_OPERATIONS_AVX2_H_
#define INTAGLIO_KERNELS_X86_BYTE_OPERATIONS_AVX2_H_

#include <cstdint>

#include "intaglio/kernels/x86/registers_avx2.h"

namespace intaglio {

struct ByteOperationsAvx2 : Avx2 {
  using Operand = __m256i;

  template <int kVectors>
  static INTAGLIO_INLINE Operand LoadSpread(const uint8_t* p) {
    if constexpr (kVectors == 2) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      return _mm256_permute4x64_epi64(_mm256_castsi128_si256(bytes), 0b01010000);
    } else {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
      return _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(bytes),
                                         _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1));
    }
  }
  static INTAGLIO_INLINE Operand Broadcast8(uint8_t byte) {
    return _mm256_set1_epi8(static_cast<char>(byte));
  }
  static INTAGLIO_INLINE Operand DotBytes(Operand a, Operand b) {
    return _mm256_maddubs_epi16(a, b);
  }
  template <bool kSigned>
  static INTAGLIO_INLINE Operand PackBytes(Operand a, Operand b) {
    return kSigned ? _mm256_packs_epi16(a, b) : _mm256_packus_epi16(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackLow8(Operand a, Operand b) {
    return _mm256_unpacklo_epi8(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackHigh8(Operand a, Operand b) {
    return _mm256_unpackhi_epi8(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackLow16(Operand a, Operand b) {
    return _mm256_unpacklo_epi16(a, b);
  }
  static INTAGLIO_INLINE Operand UnpackHigh16(Operand a, Operand b) {
    return _mm256_unpackhi_epi16(a, b);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_BYTE_OPERATIONS_AVX2_H_
