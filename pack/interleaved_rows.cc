#include "intaglio/pack/interleaved_rows.h"

#include <algorithm>
#include <cstring>

#include "intaglio/pack/first_byte.h"

namespace intaglio {
namespace {

constexpr int kBy = kInterleavedRows;

// `count` rows of whole eights of depth, read where they lie.
void InterleaveRows(const std::byte* rows, ptrdiff_t stride, int count, int depth, std::byte* to) {
  for (int k = 0; k < depth; k += kBy, rows += kBy, to += kBy * kBy) {
    for (int r = 0; r < count; ++r) std::memcpy(to + r * kBy, rows + r * stride, kBy);
  }
}

}  // namespace

void PackInterleavedRows(const RowSource& source, int first, int count, int padded_depth,
                         std::byte* packed) {
  const ptrdiff_t bytes = ptrdiff_t{kBy} * padded_depth;
  const bool in_place = source.ServesInPlace(RowFormat::kSigned8, padded_depth);
  for (int r = 0; r < count; r += kBy, packed += bytes) {
    const int rows = std::min(kBy, count - r);
    if (in_place) {
      const ConstMatrix& m = source.matrix;
      const uint8_t* const from = FirstByte(m) + (first + r) * m.stride;
      InterleaveRows(reinterpret_cast<const std::byte*>(from), m.stride, rows, m.cols, packed);
    } else {
      PackRows(source, RowFormat::kSigned8, first + r, rows, padded_depth, packed + bytes);
      InterleaveRows(packed + bytes, padded_depth, rows, padded_depth, packed);
    }
  }
}

}  // namespace intaglio
