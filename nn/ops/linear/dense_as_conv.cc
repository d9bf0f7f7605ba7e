#include "intaglio/nn/ops/linear/dense_as_conv.h"

#include <utility>

#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/single_rounding.h"
#include "intaglio/nn/ops/movement/operators.h"

namespace intaglio::nn {
namespace {

TensorId Add(Graph& graph, Tensor tensor, const Shape& shape) {
  tensor.shape = shape;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

// Convolutions round by integer multipliers.
Result<Numerics> NumericsOf(const LayerView& layer, const ConvShape& shape) {
  Numerics numerics = layer.numerics();
  const bool by_float64 = numerics.scaling == Scaling::kReal64;
  if (!by_float64 || layer.input(0).type == Type::kFloat32) return numerics;
  const Result<LinearLayer> linear =
      CheckLinear(layer, shape.activation, 0, shape.outputs, shape.depth());
  if (!linear.ok()) return linear.status();
  const auto integers =
      SingleRoundingMultipliers(RealMultipliers(*linear), linear->output.zero_point, linear->clamp);
  if (!integers) {
    return layer.Unsupported(
        "no integers stand for its float64 multipliers, which a convolution "
        "does not have");
  }
  numerics.scaling = Scaling::kSingleRounding;
  return numerics;
}

}  // namespace

Result<Graph> DenseAsConv(const LayerView& layer) {
  const Result<ConvShape> shape = ShapeOfFullyConnected(layer);
  if (!shape.ok()) return shape.status();
  const Result<Numerics> numerics = NumericsOf(layer, *shape);
  if (!numerics.ok()) return numerics.status();
  const int rows = shape->rows();
  Graph graph;
  Layer conv{Conv2D{.activation = shape->activation}, {}, {}, layer.label() + " as CONV_2D"};
  if (layer.input(0).type != Type::kFloat32) conv.numerics = *numerics;
  const TensorId x = Add(graph, layer.input(0), layer.input(0).shape);
  conv.inputs.push_back(Add(graph, layer.input(0), {rows, 1, 1, shape->depth()}));
  conv.inputs.push_back(Add(graph, layer.input(1), {shape->outputs, 1, 1, shape->depth()}));
  if (layer.has_input(2)) {
    conv.inputs.push_back(Add(graph, layer.input(2), layer.input(2).shape));
  }
  conv.outputs.push_back(Add(graph, layer.output(), {rows, 1, 1, shape->outputs}));
  const TensorId y = Add(graph, layer.output(), layer.output().shape);
  graph.inputs = {x};
  graph.outputs = {y};
  graph.layers.push_back({Reshape{graph.tensors[static_cast<size_t>(conv.inputs[0])].shape},
                          {x},
                          {conv.inputs[0]},
                          ""});
  graph.layers.push_back(conv);
  graph.layers.push_back({Reshape{layer.output().shape}, {conv.outputs[0]}, {y}, ""});
  return graph;
}

}  // namespace intaglio::nn
