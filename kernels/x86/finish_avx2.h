// The stores of AVX2 that kernels/tile/finish.h asks for.
#ifndef INTAGLIO_KERNELS_X86_FINISH_AVX2_H_
#define INTAGLIO_KERNELS_X86_FINISH_AVX2_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/kernels/x86/byte_operations_avx2.h"

namespace intaglio {

struct FinishAvx2 : ByteOperationsAvx2 {
  static INTAGLIO_INLINE I32 FloatBits(F32 a) { return _mm256_castps_si256(a); }

  static INTAGLIO_INLINE void StoreRuns(int32_t* p, ptrdiff_t step, I32 a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(a));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p + step), _mm256_extracti128_si256(a, 1));
  }

  template <int kVectors>
  static INTAGLIO_INLINE void StoreInt16(int16_t* p, const I32* a) {
    if constexpr (kVectors == 2) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_packs_epi32(a[0], a[1]));
    } else {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), Pack(a[0]));
    }
  }

  template <int kVectors, bool kSigned>
  static INTAGLIO_INLINE void StoreBytes(void* p, const I32* a, int32_t zero_point, int32_t min,
                                         int32_t max) {
    __m128i low;
    __m128i high;
    if constexpr (kVectors == 2) {
      const __m256i zp = _mm256_set1_epi16(static_cast<int16_t>(zero_point));
      const __m256i sum = _mm256_adds_epi16(_mm256_packs_epi32(a[0], a[1]), zp);
      low = _mm256_castsi256_si128(sum);
      high = _mm256_extracti128_si256(sum, 1);
    } else {
      low = _mm_adds_epi16(Pack(a[0]), _mm_set1_epi16(static_cast<int16_t>(zero_point)));
      high = low;
    }
    __m128i bytes;
    if constexpr (kSigned) {
      bytes = _mm_packs_epi16(low, high);
      bytes = _mm_max_epi8(bytes, _mm_set1_epi8(static_cast<char>(min)));
      bytes = _mm_min_epi8(bytes, _mm_set1_epi8(static_cast<char>(max)));
    } else {
      bytes = _mm_packus_epi16(low, high);
      bytes = _mm_max_epu8(bytes, _mm_set1_epi8(static_cast<char>(min)));
      bytes = _mm_min_epu8(bytes, _mm_set1_epi8(static_cast<char>(max)));
    }
    if constexpr (kVectors == 2) {
      _mm_storeu_si128(static_cast<__m128i*>(p), bytes);
    } else {
      _mm_storel_epi64(static_cast<__m128i*>(p), bytes);
    }
  }

 private:
  static INTAGLIO_INLINE __m128i Pack(I32 a) {
    return _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_FINISH_AVX2_H_
