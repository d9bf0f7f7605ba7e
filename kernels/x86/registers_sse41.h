// The register vocabulary of SSE4.1: four lanes. What each operation means is said at Scalar.
//
// SSE4.1 shifts all lanes by one count only; the shifts by per-lane counts are here to be correct,
// not to be fast.
#ifndef INTAGLIO_KERNELS_X86_REGISTERS_SSE41_H_
#define INTAGLIO_KERNELS_X86_REGISTERS_SSE41_H_

#include <cstdint>
#include <cstring>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"

namespace intaglio {

struct Sse41 {
  static constexpr int kLanes = 4;
  static constexpr bool kRoundsBelowToLowest = true;
  using I32 = __m128i;
  using F32 = __m128;
  struct I64 {
    __m128i even;  // of lanes 0 and 2
    __m128i odd;   // of lanes 1 and 3
  };

  static INTAGLIO_INLINE I32 Load(const int32_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static INTAGLIO_INLINE void Store(int32_t* p, I32 a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), a);
  }
  static INTAGLIO_INLINE I32 Load(const int8_t* p) { return _mm_cvtepi8_epi32(Four(p)); }
  static INTAGLIO_INLINE I32 Load(const uint8_t* p) { return _mm_cvtepu8_epi32(Four(p)); }
  static INTAGLIO_INLINE I32 Set(int32_t a) { return _mm_set1_epi32(a); }
  static INTAGLIO_INLINE F32 LoadF(const float* p) { return _mm_loadu_ps(p); }
  static INTAGLIO_INLINE void StoreF(float* p, F32 a) { _mm_storeu_ps(p, a); }
  static INTAGLIO_INLINE F32 SetF(float a) { return _mm_set1_ps(a); }

  static INTAGLIO_INLINE I32 Add(I32 a, I32 b) { return _mm_add_epi32(a, b); }
  static INTAGLIO_INLINE I32 Sub(I32 a, I32 b) { return _mm_sub_epi32(a, b); }
  static INTAGLIO_INLINE I32 Mul(I32 a, I32 b) { return _mm_mullo_epi32(a, b); }
  static INTAGLIO_INLINE I32 DotPairs(I32 a, I32 b) { return _mm_madd_epi16(a, b); }
  static INTAGLIO_INLINE I32 And(I32 a, I32 b) { return _mm_and_si128(a, b); }
  static INTAGLIO_INLINE I32 Or(I32 a, I32 b) { return _mm_or_si128(a, b); }
  static INTAGLIO_INLINE I32 Xor(I32 a, I32 b) { return _mm_xor_si128(a, b); }
  static INTAGLIO_INLINE I32 Min(I32 a, I32 b) { return _mm_min_epi32(a, b); }
  static INTAGLIO_INLINE I32 Max(I32 a, I32 b) { return _mm_max_epi32(a, b); }
  static INTAGLIO_INLINE I32 Greater(I32 a, I32 b) { return _mm_cmpgt_epi32(a, b); }
  static INTAGLIO_INLINE I32 Equal(I32 a, I32 b) { return _mm_cmpeq_epi32(a, b); }
  static INTAGLIO_INLINE I32 Select(I32 mask, I32 a, I32 b) { return _mm_blendv_epi8(b, a, mask); }

