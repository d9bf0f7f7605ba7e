// Windows of convolutions of float32, and which of their taps lie inside the image.
#ifndef INTAGLIO_NN_OPS_LINEAR_ALIKE_WINDOWS_H_
#define INTAGLIO_NN_OPS_LINEAR_ALIKE_WINDOWS_H_

#include <algorithm>
#include <cstddef>

#include "intaglio/pack/im2col.h"

namespace intaglio::nn {

// The taps [first, last) of a window that lie inside the image in one dimension.
struct TapRange {
  TapRange(int start, int dilation, int taps, int extent) : first(0), last(taps) {
    if (start < 0) first = (-start + dilation - 1) / dilation;
    const ptrdiff_t end = start + ptrdiff_t{taps - 1} * dilation;
    if (end >= extent) last = start >= extent ? 0 : (extent - start + dilation - 1) / dilation;
    first = std::min(first, last);
  }
  bool operator==(const TapRange&) const = default;
  int first;
  int last;
};

// Windows of one line from out_x on, at most `most`, that have the same columns inside the image.
struct AlikeWindows {
  AlikeWindows(const Im2col& view, int out_x, int most)
      : start(out_x * view.stride_width - view.pad_left),
        columns(ColumnsOf(view, out_x)),
        count(1) {
    while (count < most && ColumnsOf(view, out_x + count) == columns) ++count;
  }
  static TapRange ColumnsOf(const Im2col& view, int out_x) {
    return {out_x * view.stride_width - view.pad_left, view.dilation_width, view.kernel_width,
            view.width};
  }
  int start;  // column of the first tap of the first window
  TapRange columns;
  int count;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_ALIKE_WINDOWS_H_
