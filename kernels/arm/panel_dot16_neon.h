// The kernel vocabulary of plain NEON: the products of 16 depths of a row and of a channel are made
// in int16 and added in pairs into four int32 sums, which are joined at the end.
#ifndef INTAGLIO_KERNELS_ARM_PANEL_DOT16_NEON_H_
#define INTAGLIO_KERNELS_ARM_PANEL_DOT16_NEON_H_

#include "intaglio/kernels/arm/panel_neon.h"
#include "intaglio/kernels/tile/tile.h"

namespace intaglio {

struct PanelDot16Neon : PanelNeon {
  static constexpr int kDepthStep = 16;
#if defined(__aarch64__)
  static constexpr int kMaxRows = 4;  // 16 accumulators, 4 rows, 4 channels, products
#else
  static constexpr int kMaxRows = 2;  // 8 accumulators, of 16 registers
#endif

  // Each vector of the panel, four channels, in a pass of its own.
  template <int kVectors, int kRows>
  static INTAGLIO_INLINE void AddDepth(const TileArgs& args, const void* rows,
                                       I32 (&acc)[kRows][kVectors]) {
    for (int j = 0; j < kVectors; ++j) {
      I32 sum[kRows];
      AddVector<kVectors>(args, rows, args.panel + j * kLanes * kDepthStep, sum);
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) acc[r][j] = Add(acc[r][j], sum[r]);
    }
  }

  // Lane l is the sum of the lanes of part[l].
  static INTAGLIO_INLINE I32 SumEach(const I32 (&part)[kLanes]) {
#if defined(__aarch64__)
    return vpaddq_s32(vpaddq_s32(part[0], part[1]), vpaddq_s32(part[2], part[3]));
#else
    const auto halves = [](I32 a) { return vpadd_s32(vget_low_s32(a), vget_high_s32(a)); };
    return vcombine_s32(vpadd_s32(halves(part[0]), halves(part[1])),
                        vpadd_s32(halves(part[2]), halves(part[3])));
#endif
  }

 private:
  // One product at a time: two of (-128)(-128) do not fit int16. Cores that issue out of order add
  // beside the multiplications.
  template <int kVectors, int kRows>
  static INTAGLIO_INLINE void AddVector(const TileArgs& args, const void* rows, const int8_t* panel,
                                        I32 (&sum)[kRows]) {
    I32 part[kRows][kLanes];
    ForTile<kLanes, kRows>([&](int r, int c) { part[r][c] = Set(0); });
    const auto* row = static_cast<const int8_t*>(rows);
    for (int g = 0; g < args.groups; ++g) {
      int8x16_t x[kRows];
      INTAGLIO_UNROLL
      for (int r = 0; r < kRows; ++r) x[r] = vld1q_s8(row + r * args.row_stride);
      INTAGLIO_UNROLL
      for (int c = 0; c < kLanes; ++c) {
        const int8x16_t w = vld1q_s8(panel + c * kDepthStep);
        int16x8_t product[kRows];
        INTAGLIO_UNROLL
        for (int r = 0; r < kRows; ++r) product[r] = InOrder(MulLow(w, x[r]));
        INTAGLIO_UNROLL
        for (int r = 0; r < kRows; ++r) part[r][c] = vpadalq_s16(part[r][c], product[r]);
        INTAGLIO_UNROLL
        for (int r = 0; r < kRows; ++r) product[r] = InOrder(MulHigh(w, x[r]));
        INTAGLIO_UNROLL
        for (int r = 0; r < kRows; ++r) part[r][c] = vpadalq_s16(part[r][c], product[r]);
      }
      row += kDepthStep;
      panel += kVectors * kLanes * kDepthStep;
    }
    INTAGLIO_UNROLL
    for (int r = 0; r < kRows; ++r) sum[r] = SumEach(part[r]);
  }

  static INTAGLIO_INLINE int16x8_t MulLow(int8x16_t a, int8x16_t b) {
    return vmull_s8(vget_low_s8(a), vget_low_s8(b));
  }
  static INTAGLIO_INLINE int16x8_t MulHigh(int8x16_t a, int8x16_t b) {
#if defined(__aarch64__)
    return vmull_high_s8(a, b);
#else
    return vmull_s8(vget_high_s8(a), vget_high_s8(b));
#endif
  }
  // Keeps g++ from making all products before it adds any, for which registers do not suffice.
  static INTAGLIO_INLINE int16x8_t InOrder(int16x8_t product) {
    asm volatile("" : "+w"(product));
    return product;
  }
};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ARM_PANEL_DOT16_NEON_H_
