#include "intaglio/pack/rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "intaglio/pack/first_byte.h"
#include "intaglio/pack/im2col_rows.h"
#include "intaglio/pack/interleaved_rows.h"
#include "intaglio/pack/validate.h"

namespace intaglio {
namespace {

// Turns source bytes into row elements: the same bytes, with the top bit flipped, or widened.
struct SameBytes {
  using Element = uint8_t;
  static Element Convert(uint8_t byte) { return byte; }
};
struct FlippedBytes {
  using Element = uint8_t;
  static Element Convert(uint8_t byte) { return byte ^ 0x80; }
};
struct WidenedUnsigned {
  using Element = int16_t;
  static Element Convert(uint8_t byte) { return byte; }
};
struct WidenedSigned {
  using Element = int16_t;
  static Element Convert(uint8_t byte) { return static_cast<int8_t>(byte); }
};

// Where the elements of runs come from, which begin `step` apart.
template <class Elements>
struct Converting {
  using Element = typename Elements::Element;
  const uint8_t* from;
  ptrdiff_t step;

  // kCount elements from element i of the run on, by way of registers.
  template <int kCount>
  void Put(int i, Element* to) const {
    uint8_t bytes[kCount];
    Element elements[kCount];
    std::memcpy(bytes, from + i, sizeof(bytes));
    for (int j = 0; j < kCount; ++j) elements[j] = Elements::Convert(bytes[j]);
    std::memcpy(to + i, elements, sizeof(elements));
  }
  void Next() { from += step; }
};
// Elements that are all alike.
template <class T>
struct Constant {
  using Element = T;
  T value;

  template <int kCount>
  void Put(int i, T* to) const {
    T elements[kCount];
    std::fill_n(elements, kCount, value);
    std::memcpy(to + i, elements, sizeof(elements));
  }
  void Next() {}
};

// `count` runs of `length` >= kPiece elements, in pieces of which the last overlaps the one before:
// of short runs a call of memcpy or memset each would take longer than all else.
template <int kPiece, class Source>
void PutPieces(Source source, int length, int count, typename Source::Element* to, ptrdiff_t step) {
  for (int r = 0; r < count; ++r, source.Next(), to += step) {
    int i = 0;
    for (; i + kPiece < length; i += kPiece) source.template Put<kPiece>(i, to);
    source.template Put<kPiece>(length - kPiece, to);
  }
}

// The same of 2 * kPiece < length <= 3 * kPiece, three taps of sixteen channels say, without a
// loop.
template <int kPiece, class Source>
void PutThreePieces(Source source, int length, int count, typename Source::Element* to,
                    ptrdiff_t step) {
  for (int r = 0; r < count; ++r, source.Next(), to += step) {
    source.template Put<kPiece>(0, to);
    source.template Put<kPiece>(kPiece, to);
    source.template Put<kPiece>(length - kPiece, to);
  }
}

template <class Source>
void PutRuns(Source source, int length, int count, typename Source::Element* to, ptrdiff_t step) {
  if (length > 32 && length <= 48) {
    PutThreePieces<16>(source, length, count, to, step);
  } else if (length >= 16) {
    PutPieces<16>(source, length, count, to, step);
  } else if (length >= 8) {
    PutPieces<8>(source, length, count, to, step);
  } else if (length >= 4) {
    PutPieces<4>(source, length, count, to, step);
  } else if (length > 0) {
    PutPieces<1>(source, length, count, to, step);
  }
}

// `count` runs of `length` elements, the beginnings `from_step` and `to_step` apart.
template <class Elements>
void CopyRuns(const uint8_t* from, ptrdiff_t from_step, int length, int count,
              typename Elements::Element* to, ptrdiff_t to_step) {
  if (!std::is_same_v<Elements, SameBytes> || length < 128) {
    return PutRuns(Converting<Elements>{from, from_step}, length, count, to, to_step);
  }
  for (int r = 0; r < count; ++r, from += from_step, to += to_step) {
    std::memcpy(to, from, static_cast<size_t>(length));
  }
}

// As many of elements that are all alike.
template <class Element>
void FillRuns(Element value, int length, int count, Element* to, ptrdiff_t to_step) {
  PutRuns(Constant<Element>{value}, length, count, to, to_step);
}

template <class Elements>
void PackMatrixRows(const ConstMatrix& m, int first, int count, int padded_depth,
                    typename Elements::Element* packed) {
  const uint8_t* const data = FirstByte(m);
  const bool contiguous = RowsAreContiguous(m);
  if (contiguous) {
    const ptrdiff_t stride = m.order == Order::kRowMajor ? m.stride : 1;
    CopyRuns<Elements>(data + first * stride, stride, m.cols, count, packed, padded_depth);
  }
  FillRuns<typename Elements::Element>(0, padded_depth - m.cols, count, packed + m.cols,
                                       padded_depth);
  for (int r = 0; !contiguous && r < count; ++r, packed += padded_depth) {
    const uint8_t* from = data + (first + r);
    for (int k = 0; k < m.cols; ++k) packed[k] = Elements::Convert(from[k * m.stride]);
  }
}

// How rows of an im2col view are put (pack/im2col_rows.h).
template <class Bytes>
struct InPieces : Bytes {
  using typename Bytes::Element;

