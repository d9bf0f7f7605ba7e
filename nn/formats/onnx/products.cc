#include "intaglio/nn/formats/onnx/products.h"

#include <limits>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/images.h"

namespace intaglio::nn::onnx {
namespace {

// The weights in our order, which has the channels in dimension `axis`.
TensorId Ordered(LayerMaker& make, const Weights& weights, TensorId id, std::vector<int> order,
                 int axis) {
  const TensorId ordered = make.Transposed(id, std::move(order));
  if (!make.ok() || !weights.quantization.quantized()) return ordered;
  Quantization quantization = weights.quantization;
  quantization.axis = quantization.per_axis() ? axis : 0;
  return make.Requantized(ordered, std::move(quantization));
}

}  // namespace

// Filters [O, C / groups, KH, KW] become [O, KH, KW, C / groups] or, where each channel is a group
// of its own, [1, KH, KW, O].
TensorId Convolution(Translation& t, TensorId x, const Weights& filter, TensorId bias,
                     const Sums& to) {
  LayerMaker& make = t.make;
  const int groups = t.IntWithin("group", 1, 1, std::numeric_limits<int>::max());
  const Images images = Images::Of(t, x);
  const TensorId spatial = images.Spatial2D(make, filter.id);
  if (!make.ok()) return kNoTensor;
  const Shape shape = make.ShapeOf(spatial);
  const Shape image = make.ShapeOf(images.nhwc);
  if (int64_t{shape[1]} * groups != image[3] || shape[0] % groups != 0) {
    t.Invalid("filters of " + ToString(shape) + " do not fit " + std::to_string(groups) +
              " groups of " + std::to_string(image[3]) + " channels");
    return kNoTensor;
  }
  const Window2D window = Window2D::Of(t, {shape[2], shape[3]}, {image[1], image[2]});
  const bool depthwise = groups == image[3] && groups > 1;
  const TensorId weights = depthwise ? Ordered(make, filter, spatial, {1, 2, 3, 0}, 3)
                                     : Ordered(make, filter, spatial, {0, 2, 3, 1}, 0);
  std::vector<TensorId> inputs = {images.nhwc, weights};
  if (bias != kNoTensor) inputs.push_back(bias);
  const Operator op =
      depthwise ? Operator(DepthwiseConv2D{window.stride, window.dilation, window.padding})
                : Operator(Conv2D{window.stride, window.dilation, window.padding});
  return images.Back(make, make.Add(op, inputs, to.type, to.quantization, to.numerics));
}

TensorId MatrixProduct(LayerMaker& make, TensorId a, const Weights& right, TensorId bias,
                       const Sums& to) {
  TensorId b = right.id;
  if (!make.ok()) return kNoTensor;
  if (make.RankOf(a) == 0 || make.RankOf(b) == 0) {
    make.Fail(InvalidArgument("needs matrices"));
    return kNoTensor;
  }
  const bool row = make.RankOf(a) == 1;
  const bool column = make.RankOf(b) == 1;
  if (row) a = make.Reshaped(a, {1, make.ShapeOf(a)[0]});
  if (column) b = make.Reshaped(b, {make.ShapeOf(b)[0], 1});
  if (!make.ok()) return kNoTensor;
  TensorId product = kNoTensor;
  if (make.RankOf(b) == 2 && make.IsConstant(b)) {
    std::vector<TensorId> inputs = {a, Ordered(make, right, b, {1, 0}, 0)};
    if (bias != kNoTensor) inputs.push_back(bias);
    product = make.Add(FullyConnected{.keep_num_dims = true}, inputs, to.type, to.quantization,
                       to.numerics);
  } else {
    if (right.quantization.quantized()) b = make.Requantized(b, right.quantization);
    product = make.Add(BatchMatMul{}, {a, b}, to.type, to.quantization, to.numerics);
  }
  if (!make.ok()) return kNoTensor;
  Shape shape = make.ShapeOf(product);
  if (row) shape.erase(shape.end() - 2);
  if (column) shape.pop_back();
  return make.Reshaped(product, std::move(shape));
}

}  // namespace intaglio::nn::onnx
