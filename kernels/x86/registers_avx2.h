// The register vocabulary of AVX2 and FMA: eight lanes. What each operation means is said at
// Scalar.
#ifndef INTAGLIO_KERNELS_X86_REGISTERS_AVX2_H_
#define INTAGLIO_KERNELS_X86_REGISTERS_AVX2_H_

#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"

namespace intaglio {

struct Avx2 {
  static constexpr int kLanes = 8;
  static constexpr bool kRoundsBelowToLowest = true;
  using I32 = __m256i;
  using F32 = __m256;
  struct I64 {
    __m256i even;  // of lanes 0, 2, 4, 6
    __m256i odd;   // of lanes 1, 3, 5, 7
  };

  static INTAGLIO_INLINE I32 Load(const int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static INTAGLIO_INLINE void Store(int32_t* p, I32 a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a);
  }
  static INTAGLIO_INLINE I32 Load(const int8_t* p) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  static INTAGLIO_INLINE I32 Load(const uint8_t* p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  static INTAGLIO_INLINE I32 Set(int32_t a) { return _mm256_set1_epi32(a); }
  static INTAGLIO_INLINE F32 LoadF(const float* p) { return _mm256_loadu_ps(p); }
  static INTAGLIO_INLINE void StoreF(float* p, F32 a) { _mm256_storeu_ps(p, a); }
  static INTAGLIO_INLINE F32 SetF(float a) { return _mm256_set1_ps(a); }

  static INTAGLIO_INLINE I32 Add(I32 a, I32 b) { return _mm256_add_epi32(a, b); }
  static INTAGLIO_INLINE I32 Sub(I32 a, I32 b) { return _mm256_sub_epi32(a, b); }
  static INTAGLIO_INLINE I32 Mul(I32 a, I32 b) { return _mm256_mullo_epi32(a, b); }
  static INTAGLIO_INLINE I32 DotPairs(I32 a, I32 b) { return _mm256_madd_epi16(a, b); }
  static INTAGLIO_INLINE I32 And(I32 a, I32 b) { return _mm256_and_si256(a, b); }
  static INTAGLIO_INLINE I32 Or(I32 a, I32 b) { return _mm256_or_si256(a, b); }
  static INTAGLIO_INLINE I32 Xor(I32 a, I32 b) { return _mm256_xor_si256(a, b); }
  static INTAGLIO_INLINE I32 Min(I32 a, I32 b) { return _mm256_min_epi32(a, b); }
  static INTAGLIO_INLINE I32 Max(I32 a, I32 b) { return _mm256_max_epi32(a, b); }
  static INTAGLIO_INLINE I32 Greater(I32 a, I32 b) { return _mm256_cmpgt_epi32(a, b); }
  static INTAGLIO_INLINE I32 Equal(I32 a, I32 b) { return _mm256_cmpeq_epi32(a, b); }
  static INTAGLIO_INLINE I32 Select(I32 mask, I32 a, I32 b) {
    return _mm256_blendv_epi8(b, a, mask);
  }

  static INTAGLIO_INLINE I32 ShiftLeft(I32 a, I32 count) { return _mm256_sllv_epi32(a, count); }
  static INTAGLIO_INLINE I32 ShiftRight(I32 a, I32 count) { return _mm256_srav_epi32(a, count); }
  static INTAGLIO_INLINE I32 ShiftRightLogical(I32 a, I32 count) {
    return _mm256_srlv_epi32(a, count);
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 ShiftLeft(I32 a) {
    return _mm256_slli_epi32(a, kCount);
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 ShiftRight(I32 a) {
    return _mm256_srai_epi32(a, kCount);
  }

  static INTAGLIO_INLINE I64 MulWide(I32 a, I32 b) {
    return {_mm256_mul_epi32(a, b), _mm256_mul_epi32(OddToEven(a), OddToEven(b))};
  }
  static INTAGLIO_INLINE I64 AddWide(I64 a, I64 b) {
    return {_mm256_add_epi64(a.even, b.even), _mm256_add_epi64(a.odd, b.odd)};
  }
  static INTAGLIO_INLINE I64 SetWide(int64_t a) {
    return {_mm256_set1_epi64x(a), _mm256_set1_epi64x(a)};
  }
  static INTAGLIO_INLINE I64 JoinWide(I32 high, I32 low) {
    return {Interleave(low, _mm256_slli_epi64(high, 32)),
            Interleave(_mm256_srli_epi64(low, 32), high)};
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 NarrowShift(I64 a) {
    if constexpr (kCount == 32) return HighHalves(a);
    return Interleave(_mm256_srli_epi64(a.even, kCount), _mm256_slli_epi64(a.odd, 32 - kCount));
  }
  static INTAGLIO_INLINE I32 NarrowShift(I64 a, I32 count) {
    // There is no arithmetic shift of 64-bit lanes. A logical one gives the right low half for
    // counts up to 32, and for the others the quotient is one of the high half alone. The 32-bit
    // shift sees a count beyond 31 where it is not the one wanted.
    const I32 small =
        Interleave(_mm256_srlv_epi64(a.even, _mm256_and_si256(count, EvenMask())),
                   _mm256_slli_epi64(_mm256_srlv_epi64(a.odd, _mm256_srli_epi64(count, 32)), 32));
    const I32 large = _mm256_srav_epi32(HighHalves(a), Sub(count, Set(32)));
    return Select(Greater(count, Set(31)), large, small);
  }
  static INTAGLIO_INLINE I64 PowerOfTwoWide(I32 count) {
    const __m256i one = _mm256_set1_epi64x(1);
    return {_mm256_sllv_epi64(one, _mm256_and_si256(count, EvenMask())),
            _mm256_sllv_epi64(one, _mm256_srli_epi64(count, 32))};
  }

  static INTAGLIO_INLINE F32 ToFloat(I32 a) { return _mm256_cvtepi32_ps(a); }
  static INTAGLIO_INLINE I32 RoundToInt(F32 a) { return _mm256_cvtps_epi32(a); }
  static INTAGLIO_INLINE I32 TruncateToInt(F32 a) { return _mm256_cvttps_epi32(a); }
  static INTAGLIO_INLINE F32 FloatOfBits(I32 a) { return _mm256_castsi256_ps(a); }
  static INTAGLIO_INLINE F32 MulF(F32 a, F32 b) { return _mm256_mul_ps(a, b); }
  static INTAGLIO_INLINE F32 AddF(F32 a, F32 b) { return _mm256_add_ps(a, b); }
  static INTAGLIO_INLINE F32 FusedMulAdd(F32 a, F32 b, F32 c) { return _mm256_fmadd_ps(a, b, c); }
  static INTAGLIO_INLINE F32 MinF(F32 a, F32 b) { return _mm256_min_ps(a, b); }
  static INTAGLIO_INLINE F32 MaxF(F32 a, F32 b) { return _mm256_max_ps(a, b); }

  // Writes kStoredTogether vectors as neighbouring bytes, saturated.
  static constexpr int kStoredTogether = 2;
  static INTAGLIO_INLINE void StoreSaturated(int8_t* p, const I32* a) {
    const __m256i words = WordsInOrder(a);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(p),
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  }
  static INTAGLIO_INLINE void StoreSaturated(uint8_t* p, const I32* a) {
    const __m256i words = WordsInOrder(a);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(p),
        _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  }

  static constexpr int k16Lanes = 16;
  using I16 = __m256i;
  static INTAGLIO_INLINE I16 Load16(const int16_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static INTAGLIO_INLINE void Store16(int16_t* p, I16 a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a);
  }
  static INTAGLIO_INLINE I16 Set16(int16_t a) { return _mm256_set1_epi16(a); }
  static INTAGLIO_INLINE I16 SaturatingAdd16(I16 a, I16 b) { return _mm256_adds_epi16(a, b); }
  static INTAGLIO_INLINE I16 SaturatingSub16(I16 a, I16 b) { return _mm256_subs_epi16(a, b); }
  static INTAGLIO_INLINE I16 SaturatingRoundingDoublingHighMul16(I16 a, I16 b) {
    // The instruction wraps -2^15 * -2^15 to -2^15, which it gives for nothing else.
    const __m256i y = _mm256_mulhrs_epi16(a, b);
    return _mm256_xor_si256(y, _mm256_cmpeq_epi16(y, Set16(-32768)));
  }

 private:
  // Two vectors as int16, saturated.
  static INTAGLIO_INLINE __m256i WordsInOrder(const I32* a) {
    return _mm256_permute4x64_epi64(_mm256_packs_epi32(a[0], a[1]), 0b11011000);
  }
  // Lanes 1, 3, .. to lanes 0, 2, .. too. By a shuffle: from a 64-bit shift of a loop invariant
  // clang 14 makes an emulated 64-bit multiplication.
  static INTAGLIO_INLINE __m256i OddToEven(__m256i a) {
    return _mm256_shuffle_epi32(a, _MM_SHUFFLE(3, 3, 1, 1));
  }
  static INTAGLIO_INLINE __m256i EvenMask() { return _mm256_set1_epi64x(0xffffffff); }
  // Even lanes of even, odd lanes of odd.
  static INTAGLIO_INLINE __m256i Interleave(__m256i even, __m256i odd) {
    return _mm256_blend_epi32(even, odd, 0xaa);
  }
  static INTAGLIO_INLINE __m256i HighHalves(I64 a) { return Interleave(OddToEven(a.even), a.odd); }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_REGISTERS_AVX2_H_
