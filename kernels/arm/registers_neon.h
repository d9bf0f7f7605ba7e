// The register vocabulary of NEON: four lanes, on AArch64 and on 32-bit Arm alike. What each
// operation means is said at Scalar.
//
// NEON of 32-bit Arm flushes denormal numbers to zero, which AArch64 and VFP do not. Where that
// could be seen in a result, floats go through VFP there, lane by lane; ToFloat never meets a
// denormal number, and RoundToInt makes 0 of it either way.
#ifndef INTAGLIO_KERNELS_ARM_REGISTERS_NEON_H_
#define INTAGLIO_KERNELS_ARM_REGISTERS_NEON_H_

#include <arm_neon.h>

#include <cstdint>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio {

struct Neon {
  static constexpr int kLanes = 4;
  using I32 = int32x4_t;
  using F32 = float32x4_t;
  struct I64 {
    int64x2_t low;   // of lanes 0 and 1
    int64x2_t high;  // of lanes 2 and 3
  };

  static INTAGLIO_INLINE I32 Load(const int32_t* p) { return vld1q_s32(p); }
  static INTAGLIO_INLINE void Store(int32_t* p, I32 a) { vst1q_s32(p, a); }
  static INTAGLIO_INLINE I32 Set(int32_t a) { return vdupq_n_s32(a); }
  static INTAGLIO_INLINE F32 LoadF(const float* p) { return vld1q_f32(p); }
  static INTAGLIO_INLINE void StoreF(float* p, F32 a) { vst1q_f32(p, a); }
  static INTAGLIO_INLINE F32 SetF(float a) { return vdupq_n_f32(a); }

  static INTAGLIO_INLINE I32 Add(I32 a, I32 b) { return vaddq_s32(a, b); }
  static INTAGLIO_INLINE I32 Sub(I32 a, I32 b) { return vsubq_s32(a, b); }
  static INTAGLIO_INLINE I32 Mul(I32 a, I32 b) { return vmulq_s32(a, b); }
  static INTAGLIO_INLINE I32 DotPairs(I32 a, I32 b) {
    const int32x4_t low = vmulq_s32(Low16(a), Low16(b));
    return vmlaq_s32(low, vshrq_n_s32(a, 16), vshrq_n_s32(b, 16));
  }
  static INTAGLIO_INLINE I32 And(I32 a, I32 b) { return vandq_s32(a, b); }
  static INTAGLIO_INLINE I32 Or(I32 a, I32 b) { return vorrq_s32(a, b); }
  static INTAGLIO_INLINE I32 Xor(I32 a, I32 b) { return veorq_s32(a, b); }
  static INTAGLIO_INLINE I32 Min(I32 a, I32 b) { return vminq_s32(a, b); }
  static INTAGLIO_INLINE I32 Max(I32 a, I32 b) { return vmaxq_s32(a, b); }
  static INTAGLIO_INLINE I32 Greater(I32 a, I32 b) { return Signed(vcgtq_s32(a, b)); }
  static INTAGLIO_INLINE I32 Equal(I32 a, I32 b) { return Signed(vceqq_s32(a, b)); }
  static INTAGLIO_INLINE I32 Select(I32 mask, I32 a, I32 b) {
    return vbslq_s32(vreinterpretq_u32_s32(mask), a, b);
  }

