// Windows that slide over the two spatial dimensions of an NHWC tensor.
#ifndef INTAGLIO_NN_OPS_SUPPORT_WINDOW_H_
#define INTAGLIO_NN_OPS_SUPPORT_WINDOW_H_

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/ops/support/padding.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// One dimension: output o covers the inputs o * stride - pad + tap * dilation.
struct WindowAxis {
  int in = 0;
  int kernel = 1;
  int stride = 1;
  int dilation = 1;
  int pad = 0;  // before
  int out = 0;
};

struct Window {
  WindowAxis y;
  WindowAxis x;
};

// Checks kernel, stride, dilation, padding and places the windows as Padding says. The layer's
// input 0 must have 4 dimensions.
Result<Window> PlaceWindow(const LayerView& layer, Extent kernel, Extent stride, Extent dilation,
                           const Padding& padding);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_WINDOW_H_
