// The operators that slide a window over images: pools, and resizing.
#ifndef INTAGLIO_NN_OPS_WINDOW_OPERATORS_H_
#define INTAGLIO_NN_OPS_WINDOW_OPERATORS_H_

#include "intaglio/nn/graph/operator_row.h"
#include "intaglio/nn/ops/support/activation.h"
#include "intaglio/nn/ops/support/padding.h"

namespace intaglio::nn {

// x [N, H, W, C]. Padding does not count in the average. The operator does not rescale between the
// quantizations of x and the output.
struct AveragePool2D {
  static const OperatorRow kRow;
  Extent filter = {};
  Extent stride = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};
// Means of int8 or uint8 by ONNX Runtime's rules: real numbers are added up in float32, window by
// window and row by row, and the output's zero point is added before they are rounded. `counted` is
// how much of the padding counts in the average, as zeros; no more than there is. No .tflite form.
struct QLinearAveragePool2D {
  static const OperatorRow kRow;
  Extent filter = {};
  Extent stride = {};
  Padding padding = {};
  Padding counted = {};
};
struct MaxPool2D {
  static const OperatorRow kRow;
  Extent filter = {};
  Extent stride = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};

// float32: the root of the mean of squares.
struct L2Pool2D {
  static const OperatorRow kRow;
  Extent filter = {};
  Extent stride = {};
  Padding padding = {};
  Activation activation = Activation::kNone;
};

// x [N, H, W, C] to the height and width `size`. align_corners maps the corners onto each other;
// half_pixel_centers counts from the middle of pixels. A bilinear resize takes at most one of the
// two.
//
// With scales above 0, float32 gets the bits of ONNX Runtime: a place in the output, divided by the
// scale, is the place in x, and the weights of a pixel are multiplied before the pixel is. A
// scale is the output's size over that of x, but for rounding. Without scales, and for integers,
// TFLite's rules hold.
struct ResizeBilinear {
  static const OperatorRow kRow;
  int height = 1;
  int width = 1;
  bool align_corners = false;
  bool half_pixel_centers = false;
  float height_scale = 0;
  float width_scale = 0;
};
struct ResizeNearestNeighbor {
  static const OperatorRow kRow;
  int height = 1;
  int width = 1;
  bool align_corners = false;
  bool half_pixel_centers = false;
};

// Inputs: x, float32; places in x's axis, int32 [O, K]; weights, float32 [O, K]; optional offsets,
// float32 [O]. The output has O elements along the axis: o is its offset, else 0, to which
// weights[o, k] * x[places[o, k]] is added for each k in turn, all in float32. A place that does
// not exist makes the run fail. No .tflite form.
struct Interpolate {
  static const OperatorRow kRow;
  int axis = -1;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_WINDOW_OPERATORS_H_
