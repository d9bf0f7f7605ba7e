// A convolution's input seen as a matrix, without storing that matrix.
#ifndef INTAGLIO_PACK_IM2COL_H_
#define INTAGLIO_PACK_IM2COL_H_

#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/fixedpoint/type.h"

namespace intaglio {

// An int8 or uint8 NHWC tensor as the (batch * out_height * out_width) x
// (kernel_height * kernel_width * group_channels) matrix whose product with OHWI filters, read as
// a column-major matrix, is the convolution. Elements outside the image read as the zero point.
struct Im2col {
  const void* data = nullptr;
  Type type = Type::kInt8;
  int32_t zero_point = 0;

  int batch = 1;
  int height = 0;
  int width = 0;
  int channels = 0;

  // A grouped convolution multiplies one view per group: channels
  // [first_channel, first_channel + group_channels).
  int first_channel = 0;
  int group_channels = 0;

  int kernel_height = 1;
  int kernel_width = 1;
  int stride_height = 1;
  int stride_width = 1;
  int dilation_height = 1;
  int dilation_width = 1;
  int pad_top = 0;
  int pad_left = 0;
  int out_height = 0;
  int out_width = 0;
};

// Refuses views whose numbers make no sense or whose matrix has more rows or columns than an int
// counts.
Status Validate(const Im2col& view);

// Only after Validate.
inline int Rows(const Im2col& view) { return view.batch * view.out_height * view.out_width; }
inline int Cols(const Im2col& view) {
  return view.kernel_height * view.kernel_width * view.group_channels;
}

// The memory that the image takes.
inline size_t ImageBytes(const Im2col& view) {
  return static_cast<size_t>(view.batch) * static_cast<size_t>(view.height) *
         static_cast<size_t>(view.width) * static_cast<size_t>(view.channels);
}

// Whether windows are of several pixels, each kernel row of neighbouring ones, so that they can be
// read in the lines of the image (pack/image_lines.h).
inline bool HasWindows(const Im2col& view) {
  return view.dilation_width == 1 && view.kernel_height * view.kernel_width > 1;
}

}  // namespace intaglio

#endif  // INTAGLIO_PACK_IM2COL_H_
