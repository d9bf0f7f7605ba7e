// The kernel vocabulary that all kernels over NEON registers share: panels of one or two vectors of
// four channels.
#ifndef INTAGLIO_KERNELS_ARM_PANEL_NEON_H_
#define INTAGLIO_KERNELS_ARM_PANEL_NEON_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "intaglio/kernels/arm/registers_neon.h"

namespace intaglio {

struct PanelNeon : Neon {
  static constexpr int kMaxVectors = 2;

  static INTAGLIO_INLINE void Keep(I32& acc) { asm("" : "+w"(acc)); }
  static INTAGLIO_INLINE I32 FloatBits(F32 a) { return vreinterpretq_s32_f32(a); }

  static INTAGLIO_INLINE void StoreRuns(int32_t* p, ptrdiff_t, I32 a) { Store(p, a); }

  template <int kVectors>
  static INTAGLIO_INLINE void StoreInt16(int16_t* p, const I32* a) {
    vst1_s16(p, vqmovn_s32(a[0]));
    if constexpr (kVectors == 2) vst1_s16(p + 4, vqmovn_s32(a[1]));
  }

  // Most output is not clamped to less than its type: the clamp is passed over then.
  template <int kVectors, bool kSigned>
  static INTAGLIO_INLINE void StoreBytes(void* p, const I32* a, int32_t zero_point, int32_t min,
                                         int32_t max) {
    const int16x8_t words =
        vqaddq_s16(Narrow(a[0], a[kVectors - 1]), vdupq_n_s16(static_cast<int16_t>(zero_point)));
    if constexpr (kSigned) {
      int8x8_t bytes = vqmovn_s16(words);
      if (max - min < 255) {
        bytes = vmax_s8(bytes, vdup_n_s8(static_cast<int8_t>(min)));
        bytes = vmin_s8(bytes, vdup_n_s8(static_cast<int8_t>(max)));
      }
      StoreLanes<kVectors>(p, vreinterpret_u8_s8(bytes));
    } else {
      uint8x8_t bytes = vqmovun_s16(words);
      if (max - min < 255) {
        bytes = vmax_u8(bytes, vdup_n_u8(static_cast<uint8_t>(min)));
        bytes = vmin_u8(bytes, vdup_n_u8(static_cast<uint8_t>(max)));
      }
      StoreLanes<kVectors>(p, bytes);
    }
  }

 private:
  static INTAGLIO_INLINE int16x8_t Narrow(I32 low, I32 high) {
#if defined(__aarch64__)
    return vqmovn_high_s32(vqmovn_s32(low), high);
#else
    return vcombine_s16(vqmovn_s32(low), vqmovn_s32(high));
#endif
  }
  template <int kVectors>
  static INTAGLIO_INLINE void StoreLanes(void* p, uint8x8_t bytes) {
    if constexpr (kVectors == 2) {
      vst1_u8(static_cast<uint8_t*>(p), bytes);
    } else {
      const uint32_t word = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
      std::memcpy(p, &word, sizeof word);
    }
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ARM_PANEL_NEON_H_
