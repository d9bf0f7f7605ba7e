// The vocabularies of kernels/winograd/ in NEON.
#ifndef INTAGLIO_KERNELS_ARM_WINOGRAD_NEON_H_
#define INTAGLIO_KERNELS_ARM_WINOGRAD_NEON_H_

#include <cstdint>

#include "intaglio/kernels/arm/panel_neon.h"
#include "intaglio/kernels/winograd/winograd_tile.h"

namespace intaglio {

struct WordsNeon : Neon {
  static INTAGLIO_INLINE I16 LoadBytes(const uint8_t* p, uint8_t flip) {
    return vmovl_s8(vreinterpret_s8_u8(veor_u8(vld1_u8(p), vdup_n_u8(flip))));
  }
  static INTAGLIO_INLINE I16 Add16(I16 a, I16 b) { return vaddq_s16(a, b); }
  static INTAGLIO_INLINE I16 Sub16(I16 a, I16 b) { return vsubq_s16(a, b); }
  template <int kCount>
  static INTAGLIO_INLINE I16 ShiftLeft16(I16 a) {
    return vshlq_n_s16(a, kCount);
  }
};

// Panels of pairs. SMLAL adds four products of int16; the pairs are parted once for all rows of a
// tile.
struct PairsNeon : PanelNeon {
  static constexpr int kDepthStep = 2;

  static INTAGLIO_INLINE I16 LoadPanel(const int8_t* p) { return vmovl_s8(vld1_s8(p)); }
  static INTAGLIO_INLINE int16x4_t LoadRow(const void* p) {
    int32_t pair;
    std::memcpy(&pair, p, sizeof(pair));
    return vreinterpret_s16_s32(vdup_n_s32(pair));
  }
  static INTAGLIO_INLINE I32 Dot(I32 acc, I16 panel, int16x4_t row) {
    const int16x4x2_t parted = vuzp_s16(vget_low_s16(panel), vget_high_s16(panel));
    acc = vmlal_lane_s16(acc, parted.val[0], row, 0);
    return vmlal_lane_s16(acc, parted.val[1], row, 1);
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ARM_WINOGRAD_NEON_H_
