// How a window lies on an image.
#ifndef INTAGLIO_NN_OPS_SUPPORT_PADDING_H_
#define INTAGLIO_NN_OPS_SUPPORT_PADDING_H_

#include <cstdint>

namespace intaglio::nn {

struct Extent {
  int height = 1;
  int width = 1;
};

// How a window meets the border, per spatial dimension, with e = (kernel - 1) * dilation + 1:
//   kValid     out = (in - e) / stride + 1, no padding;
//   kSame      out = ceil(in / stride). The total padding max(0, (out - 1) * stride + e - in) is
//              halved, and an odd element goes to the bottom or right (TensorFlow's rule);
//   kExplicit  the four numbers below.
struct Padding {
  enum class Kind : uint8_t { kValid, kSame, kExplicit };
  Kind kind = Kind::kValid;
  int top = 0;
  int bottom = 0;
  int left = 0;
  int right = 0;

  static Padding Valid() { return {}; }
  static Padding Same() { return {Kind::kSame, 0, 0, 0, 0}; }
  static Padding Explicit(int top, int bottom, int left, int right) {
    return {Kind::kExplicit, top, bottom, left, right};
  }
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_PADDING_H_
