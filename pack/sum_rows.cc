#include "intaglio/pack/rows.h"

namespace intaglio {
namespace {

constexpr int kBy = kInterleavedRows;

template <class Element>
int32_t SumRow(const Element* row, int depth) {
  uint32_t sum = 0;
  for (int k = 0; k < depth; ++k) sum += static_cast<uint32_t>(row[k]);
  return static_cast<int32_t>(sum);
}

int32_t SumInterleaved(const int8_t* row, int depth) {
  uint32_t sum = 0;
  for (int k = 0; k < depth; ++k) sum += static_cast<uint32_t>(row[k / kBy * kBy * kBy + k % kBy]);
  return static_cast<int32_t>(sum);
}

}  // namespace

void SumRows(RowFormat format, const void* rows, ptrdiff_t stride_bytes, int count, int depth,
             int32_t* sums) {
  for (int r = 0; r < count; ++r) {
    const auto* row = static_cast<const std::byte*>(rows) + r * stride_bytes;
    switch (format) {
      case RowFormat::kUnsigned8:
        sums[r] = SumRow(reinterpret_cast<const uint8_t*>(row), depth);
        break;
      case RowFormat::kSigned8:
        sums[r] = SumRow(reinterpret_cast<const int8_t*>(row), depth);
        break;
      case RowFormat::kWidened16:
        sums[r] = SumRow(reinterpret_cast<const int16_t*>(row), depth);
        break;
      case RowFormat::kSigned8By8:
        row -= r % kBy * (stride_bytes - kBy);
        sums[r] = SumInterleaved(reinterpret_cast<const int8_t*>(row), depth);
        break;
    }
  }
}

}  // namespace intaglio
