// Filling packed panels (pack/panels.h) by vectors. In any panel of at least four lanes four
// neighbouring channels, a *run*, lie side by side in each depth group.
//
// Written over a vocabulary B of byte shuffles:
//   Bytes                         B::kBlocks blocks of 16 bytes
//   LoadBlocks(p, apart)          16 bytes each from p, p + apart, ..
//   Store(p, a)
//   StoreHalves(p, apart, a)      the low halves of all blocks to p, the high ones to p + apart;
//                                 for depth steps of 2
//   Set(byte)
//   FlipKeep(a, flip, keep)       (a ^ flip) & keep
//   InterleaveLow<bits>(a, b)     a0 b0 a1 b1 .. of the low halves of each block
//   InterleaveHigh<bits>(a, b)
#ifndef INTAGLIO_KERNELS_TILE_FILL_PANEL_H_
#define INTAGLIO_KERNELS_TILE_FILL_PANEL_H_

#include <algorithm>
#include <cstring>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/pack/panels.h"

namespace intaglio {

// A depth step of V, a kernel vocabulary; Wide fills one vector of a panel at a time, Narrow has
// one block and fills what is left.
template <class V, class Wide, class Narrow>
class PanelFill {
 public:
  PanelFill(const PanelSource& source, int8_t* panel)
      : s_(source),
        panel_(panel),
        runs_(s_.format.lanes * s_.vectors / 4),
        group_bytes_(s_.group_bytes()) {}

  void Fill() const {
    const bool full = s_.channels == 4 * runs_;
    if (s_.depth_stride == 1) {
      full ? FillAlongDepth<Wide>(s_.vectors) : FillAlongDepth<Narrow>(runs_);
    } else {
      // Four runs to a block, as many as a wide panel has vectors.
      full&& s_.vectors == 4 ? FillAcross<Wide>() : FillAcross<Narrow>();
    }
  }

 private:
  static constexpr int kStep = V::kDepthStep;
  static constexpr int kRunBytes = 4 * kStep;
  static constexpr int kRunVectors = kRunBytes <= 16 ? 1 : kRunBytes / 16;  // of one block
  static constexpr int kLanes = V::kLanes;
  static_assert(kStep == 2 || kStep == 4 || (Wide::kBlocks == 1 && (kStep == 8 || kStep == 16)));
  static_assert(Narrow::kBlocks == 1 && (Wide::kBlocks == 1 || 4 * Wide::kBlocks == kLanes));

  ptrdiff_t PlaceOfRun(int q) const {
    return ptrdiff_t{q % s_.vectors * kLanes + q / s_.vectors * 4} * kStep;
  }

  // A source whose depth is contiguous. The writes of a stretch of depth stay in L1 until all runs
  // are there.
  template <class B>
  void FillAlongDepth(int starts) const {
    constexpr int kStretch = 256;
    for (int first = 0; first < s_.depth; first += kStretch) {
      for (int q = 0; q < starts; ++q) FillRuns<B>(q, first, std::min(kStretch, s_.depth - first));
    }
  }

  // Runs q, q + vectors, .. as many as B has blocks, over `depth` depths.
  template <class B>
  void FillRuns(int q, int first, int depth) const {
    const ptrdiff_t group_bytes = group_bytes_;
    const ptrdiff_t apart = 4 * s_.vectors * s_.channel_stride;
    const int channels = B::kBlocks > 1 ? 4 : std::clamp(s_.channels - 4 * q, 0, 4);
    const auto flip = B::Set(s_.flip);
    typename B::Bytes keep[kRunVectors];
    Present<B>(channels, keep);
    const uint8_t* from[4];  // what is not there is read from where something is
    for (int c = 0; c < 4; ++c) {
      from[c] = s_.data + (c < channels ? 4 * q + c : 0) * s_.channel_stride + first;
    }
    int8_t* to = panel_ + first / kStep * group_bytes + PlaceOfRun(q);
    int k = 0;
    for (; k + 16 <= depth; k += 16, to += 16 / kStep * group_bytes) {
      Transpose<B>(B::LoadBlocks(from[0] + k, apart), B::LoadBlocks(from[1] + k, apart),
                   B::LoadBlocks(from[2] + k, apart), B::LoadBlocks(from[3] + k, apart), flip, keep,
                   to, group_bytes);
    }
    if (k == depth) return;
    const auto left = static_cast<size_t>(depth - k);
    uint8_t rows[4][16 * B::kBlocks];
    std::memset(rows, s_.flip, sizeof(rows));
    for (int c = 0; c < 4; ++c) {
      for (int b = 0; b < B::kBlocks; ++b) {
        std::memcpy(rows[c] + 16 * b, from[c] + b * apart + k, left);
      }
    }
    constexpr int kBytes = kRunBytes * B::kBlocks;
    int8_t groups[64 * B::kBlocks];
    Transpose<B>(B::LoadBlocks(rows[0], 16), B::LoadBlocks(rows[1], 16), B::LoadBlocks(rows[2], 16),
                 B::LoadBlocks(rows[3], 16), flip, keep, groups, kBytes);
    for (int g = 0; g * kStep < static_cast<int>(left); ++g) {
      std::memcpy(to + g * group_bytes, groups + g * kBytes, kBytes);
    }
  }

