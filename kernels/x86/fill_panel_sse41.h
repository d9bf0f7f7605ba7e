// Filling packed panels (pack/panels.h) for every x86 kernel, sixteen bytes at a time: in any panel
// four neighbouring channels, a *run*, lie side by side in each depth group.
#ifndef INTAGLIO_KERNELS_X86_FILL_PANEL_SSE41_H_
#define INTAGLIO_KERNELS_X86_FILL_PANEL_SSE41_H_

#include <algorithm>
#include <cstring>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/kernels/x86/intrinsics.h"
#include "intaglio/pack/panels.h"

namespace intaglio {

// Of kDepthStep depths and four channels.
template <int kDepthStep>
struct RunSse41 {
  static_assert(kDepthStep == 2 || kDepthStep == 4);
  static constexpr int kBytes = 4 * kDepthStep;

  static INTAGLIO_INLINE __m128i Load(const void* p) {
    return _mm_loadu_si128(static_cast<const __m128i*>(p));
  }
  static INTAGLIO_INLINE void Store(int8_t* to, __m128i a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), a);
  }
  static INTAGLIO_INLINE void StoreHalf(int8_t* to, __m128i a) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), a);
  }
  // Two runs of two depths, the low one first.
  static INTAGLIO_INLINE void StorePair(int8_t* to, ptrdiff_t apart, __m128i a) {
    StoreHalf(to, a);
    StoreHalf(to + apart, _mm_unpackhi_epi64(a, a));
  }

  // Sixteen depths of four channels, c[channel][depth], become the same run of 16 / kDepthStep
  // groups, `apart` bytes from each other. finish(a) gives the bytes to store.
  template <class Finish>
  static INTAGLIO_INLINE void Transpose(const __m128i (&c)[4], const Finish& finish, int8_t* to,
                                        ptrdiff_t apart) {
    if constexpr (kDepthStep == 4) {
      const __m128i ab = _mm_unpacklo_epi32(c[0], c[1]);
      const __m128i AB = _mm_unpackhi_epi32(c[0], c[1]);
      const __m128i cd = _mm_unpacklo_epi32(c[2], c[3]);
      const __m128i CD = _mm_unpackhi_epi32(c[2], c[3]);
      Store(to, finish(_mm_unpacklo_epi64(ab, cd)));
      Store(to + apart, finish(_mm_unpackhi_epi64(ab, cd)));
      Store(to + 2 * apart, finish(_mm_unpacklo_epi64(AB, CD)));
      Store(to + 3 * apart, finish(_mm_unpackhi_epi64(AB, CD)));
    } else {
      const __m128i ab = _mm_unpacklo_epi16(c[0], c[1]);
      const __m128i AB = _mm_unpackhi_epi16(c[0], c[1]);
      const __m128i cd = _mm_unpacklo_epi16(c[2], c[3]);
      const __m128i CD = _mm_unpackhi_epi16(c[2], c[3]);
      StorePair(to, apart, finish(_mm_unpacklo_epi32(ab, cd)));
      StorePair(to + 2 * apart, apart, finish(_mm_unpackhi_epi32(ab, cd)));
      StorePair(to + 4 * apart, apart, finish(_mm_unpacklo_epi32(AB, CD)));
      StorePair(to + 6 * apart, apart, finish(_mm_unpackhi_epi32(AB, CD)));
    }
  }

  // kDepthStep depths of sixteen channels, d[depth][channel], become the first `runs` runs of one
  // group, each at its place.
  template <class Finish>
  static INTAGLIO_INLINE void Interleave(const __m128i (&d)[kDepthStep], const Finish& finish,
                                         int8_t* group, const ptrdiff_t* places, int runs) {
    const __m128i ab = _mm_unpacklo_epi8(d[0], d[1]);
    const __m128i AB = _mm_unpackhi_epi8(d[0], d[1]);
    if constexpr (kDepthStep == 4) {
      const __m128i cd = _mm_unpacklo_epi8(d[2], d[3]);
      const __m128i CD = _mm_unpackhi_epi8(d[2], d[3]);
      Store(group + places[0], finish(_mm_unpacklo_epi16(ab, cd)));
      if (runs > 1) Store(group + places[1], finish(_mm_unpackhi_epi16(ab, cd)));
      if (runs > 2) Store(group + places[2], finish(_mm_unpacklo_epi16(AB, CD)));
      if (runs > 3) Store(group + places[3], finish(_mm_unpackhi_epi16(AB, CD)));
    } else {
      const __m128i low = finish(ab);
      const __m128i high = finish(AB);
      StoreHalf(group + places[0], low);
      if (runs > 1) StoreHalf(group + places[1], _mm_unpackhi_epi64(low, low));
      if (runs > 2) StoreHalf(group + places[2], high);
      if (runs > 3) StoreHalf(group + places[3], _mm_unpackhi_epi64(high, high));
    }
  }

  // All bits of the first `channels` channels of every run of a vector.
  static INTAGLIO_INLINE __m128i Present(int channels) {
    alignas(16) int8_t bits[16];
    for (int i = 0; i < 16; ++i) bits[i] = i % kBytes < channels * kDepthStep ? -1 : 0;
    return Load(bits);
  }
};

