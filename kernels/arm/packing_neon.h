// The packing routines of Arm kernels (pack/panels.h).
#ifndef INTAGLIO_KERNELS_ARM_PACKING_NEON_H_
#define INTAGLIO_KERNELS_ARM_PACKING_NEON_H_

#include <arm_neon.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "intaglio/kernels/tile/fill_panel.h"

namespace intaglio {

// The byte shuffles of fill_panel.h in one block, for depth steps from 4 on.
struct ShufflesNeon {
  static constexpr int kBlocks = 1;
  using Bytes = uint8x16_t;

  static INTAGLIO_INLINE Bytes LoadBlocks(const uint8_t* p, ptrdiff_t) { return vld1q_u8(p); }
  static INTAGLIO_INLINE void Store(int8_t* p, Bytes a) { vst1q_s8(p, vreinterpretq_s8_u8(a)); }
  static INTAGLIO_INLINE Bytes Set(uint8_t a) { return vdupq_n_u8(a); }
  static INTAGLIO_INLINE Bytes FlipKeep(Bytes a, Bytes flip, Bytes keep) {
    return vandq_u8(veorq_u8(a, flip), keep);
  }
  template <int kBits>
  static INTAGLIO_INLINE Bytes InterleaveLow(Bytes a, Bytes b) {
    if constexpr (kBits == 64) return vcombine_u8(vget_low_u8(a), vget_low_u8(b));
    return Interleave<kBits>(a, b, 0);
  }
  template <int kBits>
  static INTAGLIO_INLINE Bytes InterleaveHigh(Bytes a, Bytes b) {
    if constexpr (kBits == 64) return vcombine_u8(vget_high_u8(a), vget_high_u8(b));
    return Interleave<kBits>(a, b, 1);
  }

 private:
  template <int kBits>
  static INTAGLIO_INLINE Bytes Interleave(Bytes a, Bytes b, int half) {
    if constexpr (kBits == 8) {
      return vzipq_u8(a, b).val[half];
    } else if constexpr (kBits == 16) {
      return vreinterpretq_u8_u16(
          vzipq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)).val[half]);
    } else {
      return vreinterpretq_u8_u32(
          vzipq_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)).val[half]);
    }
  }
};

// Totals of a panel whose groups are V's: a vector of it makes four sums of four bytes each, of
// which kDepthStep / 4 belong to one channel.
template <class V>
class PanelTotalsNeon {
 public:
  static void Sum(const PanelSource& s, const int8_t* panel, int32_t* sums) {
    int64_t totals[kWidth] = {};
    Add(s, panel, totals, [](int8x16_t values, int) { return vpaddlq_s8(values); });
    for (int c = 0; c < s.channels; ++c) sums[c] = static_cast<int32_t>(totals[PlaceOf(s, c)]);
  }

  static int64_t Measure(const PanelSource& s, const int8_t* panel, const int32_t* zero_points) {
    int8_t zeros[kVectors * 16] = {};
    for (int c = 0; c < s.channels; ++c) {
      std::memset(zeros + PlaceOf(s, c) * kStep, zero_points[c], kStep);
    }
    int64_t totals[kWidth] = {};
    Add(s, panel, totals, [&](int8x16_t values, int i) {
      const int8x16_t distance = vabdq_s8(values, vld1q_s8(zeros + i * 16));
      return vreinterpretq_s16_u16(vpaddlq_u8(vreinterpretq_u8_s8(distance)));
    });
    const int padding = s.groups() * kStep - s.depth;
    int64_t largest = 0;
    for (int c = 0; c < s.channels; ++c) {
      const int64_t of_padding = int64_t{padding} * std::abs(zero_points[c]);
      largest = std::max(largest, totals[PlaceOf(s, c)] - of_padding);
    }
    return largest;
  }

 private:
  static constexpr int kStep = V::kDepthStep;
  static constexpr int kWidth = V::kLanes * V::kMaxVectors;
  static constexpr int kVectors = kWidth * kStep / 16;
  static constexpr int kChunk = 1 << 18;  // groups whose sums fit an int32

  // Of a channel within each group, in channels.
  static int PlaceOf(const PanelSource& s, int channel) {
    return channel / 4 % s.vectors * V::kLanes + channel / 4 / s.vectors * 4 + channel % 4;
  }

  // totals[place] += the sums of halves(vector, its index in the group), pairs of bytes in int16.
  template <class Halves>
  static void Add(const PanelSource& s, const int8_t* panel, int64_t* totals,
                  const Halves& halves) {
    const int vectors = static_cast<int>(s.group_bytes() / 16);
    for (int first = 0; first < s.groups(); first += kChunk) {
      const int groups = std::min(kChunk, s.groups() - first);
      for (int i = 0; i < vectors; ++i) {
        const int8_t* from = panel + first * s.group_bytes() + i * 16;
        int32x4_t sum = vdupq_n_s32(0);
        for (int g = 0; g < groups; ++g, from += s.group_bytes()) {
          sum = vpadalq_s16(sum, halves(vld1q_s8(from), i));
        }
        int32_t parts[4];
        vst1q_s32(parts, sum);
        for (int part = 0; part < 4; ++part) totals[(i * 4 + part) * 4 / kStep] += parts[part];
      }
    }
  }
};

// For a kernel vocabulary V.
template <class V>
inline constexpr PanelRoutines kPanelRoutinesNeon{FillPanelOf<V, ShufflesNeon, ShufflesNeon>,
                                                  PanelTotalsNeon<V>::Sum,
                                                  PanelTotalsNeon<V>::Measure};

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_ARM_PACKING_NEON_H_
