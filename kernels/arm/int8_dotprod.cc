// SDOT, in the order that suits cores which issue out of order.
#include "intaglio/kernels/arm/bytes_neon.h"
#include "intaglio/kernels/arm/packing_neon.h"
#include "intaglio/kernels/arm/panel_dotprod.h"
#include "intaglio/kernels/arm/taps_neon.h"
#include "intaglio/kernels/depthwise_tile.h"
#include "intaglio/kernels/lines.h"
#include "intaglio/kernels/tile.h"

namespace intaglio {
namespace {

struct KernelDotprod : PanelDotprod {};

// Two rows of a full tile that kMultiplyAdd finishes.
//
// There the epilogue is so short that the way from one tile to the next counts. A core looks some
// hundred operations ahead; as many would lie between the last product of one tile and the first of
// the next, and its multipliers wait. So pairs of rows take turns, every eight depths: accumulators
// are loaded just before the first products of their pair, and stored just after its last. And 24
// registers suffice, those that need not be saved.
struct Pair {
  const int8_t* row[2];
  int32x4_t acc[2][2];

  INTAGLIO_INLINE void Start(const PanelParams& p) {
    INTAGLIO_UNROLL
    for (int r = 0; r < 2; ++r) {
      acc[r][0] = PanelNeon::Load(p.offset);
      acc[r][1] = PanelNeon::Load(p.offset + 4);
    }
  }
  INTAGLIO_INLINE void Add(const int8x16_t (&w)[4], ptrdiff_t at) {
    const int8x8_t x[2] = {vld1_s8(row[0] + at), vld1_s8(row[1] + at)};
    AddGroup<0>(w[0], w[1], x);
    AddGroup<1>(w[2], w[3], x);
  }
  template <bool kSigned, bool kClamps>
  INTAGLIO_INLINE void Store(const PanelParams& p, const EpilogueParams& e,
                             const float32x4_t (&scale)[2], char* dst, ptrdiff_t stride) {
    INTAGLIO_UNROLL
    for (int r = 0; r < 2; ++r) {
      float32x4_t x[2];
      INTAGLIO_UNROLL
      for (int j = 0; j < 2; ++j) {
        x[j] = PanelNeon::FusedMulAdd(PanelNeon::FloatOfBits(acc[r][j]), scale[j],
                                      PanelNeon::LoadF(p.addend + 4 * j));
      }
      PanelNeon::StoreLowBytes<2, kSigned, kClamps>(dst + r * stride, x, e.clamp_min, e.clamp_max);
    }
  }

 private:
  template <int kGroup>
  INTAGLIO_INLINE void AddGroup(int8x16_t w0, int8x16_t w1, const int8x8_t (&x)[2]) {
    INTAGLIO_UNROLL
    for (int r = 0; r < 2; ++r) {
      acc[r][0] = vdotq_lane_s32(acc[r][0], w0, x[r], kGroup);
      acc[r][1] = vdotq_lane_s32(acc[r][1], w1, x[r], kGroup);
      asm volatile("" : "+w"(acc[r][0]), "+w"(acc[r][1]));
    }
  }
};

INTAGLIO_INLINE void LoadWeights(const int8_t* panel, int8x16_t (&w)[4]) {
  INTAGLIO_UNROLL
  for (int i = 0; i < 4; ++i) w[i] = vld1q_s8(panel + 16 * i);
}

// Eight rows, eight channels, an even number of groups from four on.
template <bool kSigned, bool kClamps>
__attribute__((noinline)) void FittedTile(const TileArgs& args, const int8_t* row, char* dst) {
  const PanelParams& p = *args.params;
  const EpilogueParams e = args.epilogue;
  const ptrdiff_t stride = args.row_stride;
  const ptrdiff_t dst_stride = args.dst_stride;
  const int8_t* panel = args.panel;
  const ptrdiff_t last = ptrdiff_t{args.groups} * 4 - 8;
  int8x16_t w[4];
  LoadWeights(panel, w);
  Pair pair[4];
  INTAGLIO_UNROLL
  for (int i = 0; i < 4; ++i) {
    for (int r = 0; r < 2; ++r, row += stride) {
      asm volatile("" : "+r"(row));
      pair[i].row[r] = row;
    }
    pair[i].Start(p);
    pair[i].Add(w, 0);
  }
  ptrdiff_t at = 8;
  for (; at < last; at += 8) {
    panel += 64;
    LoadWeights(panel, w);
    INTAGLIO_UNROLL
    for (int i = 0; i < 4; ++i) pair[i].Add(w, at);
  }
  LoadWeights(panel + 64, w);
  const float32x4_t scale[2] = {PanelNeon::LoadF(p.scale), PanelNeon::LoadF(p.scale + 4)};
  INTAGLIO_UNROLL
  for (int i = 0; i < 4; ++i) {
    pair[i].Add(w, at);
    pair[i].Store<kSigned, kClamps>(p, e, scale, dst, dst_stride);
    dst += 2 * dst_stride;
  }
}

template <bool kSigned, bool kClamps>
void FittedTiles(const TileArgs& args) {
  const auto* row = static_cast<const int8_t*>(args.rows);
  auto* dst = static_cast<char*>(args.dst);
  int first = 0;
  for (; first + 8 <= args.row_count; first += 8) {
    FittedTile<kSigned, kClamps>(args, row, dst);
    row += 8 * args.row_stride;
    dst += 8 * args.dst_stride;
  }
  if (first < args.row_count) {
    ComputeTile<KernelDotprod, 2, 8>(args, first, args.row_count - first);
  }
}

void TileDotprod(const TileArgs& args) {
  if (args.params->form == ScalingForm::kMultiplyAdd && args.vectors == 2 && args.groups >= 4 &&
      args.groups % 2 == 0 && args.row_sums == nullptr && args.row_terms == nullptr) {
    const EpilogueParams& e = args.epilogue;
    const bool clamps = e.clamp_max - e.clamp_min < 255;
    if (e.output == Type::kInt8) {
      return clamps ? FittedTiles<true, true>(args) : FittedTiles<true, false>(args);
    }
    return clamps ? FittedTiles<false, true>(args) : FittedTiles<false, false>(args);
  }
  Tile<KernelDotprod>(args);
}

}  // namespace

extern const Kernel kKernelDotprod = {.name = "dotprod",
                                      .needs = kNeon | kDotprod,
                                      .panel = {4, 2, 4},
                                      .row_format = RowFormat::kSigned8,
                                      .max_rows = 8,
                                      .tile = TileDotprod,
                                      .tap_step = 4,
                                      .depthwise = Depthwise<KernelDotprod, TapsDotprod>,
                                      .takes_multiply_add = kTakesMultiplyAdd<KernelDotprod>,
                                      .pack = kPanelRoutinesNeon<KernelDotprod>,
                                      .lines = &kLines<KernelDotprod, BytesNeon>};

}  // namespace intaglio
