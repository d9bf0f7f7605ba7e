// The register vocabulary of AVX-512 (F, BW, DQ, VL): sixteen lanes. What each operation means is
// said at Scalar.
#ifndef INTAGLIO_KERNELS_X86_REGISTERS_AVX512_H_
#define INTAGLIO_KERNELS_X86_REGISTERS_AVX512_H_

#include <cstdint>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"

namespace intaglio {

struct Avx512 {
  static constexpr int kLanes = 16;
  static constexpr bool kRoundsBelowToLowest = true;
  using I32 = __m512i;
  using F32 = __m512;
  struct I64 {
    __m512i even;  // of lanes 0, 2, .. 14
    __m512i odd;   // of lanes 1, 3, .. 15
  };

  static INTAGLIO_INLINE I32 Load(const int32_t* p) { return _mm512_loadu_si512(p); }
  static INTAGLIO_INLINE void Store(int32_t* p, I32 a) { _mm512_storeu_si512(p, a); }
  static INTAGLIO_INLINE I32 Load(const int8_t* p) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static INTAGLIO_INLINE I32 Load(const uint8_t* p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static INTAGLIO_INLINE I32 Set(int32_t a) { return _mm512_set1_epi32(a); }
  static INTAGLIO_INLINE F32 LoadF(const float* p) { return _mm512_loadu_ps(p); }
  static INTAGLIO_INLINE void StoreF(float* p, F32 a) { _mm512_storeu_ps(p, a); }
  static INTAGLIO_INLINE F32 SetF(float a) { return _mm512_set1_ps(a); }

  static INTAGLIO_INLINE I32 Add(I32 a, I32 b) { return _mm512_add_epi32(a, b); }
  static INTAGLIO_INLINE I32 Sub(I32 a, I32 b) { return _mm512_sub_epi32(a, b); }
  static INTAGLIO_INLINE I32 Mul(I32 a, I32 b) { return _mm512_mullo_epi32(a, b); }
  static INTAGLIO_INLINE I32 DotPairs(I32 a, I32 b) { return _mm512_madd_epi16(a, b); }
  static INTAGLIO_INLINE I32 And(I32 a, I32 b) { return _mm512_and_si512(a, b); }
  static INTAGLIO_INLINE I32 Or(I32 a, I32 b) { return _mm512_or_si512(a, b); }
  static INTAGLIO_INLINE I32 Xor(I32 a, I32 b) { return _mm512_xor_si512(a, b); }
  static INTAGLIO_INLINE I32 Min(I32 a, I32 b) { return _mm512_min_epi32(a, b); }
  static INTAGLIO_INLINE I32 Max(I32 a, I32 b) { return _mm512_max_epi32(a, b); }
  static INTAGLIO_INLINE I32 Greater(I32 a, I32 b) {
    return _mm512_movm_epi32(_mm512_cmpgt_epi32_mask(a, b));
  }
  static INTAGLIO_INLINE I32 Equal(I32 a, I32 b) {
    return _mm512_movm_epi32(_mm512_cmpeq_epi32_mask(a, b));
  }
  static INTAGLIO_INLINE I32 Select(I32 mask, I32 a, I32 b) {
    return _mm512_ternarylogic_epi32(mask, a, b, 0xca);  // mask ? a : b, bit by bit
  }

  static INTAGLIO_INLINE I32 ShiftLeft(I32 a, I32 count) { return _mm512_sllv_epi32(a, count); }
  static INTAGLIO_INLINE I32 ShiftRight(I32 a, I32 count) { return _mm512_srav_epi32(a, count); }
  static INTAGLIO_INLINE I32 ShiftRightLogical(I32 a, I32 count) {
    return _mm512_srlv_epi32(a, count);
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 ShiftLeft(I32 a) {
    return _mm512_slli_epi32(a, kCount);
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 ShiftRight(I32 a) {
    return _mm512_srai_epi32(a, kCount);
  }

  static INTAGLIO_INLINE I64 MulWide(I32 a, I32 b) {
    return {_mm512_mul_epi32(a, b), _mm512_mul_epi32(OddToEven(a), OddToEven(b))};
  }
  static INTAGLIO_INLINE I64 AddWide(I64 a, I64 b) {
    return {_mm512_add_epi64(a.even, b.even), _mm512_add_epi64(a.odd, b.odd)};
  }
  static INTAGLIO_INLINE I64 SetWide(int64_t a) {
    return {_mm512_set1_epi64(a), _mm512_set1_epi64(a)};
  }
  static INTAGLIO_INLINE I64 JoinWide(I32 high, I32 low) {
    return {Interleave(low, _mm512_slli_epi64(high, 32)),
            Interleave(_mm512_srli_epi64(low, 32), high)};
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 NarrowShift(I64 a) {
    if constexpr (kCount == 32) {
      // One merging shuffle, which leaves port 0 to the shifts and multiplications around it.
      return _mm512_mask_shuffle_epi32(a.odd, kEvenLanes, a.even, _MM_PERM_DDBB);
    } else {
      return Interleave(_mm512_srli_epi64(a.even, kCount), _mm512_slli_epi64(a.odd, 32 - kCount));
    }
  }
  static INTAGLIO_INLINE I32 NarrowShift(I64 a, I32 count) {
    const I32 even = _mm512_srav_epi64(a.even, _mm512_maskz_mov_epi32(kEvenLanes, count));
    const I32 odd = _mm512_srav_epi64(a.odd, _mm512_srli_epi64(count, 32));
    return Interleave(even, _mm512_slli_epi64(odd, 32));
  }
  static INTAGLIO_INLINE I64 PowerOfTwoWide(I32 count) {
    const __m512i one = _mm512_set1_epi64(1);
    return {_mm512_sllv_epi64(one, _mm512_maskz_mov_epi32(kEvenLanes, count)),
            _mm512_sllv_epi64(one, _mm512_srli_epi64(count, 32))};
  }

  static INTAGLIO_INLINE F32 ToFloat(I32 a) { return _mm512_cvtepi32_ps(a); }
  static INTAGLIO_INLINE I32 RoundToInt(F32 a) { return _mm512_cvtps_epi32(a); }
  static INTAGLIO_INLINE I32 TruncateToInt(F32 a) { return _mm512_cvttps_epi32(a); }
  static INTAGLIO_INLINE F32 FloatOfBits(I32 a) { return _mm512_castsi512_ps(a); }
  static INTAGLIO_INLINE F32 MulF(F32 a, F32 b) { return _mm512_mul_ps(a, b); }
  static INTAGLIO_INLINE F32 AddF(F32 a, F32 b) { return _mm512_add_ps(a, b); }
  static INTAGLIO_INLINE F32 FusedMulAdd(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a, b, c); }
  static INTAGLIO_INLINE F32 MinF(F32 a, F32 b) { return _mm512_min_ps(a, b); }
  static INTAGLIO_INLINE F32 MaxF(F32 a, F32 b) { return _mm512_max_ps(a, b); }

  // The bytes of four vectors that were packed by two and two: the packs leave four bytes of each
  // vector together in each 128-bit lane.
  static INTAGLIO_INLINE __m512i InOrder(__m512i packed) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, packed);
  }

  // Writes kStoredTogether vectors as neighbouring bytes, saturated.
  static constexpr int kStoredTogether = 4;
  static INTAGLIO_INLINE void StoreSaturated(int8_t* p, const I32* a) {
    const __m512i words = _mm512_packs_epi32(a[0], a[1]);
    const __m512i bytes = _mm512_packs_epi16(words, _mm512_packs_epi32(a[2], a[3]));
    _mm512_storeu_si512(p, InOrder(bytes));
  }
  static INTAGLIO_INLINE void StoreSaturated(uint8_t* p, const I32* a) {
    const __m512i words = _mm512_packs_epi32(a[0], a[1]);
    const __m512i bytes = _mm512_packus_epi16(words, _mm512_packs_epi32(a[2], a[3]));
    _mm512_storeu_si512(p, InOrder(bytes));
  }
  // Writes one.
  static INTAGLIO_INLINE void StoreSaturated(int8_t* p, I32 a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(a));
  }
  static INTAGLIO_INLINE void StoreSaturated(uint8_t* p, I32 a) {
    const __m512i positive = _mm512_max_epi32(a, _mm512_setzero_si512());
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtusepi32_epi8(positive));
  }