  // Shifts to the right are shifts to the left by negative counts.
  static INTAGLIO_INLINE I32 ShiftLeft(I32 a, I32 count) { return vshlq_s32(a, count); }
  static INTAGLIO_INLINE I32 ShiftRight(I32 a, I32 count) { return vshlq_s32(a, vnegq_s32(count)); }
  static INTAGLIO_INLINE I32 ShiftRightLogical(I32 a, I32 count) {
    return Signed(vshlq_u32(vreinterpretq_u32_s32(a), vnegq_s32(count)));
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 ShiftLeft(I32 a) {
    return vshlq_n_s32(a, kCount);
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 ShiftRight(I32 a) {
    return vshrq_n_s32(a, kCount);
  }

  static INTAGLIO_INLINE I64 MulWide(I32 a, I32 b) {
    return {vmull_s32(vget_low_s32(a), vget_low_s32(b)),
            vmull_s32(vget_high_s32(a), vget_high_s32(b))};
  }
  static INTAGLIO_INLINE I64 AddWide(I64 a, I64 b) {
    return {vaddq_s64(a.low, b.low), vaddq_s64(a.high, b.high)};
  }
  static INTAGLIO_INLINE I64 SetWide(int64_t a) { return {vdupq_n_s64(a), vdupq_n_s64(a)}; }
  static INTAGLIO_INLINE I64 JoinWide(I32 high, I32 low) {
    const int32x4x2_t pairs = vzipq_s32(low, high);
    return {vreinterpretq_s64_s32(pairs.val[0]), vreinterpretq_s64_s32(pairs.val[1])};
  }
  template <int kCount>
  static INTAGLIO_INLINE I32 NarrowShift(I64 a) {
    return vcombine_s32(vshrn_n_s64(a.low, kCount), vshrn_n_s64(a.high, kCount));
  }
  static INTAGLIO_INLINE I32 NarrowShift(I64 a, I32 count) {
    const I64 left = Widened(vnegq_s32(count));
    return vcombine_s32(vmovn_s64(vshlq_s64(a.low, left.low)),
                        vmovn_s64(vshlq_s64(a.high, left.high)));
  }
  static INTAGLIO_INLINE I64 PowerOfTwoWide(I32 count) {
    const I64 left = Widened(count);
    const int64x2_t one = vdupq_n_s64(1);
    return {vshlq_s64(one, left.low), vshlq_s64(one, left.high)};
  }

  // What multiply.h uses in place of 64-bit products: SQRDMULH, SQDMULH, SQADD and SRSHL.
  static INTAGLIO_INLINE I32 SaturatingRoundingDoublingHighMul(I32 a, I32 b) {
    return vqrdmulhq_s32(a, b);
  }
  static INTAGLIO_INLINE I32 SaturatingDoublingHighMul(I32 a, I32 b) { return vqdmulhq_s32(a, b); }
  static INTAGLIO_INLINE I32 SaturatingAdd(I32 a, I32 b) { return vqaddq_s32(a, b); }
  static INTAGLIO_INLINE I32 RoundingShiftRight(I32 a, I32 count) {
    return vrshlq_s32(a, vnegq_s32(count));
  }

  static INTAGLIO_INLINE F32 ToFloat(I32 a) { return vcvtq_f32_s32(a); }
  static INTAGLIO_INLINE I32 TruncateToInt(F32 a) { return vcvtq_s32_f32(a); }
  static INTAGLIO_INLINE F32 FloatOfBits(I32 a) { return vreinterpretq_f32_s32(a); }
#if defined(__aarch64__)
  static INTAGLIO_INLINE I32 RoundToInt(F32 a) { return vcvtnq_s32_f32(a); }
  static INTAGLIO_INLINE F32 MulF(F32 a, F32 b) { return vmulq_f32(a, b); }
  static INTAGLIO_INLINE F32 AddF(F32 a, F32 b) { return vaddq_f32(a, b); }
  static INTAGLIO_INLINE F32 FusedMulAdd(F32 a, F32 b, F32 c) { return vfmaq_f32(c, a, b); }
  // FMIN would order -0 below +0.
  static INTAGLIO_INLINE F32 MinF(F32 a, F32 b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
  static INTAGLIO_INLINE F32 MaxF(F32 a, F32 b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
#else
  // Adding 2^23 to a smaller number rounds it to an integer, ties to even; from 2^23 on there are
  // only integers.
  static INTAGLIO_INLINE I32 RoundToInt(F32 a) {
    const uint32x4_t sign_bit = vdupq_n_u32(0x80000000u);
    const F32 magic = vbslq_f32(sign_bit, a, vdupq_n_f32(8388608.0f));
    const F32 rounded = vsubq_f32(vaddq_f32(a, magic), magic);
    const uint32x4_t small = vcltq_f32(vabsq_f32(a), vdupq_n_f32(8388608.0f));
    return vcvtq_s32_f32(vbslq_f32(small, rounded, a));
  }
  static INTAGLIO_INLINE F32 MulF(F32 a, F32 b) { return ByLane<Scalar::MulF>(a, b); }
  static INTAGLIO_INLINE F32 AddF(F32 a, F32 b) { return ByLane<Scalar::AddF>(a, b); }
  static INTAGLIO_INLINE F32 FusedMulAdd(F32 a, F32 b, F32 c) {
    for (int i = 0; i < kLanes; ++i) c[i] = Scalar::FusedMulAdd(a[i], b[i], c[i]);
    return c;
  }
  static INTAGLIO_INLINE F32 MinF(F32 a, F32 b) { return ByLane<Scalar::MinF>(a, b); }
  static INTAGLIO_INLINE F32 MaxF(F32 a, F32 b) { return ByLane<Scalar::MaxF>(a, b); }
#endif

  static constexpr int k16Lanes = 8;
  using I16 = int16x8_t;
  static INTAGLIO_INLINE I16 Load16(const int16_t* p) { return vld1q_s16(p); }
  static INTAGLIO_INLINE void Store16(int16_t* p, I16 a) { vst1q_s16(p, a); }
  static INTAGLIO_INLINE I16 Set16(int16_t a) { return vdupq_n_s16(a); }
  static INTAGLIO_INLINE I16 SaturatingAdd16(I16 a, I16 b) { return vqaddq_s16(a, b); }
  static INTAGLIO_INLINE I16 SaturatingSub16(I16 a, I16 b) { return vqsubq_s16(a, b); }
  static INTAGLIO_INLINE I16 SaturatingRoundingDoublingHighMul16(I16 a, I16 b) {
    return vqrdmulhq_s16(a, b);
  }

 private:
  static INTAGLIO_INLINE I32 Low16(I32 a) { return vshrq_n_s32(vshlq_n_s32(a, 16), 16); }
  static INTAGLIO_INLINE I32 Signed(uint32x4_t a) { return vreinterpretq_s32_u32(a); }
  static INTAGLIO_INLINE I64 Widened(I32 a) {
    return {vmovl_s32(vget_low_s32(a)), vmovl_s32(vget_high_s32(a))};
  }
#if !defined(__aarch64__)
  template <float (*kFunction)(float, float)>
  static INTAGLIO_INLINE F32 ByLane(F32 a, F32 b) {
    F32 result = a;
    for (int i = 0; i < kLanes; ++i) result[i] = kFunction(a[i], b[i]);
    return result;
  }
#endif
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ARM_REGISTERS_NEON_H_
