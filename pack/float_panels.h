// Panels of float32: a matrix [depth, channels] as [panel, depth, channel of the panel]. A panel
// has kPanelVectors vectors of channels, and the last one as many as it needs.
#ifndef INTAGLIO_PACK_FLOAT_PANELS_H_
#define INTAGLIO_PACK_FLOAT_PANELS_H_

#include <cstddef>

namespace intaglio {

inline constexpr int kPanelVectors = 4;

// A matrix [depth, channels] whose element [k, c] lies at data[k * row + c * column].
struct StridedMatrix {
  const float* data = nullptr;
  ptrdiff_t row = 0;
  ptrdiff_t column = 0;
  int channels = 0;
  int depth = 0;
};

// The float32 elements that the panels of a matrix take, in vectors of so many lanes.
size_t FloatPanelElements(int channels, int depth, int lanes);
void PackFloatPanels(const StridedMatrix& matrix, int lanes, float* to);

}  // namespace intaglio

#endif  // INTAGLIO_PACK_FLOAT_PANELS_H_
