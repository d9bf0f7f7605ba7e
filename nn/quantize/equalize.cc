#include "intaglio/nn/quantize/equalize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/quantized_groups.h"
#include "intaglio/nn/quantize/constants.h"

namespace intaglio::nn::quantize {
namespace {

constexpr size_t kWeights = 1;
constexpr size_t kBias = 2;

// Magnitudes below the least count as 0. Beyond the greatest, factors might overflow.
constexpr double kLeastMagnitude = 0x1p-100;
constexpr double kGreatestMagnitude = 0x1p100;

// Element i belongs to channel i / inner % extent / multiplier.
struct Axis {
  size_t inner = 1;
  size_t extent = 1;
  size_t multiplier = 1;

  size_t channels() const { return extent / multiplier; }
  size_t ChannelOf(size_t i) const { return i / inner % extent / multiplier; }
};

// The constants of a layer. They are rounded to float32 once, when all factors are known.
struct Product {
  std::vector<double> weights;
  std::vector<double> bias;
  Axis outputs;
  std::optional<Axis> inputs;  // nothing: the channels of inputs are not those of the weights
};

struct Pair {
  size_t first;
  size_t second;
  std::vector<double> factors;  // of all sweeps together
};

std::vector<double> Magnitudes(const std::vector<double>& values, const Axis& axis) {
  std::vector<double> magnitudes(axis.channels());
  for (size_t i = 0; i < values.size(); ++i) {
    double& most = magnitudes[axis.ChannelOf(i)];
    most = std::max(most, std::abs(values[i]));
  }
  return magnitudes;
}

// FactorOf says what a channel is multiplied by.
template <class FactorOf>
void Scale(std::vector<double>& values, const Axis& axis, const FactorOf& factor_of) {
  for (size_t i = 0; i < values.size(); ++i) values[i] *= factor_of(axis.ChannelOf(i));
}

Tensor WithValues(const Tensor& old, const std::vector<double>& values) {
  const auto owner = std::make_shared<const std::vector<float>>(values.begin(), values.end());
  Tensor tensor = old;
  tensor.data = owner->data();
  tensor.data_bytes = owner->size() * sizeof(float);
  tensor.owner = owner;
  return tensor;
}

class Equalizer {
 public:
  explicit Equalizer(Graph& graph) : graph_(graph), readers_(graph.tensors.size()) {
    for (const TensorId id : graph.outputs) ++readers_[Index(id)];
    for (const Layer& layer : graph.layers) {
      for (const TensorId id : layer.inputs) {
        if (id != kNoTensor) ++readers_[Index(id)];
      }
    }
  }

  Equalized Run() {
    FindPairs();
    Equalized result;
    result.pairs = pairs_.size();
    bool settled = pairs_.empty();
    for (; !settled && result.sweeps < kMostSweeps; ++result.sweeps) {
      settled = true;
      for (Pair& pair : pairs_) settled = Sweep(pair) && settled;
    }
    std::map<size_t, bool> touched;
    for (const Pair& pair : pairs_) {
      const bool changed = std::any_of(pair.factors.begin(), pair.factors.end(),
                                       [](double factor) { return factor != 1; });
      if (!changed) continue;
      ++result.changed;
      touched[pair.first] = touched[pair.second] = true;
    }
    for (const auto& [layer, yes] : touched) Store(layer);
    if (result.changed > 0 && graph_.folded_shapes != nullptr) {
      graph_.folded_shapes = IncompleteShapes();
    }
    return result;
  }

 private:
  static size_t Index(TensorId id) { return static_cast<size_t>(id); }
  const Tensor& At(TensorId id) const { return graph_.tensors[Index(id)]; }

  void FindPairs() {
    std::map<TensorId, size_t> makers;
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      const Layer& layer = graph_.layers[i];
      std::optional<Product> product = ProductOf(layer);
      if (!product.has_value()) continue;
      const auto maker = makers.find(layer.inputs[0]);
      if (maker != makers.end() && product->inputs.has_value() &&
          readers_[Index(layer.inputs[0])] == 1) {
        pairs_.push_back({maker->second, i, std::vector<double>(product->inputs->channels(), 1)});
      }
      products_.emplace(i, std::move(*product));
      const Activation activation = ActivationOf<Conv2D, DepthwiseConv2D, FullyConnected>(layer);
      const bool homogeneous = activation == Activation::kNone || activation == Activation::kRelu;
      if (homogeneous) makers[layer.outputs[0]] = i;
    }
  }

