// The kernel vocabulary of SDOT, which adds four exact products of a row and a panel per lane. Its
// row operand is one lane of a register: 16 depths of a row are loaded at once and serve four
// groups.
#ifndef INTAGLIO_KERNELS_ARM_PANEL_DOTPROD_H_
#define INTAGLIO_KERNELS_ARM_PANEL_DOTPROD_H_

#include "intaglio/kernels/arm/panel_neon.h"
#include "intaglio/kernels/tile/tile.h"

namespace intaglio {

struct PanelDotprod : PanelNeon {
  static constexpr int kDepthStep = 4;
  static constexpr int kMaxRows = 8;  // 16 accumulators, 8 rows, up to 8 panel vectors

  template <int kVectors, int kRows>
  static INTAGLIO_INLINE void AddDepth(const TileArgs& args, const void* rows,
                                       I32 (&acc)[kRows][kVectors]) {
    AddGroups(args.panel, static_cast<const int8_t*>(rows), args.row_stride, args.groups, acc);
  }

  template <int kVectors, int kRows>
  static INTAGLIO_INLINE void AddGroups(const int8_t* panel, const int8_t* rows,
                                        ptrdiff_t row_stride, int groups,
                                        I32 (&acc)[kRows][kVectors]) {
    // Slim tiles: every other group has accumulators of its own, not to wait for the one before.
    constexpr int kSets = kRows * kVectors < 8 ? 2 : 1;
    I32 odd[kRows][kVectors];
    if constexpr (kSets == 2) ForTile<kVectors, kRows>([&](int r, int j) { odd[r][j] = Set(0); });

    const int8_t* row[kRows];
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) row[r] = rows + r * row_stride;
    for (; groups >= 4; groups -= 4, panel += 4 * kVectors * 16) {
      int8x16_t x[kRows];
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) {
        x[r] = vld1q_s8(row[r]);
        row[r] += 16;
      }
      AddGroup<0>(panel, x, acc);
      AddGroup<1>(panel + kVectors * 16, x, kSets == 2 ? odd : acc);
      AddGroup<2>(panel + kVectors * 32, x, acc);
      AddGroup<3>(panel + kVectors * 48, x, kSets == 2 ? odd : acc);
    }
    for (; groups > 0; --groups, panel += kVectors * 16) {
      int8x16_t x[kRows];
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) {
        int32_t word;
        std::memcpy(&word, row[r], sizeof word);
        x[r] = vreinterpretq_s8_s32(vdupq_n_s32(word));
        row[r] += 4;
      }
      AddGroup<0>(panel, x, acc);
    }
    if constexpr (kSets == 2) {
      ForTile<kVectors, kRows>([&](int r, int j) { acc[r][j] = Add(acc[r][j], odd[r][j]); });
    }
  }

 private:
  template <int kGroup, int kVectors, int kRows>
  static INTAGLIO_INLINE void AddGroup(const int8_t* panel, const int8x16_t (&x)[kRows],
                                       I32 (&acc)[kRows][kVectors]) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      const int8x16_t w = vld1q_s8(panel + j * 16);
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) {
        acc[r][j] = vdotq_laneq_s32(acc[r][j], w, x[r], kGroup);
        Keep(acc[r][j]);
      }
    }
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ARM_PANEL_DOTPROD_H_