  static INTAGLIO_INLINE I32 ShiftLeft(I32 a, I32 count) {
    // 2^count by way of the exponent of a float; 2^31 converts to -2^31, which serves as well.
    const __m128i exponent = _mm_add_epi32(_mm_slli_epi32(count, 23), Set(127 << 23));
    return _mm_mullo_epi32(a, _mm_cvttps_epi32(_mm_castsi128_ps(exponent)));
  }
  static INTAGLIO_INLINE I32 ShiftRight(I32 a, I32 count) {
    const Counts c(count);
    return JoinLanes(_mm_sra_epi32(a, c.of[0]), _mm_sra_epi32(a, c.of[1]),
                     _mm_sra_epi32(a, c.of[2]), _mm_sra_epi32(a, c.of[3]));
  }
  static INTAGLIO_INLINE I32 ShiftRightLogical(I32 a, I32 count) {
    const Counts c(count);
    return JoinLanes(_mm_srl_epi32(a, c.of[0]), _mm_srl_epi32(a, c.of[1]),
                     _mm_srl_epi32(a, c.of[2]), _mm_srl_epi32(a, c.of[3]));
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 ShiftLeft(I32 a) {
    return _mm_slli_epi32(a, kCount);
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 ShiftRight(I32 a) {
    return _mm_srai_epi32(a, kCount);
  }

  static INTAGLIO_INLINE I64 MulWide(I32 a, I32 b) {
    return {_mm_mul_epi32(a, b), _mm_mul_epi32(OddToEven(a), OddToEven(b))};
  }
  static INTAGLIO_INLINE I64 AddWide(I64 a, I64 b) {
    return {_mm_add_epi64(a.even, b.even), _mm_add_epi64(a.odd, b.odd)};
  }
  static INTAGLIO_INLINE I64 SetWide(int64_t a) { return {_mm_set1_epi64x(a), _mm_set1_epi64x(a)}; }
  static INTAGLIO_INLINE I64 JoinWide(I32 high, I32 low) {
    return {Interleave(low, _mm_slli_epi64(high, 32)), Interleave(_mm_srli_epi64(low, 32), high)};
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 NarrowShift(I64 a) {
    return Interleave(_mm_srli_epi64(a.even, kCount), _mm_slli_epi64(a.odd, 32 - kCount));
  }
  static INTAGLIO_INLINE I32 NarrowShift(I64 a, I32 count) {
    const Counts c(count);
    const I32 even = ShiftRightWide(a.even, c.of[0], c.of[2]);
    const I32 odd = ShiftRightWide(a.odd, c.of[1], c.of[3]);
    return Interleave(even, _mm_slli_epi64(odd, 32));
  }
  static INTAGLIO_INLINE I64 PowerOfTwoWide(I32 count) {
    const Counts c(count);
    const __m128i one = _mm_set1_epi64x(1);
    return {_mm_unpacklo_epi64(_mm_sll_epi64(one, c.of[0]), _mm_sll_epi64(one, c.of[2])),
            _mm_unpacklo_epi64(_mm_sll_epi64(one, c.of[1]), _mm_sll_epi64(one, c.of[3]))};
  }

  static INTAGLIO_INLINE F32 ToFloat(I32 a) { return _mm_cvtepi32_ps(a); }
  static INTAGLIO_INLINE I32 RoundToInt(F32 a) { return _mm_cvtps_epi32(a); }
  static INTAGLIO_INLINE I32 TruncateToInt(F32 a) { return _mm_cvttps_epi32(a); }
  static INTAGLIO_INLINE F32 FloatOfBits(I32 a) { return _mm_castsi128_ps(a); }
  static INTAGLIO_INLINE F32 MulF(F32 a, F32 b) { return _mm_mul_ps(a, b); }
  static INTAGLIO_INLINE F32 AddF(F32 a, F32 b) { return _mm_add_ps(a, b); }
  // SSE4.1 has no such instruction; this is correct, not fast.
  static INTAGLIO_INLINE F32 FusedMulAdd(F32 a, F32 b, F32 c) {
    alignas(16) float x[4];
    alignas(16) float y[4];
    alignas(16) float z[4];
    _mm_store_ps(x, a);
    _mm_store_ps(y, b);
    _mm_store_ps(z, c);
    for (int i = 0; i < 4; ++i) z[i] = Scalar::FusedMulAdd(x[i], y[i], z[i]);
    return _mm_load_ps(z);
  }
  static INTAGLIO_INLINE F32 MinF(F32 a, F32 b) { return _mm_min_ps(a, b); }
  static INTAGLIO_INLINE F32 MaxF(F32 a, F32 b) { return _mm_max_ps(a, b); }

  static constexpr int k16Lanes = 8;
  using I16 = __m128i;
  static INTAGLIO_INLINE I16 Load16(const int16_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  static INTAGLIO_INLINE void Store16(int16_t* p, I16 a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), a);
  }
  static INTAGLIO_INLINE I16 Set16(int16_t a) { return _mm_set1_epi16(a); }
  static INTAGLIO_INLINE I16 SaturatingAdd16(I16 a, I16 b) { return _mm_adds_epi16(a, b); }
  static INTAGLIO_INLINE I16 SaturatingSub16(I16 a, I16 b) { return _mm_subs_epi16(a, b); }
  static INTAGLIO_INLINE I16 SaturatingRoundingDoublingHighMul16(I16 a, I16 b) {
    // The instruction wraps -2^15 * -2^15 to -2^15, which it gives for nothing else.
    const __m128i y = _mm_mulhrs_epi16(a, b);
    return _mm_xor_si128(y, _mm_cmpeq_epi16(y, Set16(-32768)));
  }

 private:
  static INTAGLIO_INLINE __m128i Four(const void* bytes) {
    int32_t four;
    std::memcpy(&four, bytes, sizeof four);
    return _mm_cvtsi32_si128(four);
  }
  // Lanes 1, 3, .. to lanes 0, 2, .. too. By a shuffle: from a 64-bit shift of a loop invariant
  // clang 14 makes an emulated 64-bit multiplication.
  static INTAGLIO_INLINE __m128i OddToEven(__m128i a) {
    return _mm_shuffle_epi32(a, _MM_SHUFFLE(3, 3, 1, 1));
  }
  // The count of each lane alone in the low half of a register, as the shifts take it.
  struct Counts {
    INTAGLIO_INLINE explicit Counts(__m128i count) {
      of[0] = _mm_and_si128(count, _mm_set1_epi64x(0xffffffff));
      of[1] = _mm_srli_epi64(count, 32);
      of[2] = _mm_unpackhi_epi64(of[0], of[0]);
      of[3] = _mm_unpackhi_epi64(of[1], of[1]);
    }
    __m128i of[4];
  };
  static INTAGLIO_INLINE __m128i JoinLanes(__m128i a0, __m128i a1, __m128i a2, __m128i a3) {
    return _mm_blend_epi16(Interleave(a0, a1), Interleave(a2, a3), 0xf0);
  }
  // Lanes 0 and 2 of even, 1 and 3 of odd.
  static INTAGLIO_INLINE __m128i Interleave(__m128i even, __m128i odd) {
    return _mm_blend_epi16(even, odd, 0xcc);
  }
  // Arithmetic, on 64-bit lanes.
  static INTAGLIO_INLINE __m128i ShiftRightWide(__m128i a, __m128i count0, __m128i count1) {
    const __m128i sign = OddToEven(_mm_srai_epi32(a, 31));
    const __m128i x = _mm_xor_si128(a, sign);
    const __m128i y = _mm_blend_epi16(_mm_srl_epi64(x, count0), _mm_srl_epi64(x, count1), 0xf0);
    return _mm_xor_si128(y, sign);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_REGISTERS_SSE41_H_
