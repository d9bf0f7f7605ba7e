// SMMLA adds the exact products of two rows and two channels over eight depths.
#include "intaglio/kernels/arm/panel_neon.h"
#include "intaglio/kernels/arm/taps_neon.h"
#include "intaglio/kernels/depthwise_tile.h"
#include "intaglio/kernels/tile.h"

namespace intaglio {
namespace {

struct KernelI8mm : PanelNeon {
  static constexpr int kDepthStep = 8;
  static constexpr int kMaxRows = 8;  // 16 accumulators of 2 x 2, 4 pairs of rows, 4 of channels

  template <int kVectors, int kRows>
  static INTAGLIO_INLINE void AddDepth(const TileArgs& args, I32 (&acc)[kRows][kVectors]) {
    constexpr int kPairs = (kRows + 1) / 2;
    I32 sum[kPairs][2 * kVectors];  // row 0 of a pair in the low half, row 1 in the high
    ForTile<2 * kVectors, kPairs>([&](int r, int j) { sum[r][j] = Set(0); });
    const auto* rows = static_cast<const int8_t*>(args.rows);
    const int8_t* panel = args.panel;
    for (int g = 0; g < args.groups; ++g, rows += 64, panel += kVectors * 32) {
      int8x16_t x[kPairs];
      INTAGLIO_UNROLL
      for (int r = 0; r < kPairs; ++r) x[r] = vld1q_s8(rows + r * 16);
      INTAGLIO_UNROLL
      for (int j = 0; j < 2 * kVectors; ++j) {
        const int8x16_t w = vld1q_s8(panel + j * 16);
        INTAGLIO_UNROLL
        for (int r = 0; r < kPairs; ++r) {
          sum[r][j] = vmmlaq_s32(sum[r][j], x[r], w);
          Keep(sum[r][j]);
        }
      }
    }
    ForTile<kVectors, kPairs>([&](int r, int j) {
      const int64x2_t left = vreinterpretq_s64_s32(sum[r][2 * j]);
      const int64x2_t right = vreinterpretq_s64_s32(sum[r][2 * j + 1]);
      const auto row = [&](int i, int64x2_t s) {
        acc[i][j] = Add(acc[i][j], vreinterpretq_s32_s64(s));
      };
      row(2 * r, vzip1q_s64(left, right));
      if (2 * r + 1 < kRows) row(2 * r + 1, vzip2q_s64(left, right));
    });
  }
};

}  // namespace

extern const Kernel kKernelI8mm = {.name = "i8mm",
                                   .needs = kNeon | kDotprod | kI8mm,
                                   .panel = {4, 2, 8},
                                   .row_format = RowFormat::kSigned8By8,
                                   .max_rows = 8,
                                   .tile = Tile<KernelI8mm>,
                                   .tap_step = 4,
                                   .depthwise = Depthwise<KernelI8mm, TapsDotprod>,
                                   .has_fma = true};

}  // namespace intaglio