  static void CopyRuns(const uint8_t* from, ptrdiff_t from_step, int length, int count, Element* to,
                       ptrdiff_t to_step) {
    intaglio::CopyRuns<Bytes>(from, from_step, length, count, to, to_step);
  }
  static void FillRuns(Element value, int length, int count, Element* to, ptrdiff_t to_step) {
    intaglio::FillRuns(value, length, count, to, to_step);
  }
};

template <class Elements>
void PackAs(const RowSource& source, int first, int count, int padded_depth, void* packed) {
  auto* elements = static_cast<typename Elements::Element*>(packed);
  if (source.is_im2col) {
    Im2colRows<InPieces<Elements>>::Pack(source.im2col, first, count, padded_depth, elements);
  } else {
    PackMatrixRows<Elements>(source.matrix, first, count, padded_depth, elements);
  }
}

}  // namespace

RowSource RowSource::From(const Im2col& v) {
  const bool is_matrix = v.kernel_height == 1 && v.kernel_width == 1 && v.stride_height == 1 &&
                         v.stride_width == 1 && v.pad_top == 0 && v.pad_left == 0 &&
                         v.out_height == v.height && v.out_width == v.width;
  if (!is_matrix) return {.im2col = v, .is_im2col = true};
  const auto* data = static_cast<const uint8_t*>(v.data) + v.first_channel;
  return From(ConstMatrix{data, v.type, Rows(v), v.group_channels, v.channels, Order::kRowMajor,
                          v.zero_point});
}

int64_t RowSource::Magnitude() const { return LargestDistance(type(), raw_zero_point()); }

int32_t RowSource::ZeroPoint(RowFormat format) const {
  return raw_zero_point() + RowMove(format, type());
}

bool RowSource::ServesInPlace(RowFormat format, int padded_depth) const {
  const bool own_bytes = (format == RowFormat::kUnsigned8 && type() == Type::kUInt8) ||
                         (format == RowFormat::kSigned8 && type() == Type::kInt8);
  return own_bytes && !is_im2col && matrix.order == Order::kRowMajor && matrix.cols == padded_depth;
}

size_t PackedRowsBytes(RowFormat format, int count, size_t padded_depth) {
  // Of interleaved rows whole eights, and place for eight more.
  const int rows = format == RowFormat::kSigned8By8
                       ? (count + 2 * kInterleavedRows - 1) / kInterleavedRows * kInterleavedRows
                       : count;
  return static_cast<size_t>(rows) * padded_depth * RowElementBytes(format);
}

void PackRows(const RowSource& source, RowFormat format, int first, int count, int padded_depth,
              void* packed) {
  const bool is_signed = source.type() == Type::kInt8;
  if (format == RowFormat::kSigned8By8) {
    PackInterleavedRows(source, first, count, padded_depth, static_cast<std::byte*>(packed));
  } else if (format != RowFormat::kWidened16) {
    RowMove(format, source.type()) != 0
        ? PackAs<FlippedBytes>(source, first, count, padded_depth, packed)
        : PackAs<SameBytes>(source, first, count, padded_depth, packed);
  } else {
    is_signed ? PackAs<WidenedSigned>(source, first, count, padded_depth, packed)
              : PackAs<WidenedUnsigned>(source, first, count, padded_depth, packed);
  }
}

}  // namespace intaglio
