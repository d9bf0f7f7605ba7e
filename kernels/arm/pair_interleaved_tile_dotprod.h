// Whole tiles of SDOT, eight rows by eight channels, whose pairs of rows take turns.
//
// A core that issues out of order looks some hundred operations ahead. Were a tile finished after
// all of its products, as many would lie between its last product and the first of the next tile,
// and the multipliers wait. So pairs of rows take turns, every eight depths: accumulators are
// loaded just before the first products of their pair, and finished just after its last, beside
// the products of the next pair.
#ifndef INTAGLIO_KERNELS_ARM_PAIR_INTERLEAVED_TILE_DOTPROD_H_
#define INTAGLIO_KERNELS_ARM_PAIR_INTERLEAVED_TILE_DOTPROD_H_

#include <utility>

#include "intaglio/kernels/arm/panel_dotprod.h"
#include "intaglio/kernels/kernel.h"

namespace intaglio {

struct Pair {
  const int8_t* row[2];
  int32x4_t acc[2][2];

  INTAGLIO_INLINE void Start(const ParamsOf<PanelNeon>& p) {
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

// Finishes pairs whose scaling is kMultiplyAdd.
template <bool kSigned, bool kClamps>
class FinishFitted {
 public:
  INTAGLIO_INLINE FinishFitted(const ParamsOf<PanelNeon>& p, const EpilogueParams& e)
      : addend_(p.addend),
        e_(e),
        scale_{PanelNeon::LoadF(p.scale), PanelNeon::LoadF(p.scale + 4)} {}

  INTAGLIO_INLINE void operator()(const Pair& pair, char* dst, ptrdiff_t stride) const {
    INTAGLIO_UNROLL
    for (int r = 0; r < 2; ++r) {
      float32x4_t x[2];
      INTAGLIO_UNROLL
      for (int j = 0; j < 2; ++j) {
        x[j] = PanelNeon::FusedMulAdd(PanelNeon::FloatOfBits(pair.acc[r][j]), scale_[j],
                                      PanelNeon::LoadF(addend_ + 4 * j));
      }
      PanelNeon::StoreLowBytes<2, kSigned, kClamps>(dst + r * stride, x, e_.clamp_min,
                                                    e_.clamp_max);
    }
  }

 private:
  const float* addend_;
  const EpilogueParams& e_;
  float32x4_t scale_[2];
};

// Finishes pairs whose scaled accumulators fit int16.
template <class Form, bool kSigned, bool kClamps>
class FinishScaled {
 public:
  INTAGLIO_INLINE FinishScaled(const ParamsOf<PanelNeon>& p, const EpilogueParams& e)
      : e_(e), scaled_{Form()(p, 0), Form()(p, 4)} {}

  INTAGLIO_INLINE void operator()(const Pair& pair, char* dst, ptrdiff_t stride) const {
    INTAGLIO_UNROLL
    for (int r = 0; r < 2; ++r) {
      const int16x8_t words =
          PanelNeon::LowWords(scaled_[0](pair.acc[r][0]), scaled_[1](pair.acc[r][1]));
      uint8x8_t bytes =
          PanelNeon::NarrowToBytes<kSigned>(PanelNeon::AddWords(words, e_.zero_point));
      if constexpr (kClamps) {
        bytes = PanelNeon::Clamped<kSigned>(bytes, e_.clamp_min, e_.clamp_max);
      }
      PanelNeon::StoreBytes<2>(dst + r * stride, bytes);
    }
  }

 private:
  using Scaled = decltype(Form()(std::declval<const ParamsOf<PanelNeon>&>(), 0));
  const EpilogueParams& e_;
  Scaled scaled_[2];
};

// Eight rows, eight channels, an even number of groups from four on.
template <class Finish>
INTAGLIO_INLINE void TileByTurns(const TileArgs& args, const int8_t* row, char* dst) {
  const ParamsOf<PanelNeon>& p = *ParamsIn<PanelNeon>(args);
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
  const Finish finish(p, e);
  INTAGLIO_UNROLL
  for (int i = 0; i < 4; ++i) {
    pair[i].Add(w, at);
    finish(pair[i], dst, dst_stride);
    dst += 2 * dst_stride;
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ARM_PAIR_INTERLEAVED_TILE_DOTPROD_H_
