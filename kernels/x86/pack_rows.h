// Rows (PackRows of pack/rows.h) for every x86 kernel.
#ifndef INTAGLIO_KERNELS_X86_PACK_ROWS_H_
#define INTAGLIO_KERNELS_X86_PACK_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/pack/matrix.h"
#include "intaglio/pack/rows.h"

namespace intaglio {

// Rows of V, a kernel vocabulary: plain loops, of which the compiler makes vectors of V's
// instruction set. Their ends take longer than a short row, which PackRows copies in pieces.
template <class V>
class RowPacker {
 public:
  static bool Takes(const RowSource& source, int padded_depth) {
    if (source.is_im2col || source.matrix.order != Order::kRowMajor) return false;
    return source.matrix.cols >= 128 || IsOneRun(source.matrix, padded_depth);
  }

  static void Pack(const RowSource& source, int first, int count, int padded_depth, void* packed) {
    const ConstMatrix& m = source.matrix;
    const auto* from = static_cast<const uint8_t*>(m.data) + first * m.stride;
    auto* to = static_cast<Element*>(packed);
    if (IsOneRun(m, padded_depth)) {
      Move(m.type, from, ptrdiff_t{count} * m.cols, to);
      return;
    }
    for (int r = 0; r < count; ++r, from += m.stride, to += padded_depth) {
      Move(m.type, from, m.cols, to);
      for (int k = m.cols; k < padded_depth; ++k) to[k] = 0;
    }
  }

 private:
  static constexpr bool kWide = V::kRowBytes / V::kDepthStep == 2;
  using Element = std::conditional_t<kWide, int16_t, uint8_t>;

  static bool IsOneRun(const ConstMatrix& m, int padded_depth) {
    return m.stride == m.cols && padded_depth == m.cols;
  }

  static INTAGLIO_INLINE void Move(Type type, const uint8_t* __restrict from, ptrdiff_t n,
                                   Element* __restrict to) {
    if constexpr (!kWide) {
      const auto flip = static_cast<uint8_t>(RowMove(RowFormat::kUnsigned8, type));
      for (ptrdiff_t i = 0; i < n; ++i) to[i] = static_cast<uint8_t>(from[i] ^ flip);
    } else if (type == Type::kInt8) {
      for (ptrdiff_t i = 0; i < n; ++i) to[i] = static_cast<int8_t>(from[i]);
    } else {
      for (ptrdiff_t i = 0; i < n; ++i) to[i] = from[i];
    }
  }
};

template <class V>
void PackRowsOf(const RowSource& source, RowFormat format, int first, int count, int padded_depth,
                void* packed) {
  if (RowPacker<V>::Takes(source, padded_depth)) {
    RowPacker<V>::Pack(source, first, count, padded_depth, packed);
  } else {
    PackRows(source, format, first, count, padded_depth, packed);
  }
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_X86_PACK_ROWS_H_
