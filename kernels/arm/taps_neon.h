// The taps of depthwise convolutions in NEON vectors: int8, in the natural order of channels.
#ifndef INTAGLIO_KERNELS_ARM_TAPS_NEON_H_
#define INTAGLIO_KERNELS_ARM_TAPS_NEON_H_

#include <cstdint>
#include <cstring>

#include "intaglio/kernels/arm/registers_neon.h"

namespace intaglio {

// The 4 * kVectors bytes of a panel, 8 or 4, with their top bits flipped.
template <int kVectors>
INTAGLIO_INLINE int8x8_t LoadTap(const uint8_t* p, uint8_t flip) {
  uint8x8_t bytes;
  if constexpr (kVectors == 2) {
    bytes = vld1_u8(p);
  } else {
    uint32_t word;
    std::memcpy(&word, p, sizeof word);
    bytes = vreinterpret_u8_u32(vdup_n_u32(word));
  }
  return vreinterpret_s8_u8(veor_u8(bytes, vdup_n_u8(flip)));
}

// One tap a lane, in int16, for SMLAL.
struct TapsNeon {
  static constexpr int kStep = 1;
  using Operand = int16x4_t;

  template <int kVectors>
  static INTAGLIO_INLINE void Interleave(const uint8_t* const (&rows)[kStep], uint8_t flip,
                                         Operand* groups) {
    const int16x8_t words = vmovl_s8(LoadTap<kVectors>(rows[0], flip));
    groups[0] = vget_low_s16(words);
    if constexpr (kVectors == 2) groups[1] = vget_high_s16(words);
  }
  static INTAGLIO_INLINE Operand LoadWeights(const int8_t* p) {
    return vget_low_s16(vmovl_s8(LoadTap<1>(reinterpret_cast<const uint8_t*>(p), /*flip=*/0)));
  }
  static INTAGLIO_INLINE int32x4_t Dot(int32x4_t acc, Operand w, Operand x) {
    return vmlal_s16(acc, w, x);
  }
};

#if defined(__ARM_FEATURE_DOTPROD)
// Four taps a lane, for SDOT.
struct TapsDotprod {
  static constexpr int kStep = 4;
  using Operand = int8x16_t;

  template <int kVectors>
  static INTAGLIO_INLINE void Interleave(const uint8_t* const (&rows)[kStep], uint8_t flip,
                                         Operand* groups) {
    const int16x8_t ab = Pairs(LoadTap<kVectors>(rows[0], flip), LoadTap<kVectors>(rows[1], flip));
    const int16x8_t cd = Pairs(LoadTap<kVectors>(rows[2], flip), LoadTap<kVectors>(rows[3], flip));
    groups[0] = vreinterpretq_s8_s16(vzip1q_s16(ab, cd));
    if constexpr (kVectors == 2) groups[1] = vreinterpretq_s8_s16(vzip2q_s16(ab, cd));
  }
  static INTAGLIO_INLINE Operand LoadWeights(const int8_t* p) { return vld1q_s8(p); }
  static INTAGLIO_INLINE int32x4_t Dot(int32x4_t acc, Operand w, Operand x) {
    return vdotq_s32(acc, w, x);
  }

 private:
  static INTAGLIO_INLINE int16x8_t Pairs(int8x8_t a, int8x8_t b) {
    return vreinterpretq_s16_s8(vcombine_s8(vzip1_s8(a, b), vzip2_s8(a, b)));
  }
};
#endif

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ARM_TAPS_NEON_H_
