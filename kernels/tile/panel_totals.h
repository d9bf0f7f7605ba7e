// The totals of packed panels (pack/panels.h), over a kernel vocabulary V of kernels/tile/tile.h
// that has
//   Distance(panel, zero)   |panel - zero| of two LoadPanel operands, as the operand of a row
// Each is a product with a row of ones, or of a panel of ones.
#ifndef INTAGLIO_KERNELS_TILE_PANEL_TOTALS_H_
#define INTAGLIO_KERNELS_TILE_PANEL_TOTALS_H_

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "intaglio/kernels/tile/finish.h"
#include "intaglio/pack/panels.h"

namespace intaglio {

template <class V, int kVectors>
INTAGLIO_INLINE void StoreTotals(typename V::I32 (&acc)[kVectors], int32_t* totals) {
  constexpr int kRun = V::kLanes < 4 ? V::kLanes : 4;
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) V::StoreRuns(totals + j * kRun, kRun * kVectors, acc[j]);
}

// totals[channel] = the sum of dot(acc, vector of panel, j) over `groups` groups.
template <class V, int kVectors, class Dot>
INTAGLIO_INLINE void TotalGroups(const int8_t* panel, int groups, int32_t* totals, const Dot& dot) {
  typename V::I32 acc[kVectors];
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) acc[j] = V::Set(0);
  for (int g = 0; g < groups; ++g) {
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j, panel += V::kLanes * V::kDepthStep) {
      acc[j] = dot(acc[j], V::LoadPanel(panel), j);
    }
  }
  StoreTotals<V>(acc, totals);
}

// body(std::integral_constant<int, vectors>)
template <class V, int kVectors = V::kMaxVectors, class Body>
INTAGLIO_INLINE void ForVectors(int vectors, const Body& body) {
  if constexpr (kVectors > 1) {
    if (vectors < kVectors) return ForVectors<V, kVectors / 2>(vectors, body);
  }
  body(std::integral_constant<int, kVectors>());
}

// SumPanel of pack/panels.h.
template <class V>
void SumPanelOf(const PanelSource& s, const int8_t* panel, int32_t* sums) {
  alignas(8) int8_t ones[V::kRowBytes] = {};
  for (int i = 0; i < V::kDepthStep; ++i) ones[i * (V::kRowBytes / V::kDepthStep)] = 1;
  const typename V::Operand row = V::LoadRow(ones);
  int32_t totals[kMaxPanelWidth] = {};
  ForVectors<V>(s.vectors, [&](auto vectors) {
    TotalGroups<V, vectors()>(panel, s.groups(), totals,
                              [&](auto acc, auto values, int) { return V::Dot(acc, values, row); });
  });
  std::copy_n(totals, s.channels, sums);
}

// MeasurePanel of pack/panels.h.
template <class V>
int64_t MeasurePanelOf(const PanelSource& s, const int8_t* panel, const int32_t* zero_points) {
  constexpr int kVectorBytes = V::kLanes * V::kDepthStep;
  constexpr int kChunk = 1 << 18;  // groups whose total fits an int32
  int8_t ones[kVectorBytes];
  std::memset(ones, 1, sizeof(ones));
  int8_t zeros[V::kMaxVectors * kVectorBytes] = {};
  for (int j = 0; j < s.vectors; ++j) {
    for (int lane = 0; lane < V::kLanes; ++lane) {
      const int c = ChannelOfLane(s.format, s.vectors, j, lane);
      if (c >= s.channels) continue;
      std::memset(zeros + j * kVectorBytes + lane * V::kDepthStep, zero_points[c], V::kDepthStep);
    }
  }
  int64_t sums[kMaxPanelWidth] = {};
  for (int first = 0; first < s.groups(); first += kChunk) {
    int32_t totals[kMaxPanelWidth] = {};
    ForVectors<V>(s.vectors, [&](auto vectors) {
      typename V::Operand zero[vectors()];
      for (int j = 0; j < vectors(); ++j) zero[j] = V::LoadPanel(zeros + j * kVectorBytes);
      TotalGroups<V, vectors()>(
          panel + first * s.group_bytes(), std::min(kChunk, s.groups() - first), totals,
          [&](auto acc, auto values, int j) {
            return V::Dot(acc, V::LoadPanel(ones), V::Distance(values, zero[j]));
          });
    });
    for (int c = 0; c < s.channels; ++c) sums[c] += totals[c];
  }
  const int padding = s.groups() * V::kDepthStep - s.depth;
  int64_t largest = 0;
  for (int c = 0; c < s.channels; ++c) {
    largest = std::max(largest, sums[c] - int64_t{padding} * std::abs(zero_points[c]));
  }
  return largest;
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_TILE_PANEL_TOTALS_H_
