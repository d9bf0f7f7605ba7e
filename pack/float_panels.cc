#include "intaglio/pack/float_panels.h"

#include <algorithm>
#include <cstring>

namespace intaglio {
namespace {

typedef float Four __attribute__((vector_size(16)));

Four Load(const float* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// to[k * width + c] = from[c * column + k] for c and k in [0, 4).
void Transpose(const float* from, ptrdiff_t column, float* to, ptrdiff_t width) {
  const Four a = Load(from);
  const Four b = Load(from + column);
  const Four c = Load(from + 2 * column);
  const Four d = Load(from + 3 * column);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four rows[] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                       __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                       __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                       __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (int k = 0; k < 4; ++k) std::memcpy(to + k * width, &rows[k], sizeof(Four));
}

// Elements of a channel that are read together, about a line of cache: channels may be powers of
// two apart, whose lines share a place there.
constexpr int kLine = 16;

// Packs a matrix of few depths to as many of a panel of this width.
void PackLine(const StridedMatrix& m, float* to, ptrdiff_t width) {
  const auto [data, row, column, channels, depth] = m;
  for (int k = 0; k < depth; ++k) std::fill(to + k * width + channels, to + (k + 1) * width, 0.0f);
  if (column == 1) {
    for (int k = 0; k < depth; ++k) {
      std::memcpy(to + k * width, data + k * row, static_cast<size_t>(channels) * sizeof(float));
    }
    return;
  }
  const int whole = row == 1 ? depth / 4 * 4 : 0;  // of the depth, by fours
  int c = 0;
  for (; c + 4 <= channels; c += 4) {
    for (int k = 0; k < whole; k += 4) {
      Transpose(data + c * column + k, column, to + k * width + c, width);
    }
  }
  for (int k = 0; k < depth; ++k) {
    const int first = k < whole ? c : 0;
    for (int i = first; i < channels; ++i) to[k * width + i] = data[k * row + i * column];
  }
}

}  // namespace

size_t FloatPanelElements(int channels, int depth, int lanes) {
  const auto width = static_cast<size_t>(lanes);
  return (static_cast<size_t>(channels) + width - 1) / width * width * static_cast<size_t>(depth);
}

void PackFloatPanels(const StridedMatrix& matrix, int lanes, float* to) {
  for (int first = 0; first < matrix.channels;) {
    const int vectors = std::min(kPanelVectors, (matrix.channels - first + lanes - 1) / lanes);
    const int width = vectors * lanes;
    StridedMatrix line = matrix;
    line.channels = std::min(width, matrix.channels - first);
    for (int k = 0; k < matrix.depth; k += kLine) {
      line.data = matrix.data + k * matrix.row + first * matrix.column;
      line.depth = std::min(kLine, matrix.depth - k);
      PackLine(line, to + ptrdiff_t{k} * width, width);
    }
    to += ptrdiff_t{matrix.depth} * width;
    first += width;
  }
}

}  // namespace intaglio
