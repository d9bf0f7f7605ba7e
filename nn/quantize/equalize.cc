#include "intaglio/nn/quantize/equalize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/quantized_groups.h"
#include "intaglio/nn/quantize/channels.h"
#include "intaglio/nn/quantize/linear_layers.h"

namespace intaglio::nn::quantize {
namespace {

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

class Equalizer {
 public:
  explicit Equalizer(Graph& graph) : graph_(graph), readers_(CountReaders(graph)) {}

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
    if (!TakeValues(At(layer.inputs[kWeights]), product.weights)) return {};
    if (product.weights.empty()) return {};
    const bool has_bias = layer.inputs.size() > kBias && layer.inputs[kBias] != kNoTensor;
    if (has_bias && !TakeValues(At(layer.inputs[kBias]), product.bias)) return {};
    const ProductAxes axes = AxesOf(graph_, layer);
    product.outputs = axes.outputs;
    product.inputs = axes.inputs;
    return product;
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
    std::vector<TensorId>& inputs = graph_.layers[layer].inputs;
    ReplaceConstant(graph_, readers_, inputs[kWeights], product.weights);
    if (!product.bias.empty()) ReplaceConstant(graph_, readers_, inputs[kBias], product.bias);
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