  static constexpr int k16Lanes = 32;
  using I16 = __m512i;
  static INTAGLIO_INLINE I16 Load16(const int16_t* p) { return _mm512_loadu_si512(p); }
  static INTAGLIO_INLINE void Store16(int16_t* p, I16 a) { _mm512_storeu_si512(p, a); }
  static INTAGLIO_INLINE I16 Set16(int16_t a) { return _mm512_set1_epi16(a); }
  static INTAGLIO_INLINE I16 SaturatingAdd16(I16 a, I16 b) { return _mm512_adds_epi16(a, b); }
  static INTAGLIO_INLINE I16 SaturatingSub16(I16 a, I16 b) { return _mm512_subs_epi16(a, b); }
  static INTAGLIO_INLINE I16 SaturatingRoundingDoublingHighMul16(I16 a, I16 b) {
    // The instruction wraps -2^15 * -2^15 to -2^15, which it gives for nothing else.
    const __m512i y = _mm512_mulhrs_epi16(a, b);
    return _mm512_mask_mov_epi16(y, _mm512_cmpeq_epi16_mask(y, Set16(-32768)), Set16(32767));
  }

 private:
  // Lanes 1, 3, .. to lanes 0, 2, .. too. By a shuffle: from a 64-bit shift of a loop invariant
  // clang 14 makes an emulated 64-bit multiplication, and 512-bit shifts have but one port.
  static INTAGLIO_INLINE __m512i OddToEven(__m512i a) {
    return _mm512_shuffle_epi32(a, _MM_PERM_DDBB);
  }
  static constexpr __mmask16 kEvenLanes = 0x5555;
  // Even lanes of even, odd lanes of odd.
  static INTAGLIO_INLINE __m512i Interleave(__m512i even, __m512i odd) {
    return _mm512_mask_mov_epi32(odd, kEvenLanes, even);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_REGISTERS_AVX512_H_
