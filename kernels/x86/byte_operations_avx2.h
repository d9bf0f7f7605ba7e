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
  // Two vectors: each 128 bits get eight bytes of a and the same ones of b. One vector: all of
  // each.
  template <int kVectors>
  static INTAGLIO_INLINE Operand JoinRows(const uint8_t* a, const uint8_t* b) {
    if constexpr (kVectors == 2) {
      const auto twice = [](const uint8_t* p) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        return _mm256_castsi256_pd(_mm256_broadcastsi128_si256(bytes));
      };
      return _mm256_castpd_si256(_mm256_shuffle_pd(twice(a), twice(b), 0b1100));
    } else {
      const auto repeated = [](const uint8_t* p) {
        return _mm256_broadcastq_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
      };
      return _mm256_unpacklo_epi64(repeated(a), repeated(b));
    }
  }
  // Vector j of theirs as int16: the pairs of four channels in each 128 bits.
  template <int kVectors>
  static INTAGLIO_INLINE Operand PairsOf(Operand joined, int j) {
    // Bytes 0 to 3 and 8 to 11 of 128 bits, or the four after each.
    constexpr int64_t kLow[2] = {0x0009'0001'0008'0000 | kZeros, 0x000b'0003'000a'0002 | kZeros};
    constexpr int64_t kHigh[2] = {0x000d'0005'000c'0004 | kZeros, 0x000f'0007'000e'0006 | kZeros};
    const auto& first = j == 0 ? kLow : kHigh;
    const auto& second = kVectors == 2 && j == 0 ? kLow : kHigh;
    return _mm256_shuffle_epi8(joined,
                               _mm256_setr_epi64x(first[0], first[1], second[0], second[1]));
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

 private:
  static constexpr int64_t kZeros = static_cast<int64_t>(0x8000'8000'8000'8000);
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_BYTE_OPERATIONS_AVX2_H_
