// The row side of a product: the operand whose rows, `depth` elements each, are broadcast against
// packed panels. Kernels read rows that lie contiguous, padded with zeros to whole depth groups; a
// source that does not lie so is packed, a block of rows at a time.
#ifndef INTAGLIO_PACK_ROWS_H_
#define INTAGLIO_PACK_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/pack/im2col.h"
#include "intaglio/pack/matrix.h"

namespace intaglio {

enum class RowFormat : uint8_t {
  kUnsigned8,  // uint8; int8 input is moved by 128
  kSigned8,    // int8; uint8 input is moved by -128
  kWidened16,  // int16, the input's own values
  // As kSigned8, but eight rows interleaved: of each 8 depths in turn, 8 bytes of every row. Rows
  // that are missing from the last eight are unspecified.
  kSigned8By8,
};

// Rows of kSigned8By8 that are interleaved, and depths of each in turn.
inline constexpr int kInterleavedRows = 8;

constexpr size_t RowElementBytes(RowFormat format) {
  return format == RowFormat::kWidened16 ? 2 : 1;
}

// What a format adds to the values of a type, and so to their zero point.
constexpr int32_t RowMove(RowFormat format, Type type) {
  if (format == RowFormat::kWidened16) return 0;
  if (format == RowFormat::kUnsigned8) return type == Type::kInt8 ? 128 : 0;
  return type == Type::kUInt8 ? -128 : 0;
}

// A matrix whose rows are the rows, or a convolution's input.
struct RowSource {
  union {
    ConstMatrix matrix;
    Im2col im2col;
  };
  bool is_im2col = false;

  // A 1x1 convolution without padding or stride is turned into the matrix that it is.
  static RowSource From(const Im2col& view);
  static RowSource From(const ConstMatrix& matrix) { return {.matrix = matrix}; }

  int32_t raw_zero_point() const { return is_im2col ? im2col.zero_point : matrix.zero_point; }
  Type type() const { return is_im2col ? im2col.type : matrix.type; }
  int rows() const { return is_im2col ? Rows(im2col) : matrix.rows; }
  int depth() const { return is_im2col ? Cols(im2col) : matrix.cols; }

  // The zero point, moved as the format moves the values.
  int32_t ZeroPoint(RowFormat format) const;

  // The largest |value - zero point| of the type.
  int64_t Magnitude() const;

  // Whether kernels that read rows of this depth can read them where they lie.
  bool ServesInPlace(RowFormat format, int padded_depth) const;
};

// The memory that PackRows needs.
size_t PackedRowsBytes(RowFormat format, int count, size_t padded_depth);

// Rows [first, first + count) of `source` in `format`, each `padded_depth` elements with zeros
// after the first depth(), one after the other.
void PackRows(const RowSource& source, RowFormat format, int first, int count, int padded_depth,
              void* packed);

// sums[i] = the sum of the first `depth` elements of row i, modulo 2^32. The stride of interleaved
// rows is padded_depth.
void SumRows(RowFormat format, const void* rows, ptrdiff_t stride_bytes, int count, int depth,
             int32_t* sums);

}  // namespace intaglio

#endif  // INTAGLIO_PACK_ROWS_H_
