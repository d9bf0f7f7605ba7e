// Lines of bytes copied from one stride to another.
#ifndef INTAGLIO_PACK_COPY_LINES_H_
#define INTAGLIO_PACK_COPY_LINES_H_

#include <cstddef>

namespace intaglio {

// Strides are in bytes, of any sign. Lines are written in order; those of the output lie apart from
// the input.
struct LineCopy {
  const std::byte* in;
  ptrdiff_t in_stride;
  std::byte* out;
  ptrdiff_t out_stride;
  ptrdiff_t bytes;  // of a line
  ptrdiff_t lines;
};
void CopyLines(const LineCopy& copy);

// Both, of as many lines. Short ones take turns: where they are neighbours in the output, a line of
// the cache is written at once.
void CopyLinePairs(const LineCopy& first, const LineCopy& second);

}  // namespace intaglio

#endif  // INTAGLIO_PACK_COPY_LINES_H_
