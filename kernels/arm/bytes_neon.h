// Bytes widened to the lanes of NEON vectors, in their natural order.
#ifndef INTAGLIO_KERNELS_ARM_BYTES_NEON_H_
#define INTAGLIO_KERNELS_ARM_BYTES_NEON_H_

#include <bit>
#include <cstdint>

#include "intaglio/kernels/arm/registers_neon.h"

namespace intaglio {

struct BytesNeon {
  template <int kVectors>
  static INTAGLIO_INLINE void Widen(const uint8_t* p, uint8_t flip, int32x4_t* a) {
    static_assert(kVectors == 2);
    const uint16x8_t words = Words(p, flip);
    a[0] = vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(words)));
    a[1] = vreinterpretq_s32_u32(vmovl_u16(vget_high_u16(words)));
  }

  template <int kVectors>
  static INTAGLIO_INLINE void LoadInOrder(const uint8_t* p, int32x4_t* a) {
    Widen<kVectors>(p, 0, a);
  }
  template <int kVectors>
  static INTAGLIO_INLINE void LoadInOrder(const int8_t* p, int32x4_t* a) {
    static_assert(kVectors == 2);
    const int16x8_t words = vmovl_s8(vld1_s8(p));
    a[0] = vmovl_s16(vget_low_s16(words));
    a[1] = vmovl_s16(vget_high_s16(words));
  }

  template <int kVectors>
  static INTAGLIO_INLINE void WidenPairs(const uint8_t* a, const uint8_t* b, uint8_t flip,
                                         int32x4_t* pairs) {
    static_assert(kVectors == 2);
    const uint16x8x2_t zipped = vzipq_u16(Words(a, flip), Words(b, flip));
    pairs[0] = vreinterpretq_s32_u16(zipped.val[0]);
    pairs[1] = vreinterpretq_s32_u16(zipped.val[1]);
  }

  template <class Words>
  static INTAGLIO_INLINE int LeastWord(Words words) {
    const auto all = std::bit_cast<uint16x8_t>(words);
    uint16x4_t least = vmin_u16(vget_low_u16(all), vget_high_u16(all));
    least = vpmin_u16(least, least);
    return vget_lane_u16(vpmin_u16(least, least), 0);
  }

 private:
  static INTAGLIO_INLINE uint16x8_t Words(const uint8_t* p, uint8_t flip) {
    return vmovl_u8(veor_u8(vld1_u8(p), vdup_n_u8(flip)));
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ARM_BYTES_NEON_H_