  // All bits of the first `channels` channels of runs.
  template <class B>
  static INTAGLIO_INLINE void Present(int channels, typename B::Bytes (&keep)[kRunVectors]) {
    for (int v = 0; v < kRunVectors; ++v) {
      keep[v] = B::Set(0xff);
      if (channels == 4) continue;
      uint8_t bits[16 * B::kBlocks];
      for (int i = 0; i < 16 * B::kBlocks; ++i) {
        bits[i] = (16 * v + i) % kRunBytes < channels * kStep ? 0xff : 0;
      }
      keep[v] = B::LoadBlocks(bits, 16);
    }
  }

  // Sixteen depths of four channels become the same run of 16 / kStep groups, in every block.
  template <class B, class Bytes = typename B::Bytes>
  static INTAGLIO_INLINE void Transpose(Bytes c0, Bytes c1, Bytes c2, Bytes c3, Bytes flip,
                                        const Bytes (&keep)[kRunVectors], int8_t* to,
                                        ptrdiff_t group_bytes) {
    if constexpr (kStep >= 8) {
      const auto store = [&](int group, int part, Bytes a) {
        B::Store(to + group * group_bytes + 16 * part, B::FlipKeep(a, flip, keep[part]));
      };
      if constexpr (kStep == 16) {
        store(0, 0, c0);
        store(0, 1, c1);
        store(0, 2, c2);
        store(0, 3, c3);
      } else {
        store(0, 0, B::template InterleaveLow<64>(c0, c1));
        store(0, 1, B::template InterleaveLow<64>(c2, c3));
        store(1, 0, B::template InterleaveHigh<64>(c0, c1));
        store(1, 1, B::template InterleaveHigh<64>(c2, c3));
      }
    } else {
      TransposeShort<B>(c0, c1, c2, c3, flip, keep[0], to, group_bytes);
    }
  }

  template <class B, class Bytes = typename B::Bytes>
  static INTAGLIO_INLINE void TransposeShort(Bytes c0, Bytes c1, Bytes c2, Bytes c3, Bytes flip,
                                             Bytes keep, int8_t* to, ptrdiff_t group_bytes) {
    constexpr int kBits = 8 * kStep;
    const auto store = [&](int group, Bytes a) {
      a = B::FlipKeep(a, flip, keep);
      if constexpr (kStep == 4) {
        B::Store(to + group * group_bytes, a);
      } else {
        B::StoreHalves(to + group * group_bytes, group_bytes, a);
      }
    };
    constexpr int kGroups = 4 / kStep;  // of a block
    const Bytes ab = B::template InterleaveLow<kBits>(c0, c1);
    const Bytes cd = B::template InterleaveLow<kBits>(c2, c3);
    store(0, B::template InterleaveLow<2 * kBits>(ab, cd));
    store(kGroups, B::template InterleaveHigh<2 * kBits>(ab, cd));
    const Bytes ab_high = B::template InterleaveHigh<kBits>(c0, c1);
    const Bytes cd_high = B::template InterleaveHigh<kBits>(c2, c3);
    store(2 * kGroups, B::template InterleaveLow<2 * kBits>(ab_high, cd_high));
    store(3 * kGroups, B::template InterleaveHigh<2 * kBits>(ab_high, cd_high));
  }

  // A source whose channels are contiguous: sixteen to a block.
  template <class B>
  void FillAcross() const {
    ptrdiff_t places[kMaxPanelWidth / 4];
    for (int q = 0; q < runs_; ++q) places[q] = PlaceOfRun(q);
    int8_t* group = panel_;
    const auto flip = B::Set(s_.flip);
    for (int k = 0; k < s_.depth; k += kStep, group += group_bytes_) {
      const uint8_t* from = s_.data + k * s_.depth_stride;
      const int depths = std::min(kStep, s_.depth - k);
      for (int q = 0; q < runs_; q += 4 * B::kBlocks, from += 16 * B::kBlocks) {
        typename B::Bytes rows[kStep];
        LoadRows<B>(from, std::clamp(s_.channels - 4 * q, 0, 16 * B::kBlocks), depths, rows);
        Interleave<B>(rows, flip, group, places + q, runs_ - q);
      }
    }
  }