// A panel on its way, of a source one way or the other.
template <class V>
class PanelFillSse41 {
 public:
  PanelFillSse41(const PanelSource& source, int8_t* panel)
      : s_(source),
        panel_(panel),
        runs_(s_.format.lanes * s_.vectors / 4),
        flip_(_mm_set1_epi8(static_cast<char>(s_.flip))) {
    for (int q = 0; q < runs_; ++q) {
      places_[q] = ptrdiff_t{q % s_.vectors * s_.format.lanes + q / s_.vectors * 4} * kStep;
    }
  }

  void Fill() const { s_.depth_stride == 1 ? FillAlongDepth() : FillAcross(); }

 private:
  static constexpr int kStep = V::kDepthStep;
  using Run = RunSse41<kStep>;

  // A source whose depth is contiguous. The writes of a block stay in L1 until all runs are there.
  void FillAlongDepth() const {
    constexpr int kBlock = 256;
    for (int first = 0; first < s_.depth; first += kBlock) {
      for (int q = 0; q < runs_; ++q) FillRun(q, first, std::min(kBlock, s_.depth - first));
    }
  }

  void FillRun(int q, int first, int depth) const {
    const int channels = std::clamp(s_.channels - 4 * q, 0, 4);
    const __m128i present = Run::Present(channels);
    const auto finish = [&](__m128i a) { return _mm_and_si128(_mm_xor_si128(a, flip_), present); };
    const uint8_t* from[4];  // what is not there is read from where something is
    for (int c = 0; c < 4; ++c) {
      from[c] = s_.data + (c < channels ? 4 * q + c : 0) * s_.channel_stride + first;
    }
    int8_t* to = panel_ + first / kStep * s_.group_bytes() + places_[q];
    int k = 0;
    for (; k + 16 <= depth; k += 16, to += 16 / kStep * s_.group_bytes()) {
      const __m128i block[4] = {Run::Load(from[0] + k), Run::Load(from[1] + k),
                                Run::Load(from[2] + k), Run::Load(from[3] + k)};
      Run::Transpose(block, finish, to, s_.group_bytes());
    }
    if (k == depth) return;
    const auto left = static_cast<size_t>(depth - k);
    __m128i block[4] = {flip_, flip_, flip_, flip_};
    for (int c = 0; c < 4; ++c) std::memcpy(&block[c], from[c] + k, left);
    int8_t groups[64];
    Run::Transpose(block, finish, groups, Run::kBytes);
    for (int g = 0; g * kStep < static_cast<int>(left); ++g) {
      std::memcpy(to + g * s_.group_bytes(), groups + g * Run::kBytes, Run::kBytes);
    }
  }

  // A source whose channels are contiguous.
  void FillAcross() const {
    const auto finish = [&](__m128i a) { return _mm_xor_si128(a, flip_); };
    int8_t* group = panel_;
    for (int k = 0; k < s_.depth; k += kStep, group += s_.group_bytes()) {
      const uint8_t* from = s_.data + k * s_.depth_stride;
      const int depths = std::min(kStep, s_.depth - k);
      for (int q = 0; q < runs_; q += 4, from += 16) {
        const int channels = std::clamp(s_.channels - 4 * q, 0, 16);
        __m128i block[kStep];
        for (int t = 0; t < kStep; ++t) {
          if (channels == 16 && depths == kStep) {
            block[t] = Run::Load(from + t * s_.depth_stride);
          } else {
            block[t] = flip_;
            if (t < depths) {
              std::memcpy(&block[t], from + t * s_.depth_stride, static_cast<size_t>(channels));
            }
          }
        }
        Run::Interleave(block, finish, group, places_ + q, runs_ - q);
      }
    }
  }

  const PanelSource& s_;
  int8_t* panel_;
  int runs_;
  __m128i flip_;
  ptrdiff_t places_[kMaxPanelWidth / 4];
};

// FillPanel of pack/panels.h, for a kernel vocabulary V.
template <class V>
void FillPanelSse41(const PanelSource& source, int8_t* panel) {
  PanelFillSse41<V>(source, panel).Fill();
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_FILL_PANEL_SSE41_H_
