// The kernel vocabulary that all kernels over NEON registers share: panels of one or two vectors of
// four channels.
#ifndef INTAGLIO_KERNELS_ARM_PANEL_NEON_H_
#define INTAGLIO_KERNELS_ARM_PANEL_NEON_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "intaglio/kernels/arm/registers_neon.h"
#include "intaglio/kernels/tile/finish.h"

namespace intaglio {

// each(row, vector) for every accumulator of a tile.
template <int kVectors, int kRows, class Each>
INTAGLIO_INLINE void ForTile(const Each& each) {
  INTAGLIO_UNROLL
  for (int r = 0; r < kRows; ++r) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) each(r, j);
  }
}

struct PanelNeon : Neon {
  static constexpr int kMaxVectors = 2;
  using Operand = int8x16_t;

#if defined(__aarch64__)
  // Loaded every time that it is asked for: cores load beside what they compute, and a copy of a
  // register takes as long as a multiplication.
  static INTAGLIO_INLINE I32 Load(const int32_t* p) {
    I32 a;
    asm volatile("ldr %q0, %1" : "=w"(a) : "m"(*reinterpret_cast<const int32_t(*)[kLanes]>(p)));
    return a;
  }
#endif
  static INTAGLIO_INLINE void Keep(I32& acc) { asm("" : "+w"(acc)); }
  static INTAGLIO_INLINE I32 FloatBits(F32 a) { return vreinterpretq_s32_f32(a); }

  static INTAGLIO_INLINE void StoreRuns(int32_t* p, ptrdiff_t, I32 a) { Store(p, a); }

  template <int kVectors>
  static INTAGLIO_INLINE void StoreInt16(int16_t* p, const I32* a) {
    vst1_s16(p, vqmovn_s32(a[0]));
    if constexpr (kVectors == 2) vst1_s16(p + 4, vqmovn_s32(a[1]));
  }

  template <int kVectors, bool kSigned>
  static INTAGLIO_INLINE void StoreBytes(void* p, const I32* a, int32_t zero_point, int32_t min,
                                         int32_t max) {
    const int16x8_t words = AddWords(NarrowToWords(a[0], a[kVectors - 1]), zero_point);
    uint8x8_t bytes = NarrowToBytes<kSigned>(words);
    if (max - min < 255) bytes = Clamped<kSigned>(bytes, min, max);
    StoreBytes<kVectors>(p, bytes);
  }

#if defined(__aarch64__)
  static constexpr bool kHasMultiplyAdd = true;

  static INTAGLIO_INLINE F32 LoadF(const float* p) {
    return FloatOfBits(Load(reinterpret_cast<const int32_t*>(p)));
  }
  template <int kVectors, bool kSigned, bool kClamps>
  static INTAGLIO_INLINE void StoreLowBytes(void* p, const F32* x, int32_t min, int32_t max) {
    uint8x8_t bytes = NarrowToBytes<kSigned>(LowWords(x[0], x[kVectors - 1]));
    if constexpr (kClamps) bytes = Clamped<kSigned>(bytes, min, max);
    StoreBytes<kVectors>(p, bytes);
  }
  // The low 16 bits of each lane.
  static INTAGLIO_INLINE int16x8_t LowWords(I32 low, I32 high) {
    return vuzp1q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high));
  }
  static INTAGLIO_INLINE int16x8_t LowWords(F32 low, F32 high) {
    return LowWords(FloatBits(low), FloatBits(high));
  }
#endif

  template <bool kSigned>
  static INTAGLIO_INLINE uint8x8_t NarrowToBytes(int16x8_t words) {
    return kSigned ? vreinterpret_u8_s8(vqmovn_s16(words)) : vqmovun_s16(words);
  }
  template <int kVectors>
  static INTAGLIO_INLINE void StoreBytes(void* p, uint8x8_t bytes) {
    if constexpr (kVectors == 2) {
      vst1_u8(static_cast<uint8_t*>(p), bytes);
    } else {
      vst1_lane_u32(static_cast<uint32_t*>(p), vreinterpret_u32_u8(bytes), 0);
    }
  }

  static INTAGLIO_INLINE int16x8_t NarrowToWords(I32 low, I32 high) {
#if defined(__aarch64__)
    return vqmovn_high_s32(vqmovn_s32(low), high);
#else
    return vcombine_s16(vqmovn_s32(low), vqmovn_s32(high));
#endif
  }
  static INTAGLIO_INLINE int16x8_t AddWords(int16x8_t words, int32_t zero_point) {
    return vqaddq_s16(words, vdupq_n_s16(static_cast<int16_t>(zero_point)));
  }
  // Called only where the range is less than the type's: in most products it is not.
  template <bool kSigned>
  static INTAGLIO_INLINE uint8x8_t Clamped(uint8x8_t bytes, int32_t min, int32_t max) {
    if constexpr (kSigned) {
      const int8x8_t low = vdup_n_s8(static_cast<int8_t>(min));
      const int8x8_t high = vdup_n_s8(static_cast<int8_t>(max));
      return vreinterpret_u8_s8(vmin_s8(vmax_s8(vreinterpret_s8_u8(bytes), low), high));
    } else {
      return vmin_u8(vmax_u8(bytes, vdup_n_u8(static_cast<uint8_t>(min))),
                     vdup_n_u8(static_cast<uint8_t>(max)));
    }
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ARM_PANEL_NEON_H_