  // `channels` channels of `depths` depths; what is not there becomes 0.
  template <class B>
  INTAGLIO_INLINE void LoadRows(const uint8_t* from, int channels, int depths,
                                typename B::Bytes (&rows)[kStep]) const {
    for (int t = 0; t < kStep; ++t) {
      const uint8_t* row = from + t * s_.depth_stride;
      if (channels == 16 * B::kBlocks && t < depths) {
        rows[t] = B::LoadBlocks(row, 16);
        continue;
      }
      uint8_t padded[16 * B::kBlocks];
      std::memset(padded, s_.flip, sizeof(padded));
      if (t < depths && channels > 0) std::memcpy(padded, row, static_cast<size_t>(channels));
      rows[t] = B::LoadBlocks(padded, 16);
    }
  }

  // One group of sixteen channels a block becomes four runs a block, the first `runs` of which go
  // to their places; those of further blocks follow, where B has any.
  template <class B, class Bytes = typename B::Bytes>
  static INTAGLIO_INLINE void Interleave(const Bytes (&d)[kStep], Bytes flip, int8_t* group,
                                         const ptrdiff_t* places, int runs) {
    if constexpr (kStep >= 8) {
      Bytes run[kStep];
      Gather<B, 8, kStep>(d, run);
      const auto keep = B::Set(0xff);
      for (int i = 0; i < 4 * kRunVectors && i < runs * kRunVectors; ++i) {
        B::Store(group + places[i / kRunVectors] + 16 * (i % kRunVectors),
                 B::FlipKeep(run[i], flip, keep));
      }
    } else {
      InterleaveShort<B>(d, flip, group, places, runs);
    }
  }

  template <class B, class Bytes = typename B::Bytes>
  static INTAGLIO_INLINE void InterleaveShort(const Bytes (&d)[kStep], Bytes flip, int8_t* group,
                                              const ptrdiff_t* places, int runs) {
    const auto keep = B::Set(0xff);
    const Bytes ab = B::template InterleaveLow<8>(d[0], d[1]);
    const Bytes ab_high = B::template InterleaveHigh<8>(d[0], d[1]);
    if constexpr (kStep == 4) {
      const Bytes cd = B::template InterleaveLow<8>(d[2], d[3]);
      const Bytes cd_high = B::template InterleaveHigh<8>(d[2], d[3]);
      const Bytes run[4] = {B::template InterleaveLow<16>(ab, cd),
                            B::template InterleaveHigh<16>(ab, cd),
                            B::template InterleaveLow<16>(ab_high, cd_high),
                            B::template InterleaveHigh<16>(ab_high, cd_high)};
      for (int i = 0; i < 4; ++i) {
        if (i < runs) B::Store(group + places[i], B::FlipKeep(run[i], flip, keep));
      }
    } else {
      const Bytes run[2] = {ab, ab_high};
      for (int i = 0; i < 4; i += 2) {
        if (i >= runs) break;
        // A panel of one run has no second half.
        if (i + 1 == runs) {
          int8_t halves[2][8 * B::kBlocks];
          B::StoreHalves(halves[0], sizeof(halves[0]), B::FlipKeep(run[i / 2], flip, keep));
          std::memcpy(group + places[i], halves[0], sizeof(halves[0]));
        } else {
          B::StoreHalves(group + places[i], places[i + 1] - places[i],
                         B::FlipKeep(run[i / 2], flip, keep));
        }
      }
    }
  }

  // kStep vectors, kStep / kLeft parts of the channels in kLeft vectors each, become as many of all
  // depths, in the order of channels.
  template <class B, int kBits, int kLeft, class Bytes = typename B::Bytes>
  static INTAGLIO_INLINE void Gather(const Bytes (&from)[kStep], Bytes (&to)[kStep]) {
    Bytes next[kStep];
    for (int part = 0; part < kStep / kLeft; ++part) {
      for (int i = 0; i < kLeft / 2; ++i) {
        const Bytes a = from[part * kLeft + 2 * i];
        const Bytes b = from[part * kLeft + 2 * i + 1];
        next[part * kLeft + i] = B::template InterleaveLow<kBits>(a, b);
        next[part * kLeft + kLeft / 2 + i] = B::template InterleaveHigh<kBits>(a, b);
      }
    }
    if constexpr (kLeft > 2) {
      Gather<B, 2 * kBits, kLeft / 2>(next, to);
    } else {
      std::copy_n(next, kStep, to);
    }
  }

  const PanelSource s_;
  int8_t* const panel_;
  const int runs_;
  const ptrdiff_t group_bytes_;
};

// FillPanel of pack/panels.h.
template <class V, class Wide, class Narrow>
void FillPanelOf(const PanelSource& source, int8_t* panel) {
  PanelFill<V, Wide, Narrow>(source, panel).Fill();
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_FILL_PANEL_H_
