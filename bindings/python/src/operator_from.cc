#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

#include "intaglio/bindings/python/src/network.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::python {
namespace {

namespace nb = nanobind;

template <class T>
T Get(const nb::dict& parameters, const char* key, T otherwise) {
  return parameters.contains(key) ? nb::cast<T>(parameters[key]) : otherwise;
}

nn::Extent ExtentOf(const nb::dict& parameters, const char* key) {
  const auto pair = Get<std::pair<int, int>>(parameters, key, {1, 1});
  return {pair.first, pair.second};
}

nn::Padding PaddingOf(const nb::dict& parameters) {
  const auto same = Get<bool>(parameters, "same", false);
  return same ? nn::Padding::Same() : nn::Padding::Valid();
}

nn::Activation ActivationOf(const nb::dict& parameters) {
  const auto name = Get<std::string>(parameters, "activation", "");
  if (name == "relu") return nn::Activation::kRelu;
  if (name == "relu6") return nn::Activation::kRelu6;
  return nn::Activation::kNone;
}

template <class Convolution>
nn::Operator ConvolutionOf(const nb::dict& p) {
  return Convolution{.stride = ExtentOf(p, "stride"),
                     .dilation = ExtentOf(p, "dilation"),
                     .padding = PaddingOf(p),
                     .activation = ActivationOf(p)};
}

template <class Pool>
nn::Operator PoolOf(const nb::dict& p) {
  return Pool{
      .filter = ExtentOf(p, "filter"), .stride = ExtentOf(p, "stride"), .padding = PaddingOf(p)};
}

template <class Op>
nn::Operator Plain(const nb::dict&) {
  return Op{};
}

nn::Operator FullyConnectedOf(const nb::dict& p) {
  return nn::FullyConnected{.activation = ActivationOf(p),
                            .keep_num_dims = Get<bool>(p, "keep_num_dims", false)};
}

// Op is Add, Sub or Mul.
template <class Op>
nn::Operator PairOf(const nb::dict& p) {
  return Op{.activation = ActivationOf(p)};
}

nn::Operator BatchMatMulOf(const nb::dict& p) {
  return nn::BatchMatMul{.adjoint_a = Get<bool>(p, "adjoint_a", false),
                         .adjoint_b = Get<bool>(p, "adjoint_b", false)};
}

nn::Operator SoftmaxOf(const nb::dict& p) {
  return nn::Softmax{.beta = Get<float>(p, "beta", 1.0f)};
}

nn::Operator ConcatenationOf(const nb::dict& p) {
  return nn::Concatenation{.axis = Get<int>(p, "axis", 0)};
}

nn::Operator MeanOf(const nb::dict& p) {
  return nn::Mean{.axes = Get<std::vector<int>>(p, "axes", {}),
                  .keep_dims = Get<bool>(p, "keep_dims", false)};
}

nn::Operator ReshapeOf(const nb::dict& p) {
  return nn::Reshape{Get<std::vector<int>>(p, "shape", {})};
}

nn::Operator TransposeOf(const nb::dict& p) {
  return nn::Transpose{Get<std::vector<int>>(p, "permutation", {})};
}

nn::Operator ResizeNearestOf(const nb::dict& p) {
  const nn::Extent size = ExtentOf(p, "size");
  return nn::ResizeNearestNeighbor{.height = size.height,
                                   .width = size.width,
                                   .half_pixel_centers = Get<bool>(p, "half_pixel_centers", false)};
}

nn::Operator PadOf(const nb::dict& p) {
  nn::Pad pad;
  pad.paddings = Get<std::vector<std::pair<int, int>>>(p, "paddings", {});
  pad.has_value = p.contains("value");
  if (pad.has_value) pad.value = Get<int64_t>(p, "value", 0);
  return pad;
}

struct Row {
  const char* name;
  nn::Operator (*make)(const nb::dict& parameters);
};
constexpr Row kRows[] = {
    {"ADD", PairOf<nn::Add>},
    {"AVERAGE_POOL_2D", PoolOf<nn::AveragePool2D>},
    {"BATCH_MATMUL", BatchMatMulOf},
    {"CONCATENATION", ConcatenationOf},
    {"CONV_2D", ConvolutionOf<nn::Conv2D>},
    {"DEPTHWISE_CONV_2D", ConvolutionOf<nn::DepthwiseConv2D>},
    {"DEQUANTIZE", Plain<nn::Dequantize>},
    {"FULLY_CONNECTED", FullyConnectedOf},
    {"MAX_POOL_2D", PoolOf<nn::MaxPool2D>},
    {"MEAN", MeanOf},
    {"MAXIMUM", Plain<nn::Maximum>},
    {"MUL", PairOf<nn::Mul>},
    {"PAD", PadOf},
    {"QUANTIZE", Plain<nn::Quantize>},
    {"RELU", Plain<nn::Relu>},
    {"RELU6", Plain<nn::Relu6>},
    {"RESHAPE", ReshapeOf},
    {"RESIZE_NEAREST_NEIGHBOR", ResizeNearestOf},
    {"RSQRT", Plain<nn::Rsqrt>},
    {"SOFTMAX", SoftmaxOf},
    {"SUB", PairOf<nn::Sub>},
    {"TRANSPOSE", TransposeOf},
};

}  // namespace

Result<nn::Operator> OperatorFrom(const std::string& name, const nb::dict& parameters) {
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [&](const Row& known) { return name == known.name; });
  if (row == std::end(kRows)) return InvalidArgument("there is no operator " + name);
  return row->make(parameters);
}

}  // namespace intaglio::python
