#include "intaglio/nn/quantize/channels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/quantize/constants.h"

namespace intaglio::nn::quantize {
namespace {

const Tensor& At(const Graph& graph, TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }

}  // namespace

ProductAxes AxesOf(const Graph& graph, const Layer& layer) {
  const Shape& shape = At(graph, layer.inputs[1]).shape;
  const Shape& input = At(graph, layer.inputs[0]).shape;
  const auto last = static_cast<size_t>(shape.back());
  const auto channels = static_cast<size_t>(input.empty() ? 0 : input.back());
  if (layer.op.Is<DepthwiseConv2D>()) return {{1, last}, Axis{1, last, last / channels}};
  size_t inner = 1;
  for (size_t i = 1; i < shape.size(); ++i) inner *= static_cast<size_t>(shape[i]);
  ProductAxes axes = {{inner, static_cast<size_t>(shape[0])}, {}};
  if (channels == last) axes.inputs = Axis{1, last};
  return axes;
}

std::vector<double> Magnitudes(const std::vector<double>& values, const Axis& axis) {
  std::vector<double> magnitudes(axis.channels());
  for (size_t i = 0; i < values.size(); ++i) {
    double& most = magnitudes[axis.ChannelOf(i)];
    most = std::max(most, std::abs(values[i]));
  }
  return magnitudes;
}

bool TakeValues(const Tensor& tensor, std::vector<double>& values) {
  if (!tensor.constant || tensor.type != Type::kFloat32) return false;
  const std::vector<float> reals = RealsOf(tensor);
  values.assign(reals.begin(), reals.end());
  return std::all_of(values.begin(), values.end(), [](double x) {
    return std::abs(x) <= kGreatestMagnitude;  // false for NaN
  });
}

std::vector<int> CountReaders(const Graph& graph) {
  std::vector<int> readers(graph.tensors.size());
  for (const TensorId id : graph.outputs) ++readers[static_cast<size_t>(id)];
  for (const Layer& layer : graph.layers) {
    for (const TensorId id : layer.inputs) {
      if (id != kNoTensor) ++readers[static_cast<size_t>(id)];
    }
  }
  return readers;
}

void ReplaceConstant(Graph& graph, std::vector<int>& readers, TensorId& id,
                     const std::vector<double>& values) {
  Tensor tensor = WithValues(At(graph, id), std::vector<float>(values.begin(), values.end()));
  if (--readers[static_cast<size_t>(id)] == 0) {
    graph.tensors[static_cast<size_t>(id)] = std::move(tensor);
    readers[static_cast<size_t>(id)] = 1;
    return;
  }
  graph.tensors.push_back(std::move(tensor));
  readers.push_back(1);
  id = static_cast<TensorId>(graph.tensors.size()) - 1;
}

}  // namespace intaglio::nn::quantize
