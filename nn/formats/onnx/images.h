// Inside the .onnx reader: images, whose channels the format puts before the spatial dimensions and
// our operators behind them.
#ifndef INTAGLIO_NN_FORMATS_ONNX_IMAGES_H_
#define INTAGLIO_NN_FORMATS_ONNX_IMAGES_H_

#include <cstdint>
#include <vector>

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

// A window that slides along one dimension. Its numbers are small enough for int.
struct WindowAxis {
  int64_t image = 1;
  int64_t filter = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;    // padding
  int64_t behind = 0;    // padding
  int64_t rounding = 0;  // more padding behind, which makes the last window whole (ceil_mode)

  int64_t reach() const { return (filter - 1) * dilation + 1; }
  int64_t windows() const {
    const int64_t room = image + before + behind + rounding - reach();
    return room < 0 ? 0 : room / stride + 1;
  }
};

// The attributes strides, dilations, pads and auto_pad, and ceil_mode where the operator has it.
std::vector<WindowAxis> WindowAxes(Translation& t, const std::vector<int>& filter,
                                   const std::vector<int>& image);

// A window of one or two spatial dimensions.
struct Window2D {
  Extent filter;
  Extent stride;
  Extent dilation;
  Padding padding;  // always explicit

  static Window2D Of(Translation& t, Extent filter, Extent image);
  static Window2D Of(const WindowAxis& y, const WindowAxis& x);
};

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_IMAGES_H_
