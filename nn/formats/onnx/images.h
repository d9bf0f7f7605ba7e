// Inside the .onnx reader: images, whose channels the format puts before the spatial dimensions and
// our operators behind them.
#ifndef INTAGLIO_NN_FORMATS_ONNX_IMAGES_H_
#define INTAGLIO_NN_FORMATS_ONNX_IMAGES_H_

#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

// Images [N, C, H, W] or lines [N, C, W], brought to [N, H, W, C]. The transposes vanish later
// (nn/passes/remove_transposes.h).
struct Images {
  TensorId nhwc = kNoTensor;
  int rank = 4;

  static Images Of(Translation& t, TensorId id);
  // The result of an operator on these images, in the format's order.
  TensorId Back(LayerMaker& make, TensorId result) const;
  // Filters or the like of as many spatial dimensions: a line gets a height of 1.
  TensorId Spatial2D(LayerMaker& make, TensorId id) const;
};

// A window's attributes, of one or two spatial dimensions.
struct Window2D {
  Extent filter;
  Extent stride;
  Extent dilation;
  Padding padding;  // always explicit

  // The attributes strides, dilations, pads and auto_pad, and ceil_mode where the operator has it.
  static Window2D Of(Translation& t, Extent filter, Extent image);
};

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_IMAGES_H_
