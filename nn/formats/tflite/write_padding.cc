#include "intaglio/nn/formats/tflite/write_padding.h"

#include <utility>
#include <vector>

namespace intaglio::nn {

bool IsSame(const Padding& padding, Extent stride, Extent reach) {
  const auto halves = [](int before, int after, int step, int around) {
    return step == 1 && before == around / 2 && after == around - before;
  };
  return padding.kind == Padding::Kind::kExplicit &&
         halves(padding.top, padding.bottom, stride.height, reach.height - 1) &&
         halves(padding.left, padding.right, stride.width, reach.width - 1);
}

bool IsUnknown(const Padding& padding) {
  const bool none =
      padding.top == 0 && padding.bottom == 0 && padding.left == 0 && padding.right == 0;
  return padding.kind == Padding::Kind::kExplicit && !none;
}

void RunPadBefore(const Padding& padding, TensorId value, Encoding& e) {
  const Tensor& x = e.layer().input(0);
  Shape shape = x.shape;
  shape[1] += padding.top + padding.bottom;
  shape[2] += padding.left + padding.right;
  std::vector<TensorId> inputs = e.inputs();
  const TensorId padded = e.Add("padded", x.type, std::move(shape), x.quantization);
  const TensorId amounts = e.Pairs(
      "paddings", {{0, 0}, {padding.top, padding.bottom}, {padding.left, padding.right}, {0, 0}});
  if (value == kNoTensor) {
    e.RunBefore("PAD", {inputs[0], amounts}, padded);
  } else {
    e.RunBefore("PADV2", {inputs[0], amounts, value}, padded);
  }
  inputs[0] = padded;
  e.set_inputs(std::move(inputs));
}

}  // namespace intaglio::nn
