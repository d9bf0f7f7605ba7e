#include "intaglio/nn/formats/onnx/products.h"

#include <limits>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/images.h"
#include "intaglio/nn/ops/linear/integer_products.h"

namespace intaglio::nn::onnx {
namespace {

// The weights in our order, which has the channels in dimension `axis`.
TensorId Ordered(LayerMaker& make, const Weights& weights, TensorId id, std::vector<int> order,
                 int axis) {
  const TensorId ordered = make.Transposed(id, std::move(order));
  if (!weights.quantization.quantized()) return ordered;
  Quantization quantization = weights.quantization;
  quantization.axis = quantization.per_axis() ? axis : 0;
  return make.Requantized(ordered, std::move(quantization));
}

// A convolution in our order.
struct Arranged {
  Images images;
  TensorId filter = kNoTensor;
  Conv2D op;
  bool depthwise = false;
};

// Filters [O, C / groups, KH, KW] become [O, KH, KW, C / groups] or, where each channel is a group
// of its own and the operator may be a depthwise one, [1, KH, KW, O].
Arranged Arrange(Translation& t, TensorId x, const Weights& filter, bool may_be_depthwise) {
  LayerMaker& make = t.make;
  const int groups = t.IntWithin("group", 1, 1, std::numeric_limits<int>::max());
  Arranged arranged;
  arranged.images = Images::Of(t, x);
  const TensorId spatial = arranged.images.Spatial2D(make, filter.id);
  const Shape shape = make.ShapeOf(spatial);
  const Shape image = make.ShapeOf(arranged.images.nhwc);
  if (int64_t{shape[1]} * groups != image[3] || shape[0] % groups != 0) {
    t.Invalid("filters of " + ToString(shape) + " do not fit " + std::to_string(groups) +
              " groups of " + std::to_string(image[3]) + " channels");
    return arranged;
  }
  const Window2D window = Window2D::Of(t, {shape[2], shape[3]}, {image[1], image[2]});
  arranged.op = {window.stride, window.dilation, window.padding};
  arranged.depthwise = may_be_depthwise && groups == image[3] && groups > 1;
  arranged.filter = arranged.depthwise ? Ordered(make, filter, spatial, {1, 2, 3, 0}, 3)
                                       : Ordered(make, filter, spatial, {0, 2, 3, 1}, 0);
  return arranged;
}

}  // namespace

TensorId Convolution(Translation& t, TensorId x, const Weights& filter, TensorId bias,
                     const Sums& to) {
  LayerMaker& make = t.make;
  const Arranged conv = Arrange(t, x, filter, true);
  std::vector<TensorId> inputs = {conv.images.nhwc, conv.filter};
  if (bias != kNoTensor) inputs.push_back(bias);
  const Operator op =
      conv.depthwise ? Operator(DepthwiseConv2D{conv.op.stride, conv.op.dilation, conv.op.padding})
                     : Operator(conv.op);
  return conv.images.Back(make, make.Add(op, inputs, to.type, to.quantization, to.numerics));
}

TensorId ConvolutionByRun(Translation& t, TensorId x, const Weights& filter,
                          TensorId x_zero_point) {
  LayerMaker& make = t.make;
  const Arranged conv = Arrange(t, x, filter, false);
  return conv.images.Back(
      make, make.Add(IntegerConv2D{conv.op}, {conv.images.nhwc, conv.filter, x_zero_point},
                     Type::kInt32));
}

TensorId MatrixProduct(LayerMaker& make, TensorId a, const Weights& right, TensorId bias,
                       const Sums& to) {
  TensorId b = right.id;
  if (make.RankOf(a) == 0 || make.RankOf(b) == 0) {
    make.Fail(InvalidArgument("needs matrices"));
    return kNoTensor;
  }
  const bool row = make.RankOf(a) == 1;
  const bool column = make.RankOf(b) == 1;
  if (row) a = make.Reshaped(a, {1, make.ShapeOf(a)[0]});
  if (column) b = make.Reshaped(b, {make.ShapeOf(b)[0], 1});
  TensorId product = kNoTensor;
  if (make.RankOf(b) == 2 && make.IsConstant(b)) {
    std::vector<int> order = right.transposed ? std::vector{0, 1} : std::vector{1, 0};
    std::vector<TensorId> inputs = {a, Ordered(make, right, b, std::move(order), 0)};
    if (bias != kNoTensor) inputs.push_back(bias);
    product = make.Add(FullyConnected{.keep_num_dims = true}, inputs, to.type, to.quantization,
                       to.numerics);
  } else {
    if (right.transposed) b = make.Transposed(b, {1, 0});
    if (right.quantization.quantized()) b = make.Requantized(b, right.quantization);
    product = make.Add(BatchMatMul{}, {a, b}, to.type, to.quantization, to.numerics);
  }
  Shape shape = make.ShapeOf(product);
  if (row) shape.erase(shape.end() - 2);
  if (column) shape.pop_back();
  return make.Reshaped(product, std::move(shape));
}

}  // namespace intaglio::nn::onnx