  std::optional<Product> ProductOf(const Layer& layer) const {
    if (!IsAnyOf<Conv2D, DepthwiseConv2D, FullyConnected>(layer)) return {};
    if (At(layer.inputs[0]).type != Type::kFloat32) return {};
    Product product;
    if (!TakeValues(layer.inputs[kWeights], product.weights) || product.weights.empty()) return {};
    const bool has_bias = layer.inputs.size() > kBias && layer.inputs[kBias] != kNoTensor;
    if (has_bias && !TakeValues(layer.inputs[kBias], product.bias)) return {};
    SetAxes(layer, product);
    return product;
  }

  void SetAxes(const Layer& layer, Product& product) const {
    const Shape& shape = At(layer.inputs[kWeights]).shape;
    const Shape& input = At(layer.inputs[0]).shape;
    const auto last = static_cast<size_t>(shape.back());
    const auto channels = static_cast<size_t>(input.empty() ? 0 : input.back());
    if (layer.op.Is<DepthwiseConv2D>()) {
      product.outputs = {1, last};
      product.inputs = Axis{1, last, last / channels};
      return;
    }
    const auto rows = static_cast<size_t>(shape[0]);
    product.outputs = {product.weights.size() / rows, rows};
    if (channels == last) product.inputs = Axis{1, last};
  }

  // Returns false if the tensor is not constant, or holds what cannot be scaled.
  bool TakeValues(TensorId id, std::vector<double>& values) const {
    const Tensor& tensor = At(id);
    if (!tensor.constant || tensor.type != Type::kFloat32) return false;
    const std::vector<float> reals = RealsOf(tensor);
    values.assign(reals.begin(), reals.end());
    return std::all_of(values.begin(), values.end(), [](double x) {
      return std::abs(x) <= kGreatestMagnitude;  // false for NaN
    });
  }

  // Returns whether no factor differs from 1 by more than the tolerance.
  bool Sweep(Pair& pair) {
    Product& first = products_.at(pair.first);
    Product& second = products_.at(pair.second);
    if (!TakeSteps(pair)) return true;
    const auto divide = [&](size_t channel) { return 1 / steps_[channel]; };
    Scale(first.weights, first.outputs, divide);
    Scale(first.bias, {1, steps_.size()}, divide);
    Scale(second.weights, *second.inputs, [&](size_t channel) { return steps_[channel]; });
    return false;
  }

  // Computes the factors of one sweep of a pair. Returns whether there is one but 1.
  bool TakeSteps(Pair& pair) {
    const Product& second = products_.at(pair.second);
    const Product& first = products_.at(pair.first);
    const std::vector<double> r1 = Magnitudes(first.weights, first.outputs);
    const std::vector<double> r2 = Magnitudes(second.weights, *second.inputs);
    steps_.assign(r1.size(), 1);
    bool any = false;
    for (size_t i = 0; i < r1.size(); ++i) {
      if (r1[i] < kLeastMagnitude || r2[i] < kLeastMagnitude) continue;
      const double wanted = pair.factors[i] * (std::sqrt(r1[i] * r2[i]) / r2[i]);
      const double factor = std::clamp(wanted, 1 / kMostFactor, kMostFactor);
      const double step = factor / pair.factors[i];
      if (std::abs(step - 1) <= kFactorTolerance) continue;
      steps_[i] = step;
      pair.factors[i] = factor;
      any = true;
    }
    return any;
  }

  void Store(size_t layer) {
    const Product& product = products_.at(layer);
    Replace(graph_.layers[layer].inputs[kWeights], product.weights);
    if (!product.bias.empty()) Replace(graph_.layers[layer].inputs[kBias], product.bias);
  }

  // The old constant gives back its memory if nothing reads it any more.
  void Replace(TensorId& id, const std::vector<double>& values) {
    Tensor tensor = WithValues(At(id), values);
    if (--readers_[Index(id)] == 0) {
      graph_.tensors[Index(id)] = std::move(tensor);
      return;
    }
    graph_.tensors.push_back(std::move(tensor));
    readers_.push_back(1);
    id = static_cast<TensorId>(graph_.tensors.size()) - 1;
  }

  Graph& graph_;
  std::vector<int> readers_;  // per tensor; outputs of the graph count
  std::map<size_t, Product> products_;
  std::vector<Pair> pairs_;
  std::vector<double> steps_;  // of one pair in one sweep
};

}  // namespace

Equalized EqualizeChannels(Graph& graph) { return Equalizer(graph).Run(); }

}  // namespace intaglio::nn::quantize
