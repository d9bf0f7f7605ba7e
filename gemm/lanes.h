// From numbers per channel to numbers per lane of a panel.
#ifndef INTAGLIO_GEMM_LANES_H_
#define INTAGLIO_GEMM_LANES_H_

#include <algorithm>
#include <cstring>

#include "intaglio/pack/panels.h"

namespace intaglio {

// Copies the numbers of a panel's channels to the order of its lanes, which hold channels in runs
// of min(4, lanes); the rest is 0.
template <class T>
void ToLanes(const PanelFormat& format, const PanelExtent& extent, const T* channels, T* lanes) {
  const int run = std::min(4, format.lanes);
  const int runs = format.lanes / run;
  const int vectors = extent.vectors;
  T padded[kMaxPanelWidth];
  if (extent.channels < format.lanes * vectors) {
    std::fill(std::copy_n(channels, extent.channels, padded), padded + kMaxPanelWidth, T{0});
    channels = padded;
  }
  for (int v = 0; v < vectors; ++v) {
    for (int r = 0; r < runs; ++r, lanes += run) {
      const T* from = channels + (r * vectors + v) * run;
      if (run == 4) std::memcpy(lanes, from, 4 * sizeof(T));  // a size that the compiler knows
      if (run != 4) std::copy_n(from, run, lanes);
    }
  }
}

// The numbers of a panel's channels, of which a pipeline has one for all or one per channel.
template <class T>
const T* OfChannels(bool per_channel, const T* values, const PanelExtent& extent, T* repeated) {
  if (per_channel) return values + extent.first_channel;
  std::fill_n(repeated, extent.channels, *values);
  return repeated;
}

}  // namespace intaglio

#endif  // INTAGLIO_GEMM_LANES_H_
