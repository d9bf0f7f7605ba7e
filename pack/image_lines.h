// A convolution's rows, read where they overlap.
//
// Neighbouring windows of an image share most of what they hold, so an im2col matrix is as many
// times larger than the image as a window has pixels. Here the lines of the image that a block of
// rows reads are laid out once, each with its padding beside it. There every kernel row of a window
// is one run of bytes, and a window begins where its pixel does:
//
//   line 0   | pad | x0 | x1 | x2 | ... | pad |     row 0: runs at x = pad, of three lines
//   line 1   | pad | x0 | x1 | x2 | ... | pad |     row 1: the same, one pixel on
//   line 2   ...
#ifndef INTAGLIO_PACK_IMAGE_LINES_H_
#define INTAGLIO_PACK_IMAGE_LINES_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/pack/im2col.h"
#include "intaglio/pack/rows.h"

namespace intaglio {

// Rows that are made ready at once, at most.
inline constexpr int kMaxBlockRows = 512;

// Whether the lines of such a block take no more memory than its rows would. They do where a block
// is a small part of a line, since lines are laid out whole, and where kernel rows lie far apart.
bool WindowsPay(const Im2col& view);

// The most bytes that the lines of `count` neighbouring rows take in `format`.
int64_t WindowBytes(const Im2col& view, RowFormat format, int count);

// Bytes from one run of a row to the next.
ptrdiff_t WindowLineStep(const Im2col& view, RowFormat format);

// Lays out what rows [first, first + count) read, by `pack` (as PackRows). Row first + i begins
// begin[i] bytes behind `lines`. Returns the end, a multiple of 64 bytes behind `lines`.
std::byte* PackImageLines(const Im2col& view, RowFormat format, decltype(&PackRows) pack, int first,
                          int count, std::byte* lines, int32_t* begin);

}  // namespace intaglio

#endif  // INTAGLIO_PACK_IMAGE_LINES_H_
