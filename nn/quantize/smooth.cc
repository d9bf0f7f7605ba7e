#include "intaglio/nn/quantize/smooth.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/passes/quantized_groups.h"
#include "intaglio/nn/quantize/channels.h"
#include "intaglio/nn/quantize/linear_layers.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::quantize {
namespace {

// Layers that are looked at for one activation. It bounds the search through networks of MULs.
constexpr int kMostSteps = 64;

// A constant whose channels get factors.
struct Place {
  size_t layer;
  size_t input;
  Axis axis;
};

bool IsProduct(const Layer& layer) {
  return IsAnyOf<Conv2D, DepthwiseConv2D, FullyConnected>(layer);
}

// One activation, the products that read it, and the constants before it.
struct Subject {
  TensorId tensor = kNoTensor;
  size_t channels = 0;
  std::vector<Place> readers;
  std::vector<Place> sources;
  std::vector<double> magnitudes;  // of each channel, in all samples
};

// Follows an activation back to the constants that can take factors of its channels.
class SourceFinder {
 public:
  SourceFinder(const Graph& graph, const std::vector<int>& readers,
               const std::map<TensorId, size_t>& makers)
      : graph_(graph), readers_(readers), makers_(makers) {}

  std::optional<std::vector<Place>> Find(TensorId id) {
    const Shape& shape = At(id).shape;
    if (shape.empty()) return {};
    channels_ = static_cast<size_t>(shape.back());
    State state;
    state.wanted = {id};
    if (!Extend(state) || !AreReadersScaled(state, id)) return {};
    return state.places;
  }

 private:
  struct State {
    std::vector<TensorId> wanted;  // to be scaled, not looked at yet
    std::set<TensorId> scaled;
    std::map<TensorId, int> passed;  // how often one goes on as a scaled tensor
    std::vector<Place> places;
  };

  const Tensor& At(TensorId id) const { return graph_.tensors[static_cast<size_t>(id)]; }
  bool HasChannels(TensorId id) const {
    const Shape& shape = At(id).shape;
    return !shape.empty() && shape.back() == static_cast<int>(channels_);
  }
  bool IsRow(TensorId id) const {
    const Result<int64_t> count = CountElements(At(id).shape);
    return HasChannels(id) && count.ok() && *count == static_cast<int64_t>(channels_);
  }

  bool Extend(State& state) {
    while (!state.wanted.empty()) {
      const TensorId id = state.wanted.back();
      state.wanted.pop_back();
      if (!state.scaled.insert(id).second) continue;
      const auto maker = makers_.find(id);
      if (maker == makers_.end() || !HasChannels(id) || ++steps_ > kMostSteps) return false;
      if (graph_.layers[maker->second].op.Is<Mul>()) return ExtendThroughMul(maker->second, state);
      if (!Pass(maker->second, state)) return false;
    }
    return true;
  }

  // One of both factors is scaled, whichever leads to constants.
  bool ExtendThroughMul(size_t index, State& state) {
    const Layer& layer = graph_.layers[index];
    if (!IsHomogeneous(ActivationOf<Mul>(layer)) || layer.inputs[0] == layer.inputs[1])
      return false;
    for (const size_t input : {size_t{1}, size_t{0}}) {
      State attempt = state;
      if (!Want(index, input, attempt) || !Extend(attempt)) continue;
      if (attempt.scaled.count(layer.inputs[1 - input]) > 0) continue;  // it would count twice
      state = std::move(attempt);
      return true;
    }
    return false;
  }

  bool Pass(size_t index, State& state) {
    const Layer& layer = graph_.layers[index];
    if (IsProduct(layer)) return PassProduct(index, state);
    if (IsAnyOf<Add, Sub>(layer)) {
      return IsHomogeneous(ActivationOf<Add, Sub>(layer)) && Want(index, 0, state) &&
             Want(index, 1, state);
    }
    if (IsAnyOf<LayerNormalization, RmsNormalization>(layer))
      return PassNormalization(index, state);
    if (IsAnyOf<MaxPool2D, AveragePool2D>(layer)) {
      return IsHomogeneous(ActivationOf<MaxPool2D, AveragePool2D>(layer)) && Want(index, 0, state);
    }
    return IsAnyOf<Reshape, Squeeze, ExpandDims, Relu, LeakyRelu>(layer) && Want(index, 0, state);
  }

  static bool IsHomogeneous(Activation activation) {
    return activation == Activation::kNone || activation == Activation::kRelu;
  }

  // A constant becomes a place; another tensor is to be scaled.
  bool Want(size_t index, size_t input, State& state) const {
    const TensorId id = graph_.layers[index].inputs[input];
    if (At(id).constant) return AddRow(index, input, state);
    if (!HasChannels(id)) return false;
    state.wanted.push_back(id);
    ++state.passed[id];
    return true;
  }

  bool AddRow(size_t index, size_t input, State& state) const {
    const TensorId id = graph_.layers[index].inputs[input];
    std::vector<double> values;
    if (!IsRow(id) || !TakeValues(At(id), values)) return false;
    state.places.push_back({index, input, {1, channels_}});
    return true;
  }

  bool HasInput(size_t index, size_t input) const {
    const Layer& layer = graph_.layers[index];
    return input < layer.inputs.size() && layer.inputs[input] != kNoTensor;
  }

  bool PassProduct(size_t index, State& state) const {
    const Layer& layer = graph_.layers[index];
    std::vector<double> values;
    if (!IsHomogeneous(ActivationOf<Conv2D, DepthwiseConv2D, FullyConnected>(layer))) return false;
    if (!TakeValues(At(layer.inputs[kWeights]), values)) return false;
    const Axis axis = AxesOf(graph_, layer).outputs;
    if (axis.channels() != channels_) return false;
    state.places.push_back({index, kWeights, axis});
    return !HasInput(index, kBias) || AddRow(index, kBias, state);
  }

  bool PassNormalization(size_t index, State& state) const {
    if (!HasInput(index, 1) || !AddRow(index, 1, state)) return false;
    return !HasInput(index, 2) || AddRow(index, 2, state);
  }

  // Whether all readers of scaled tensors scale what they make of them, but for those of `last`.
  bool AreReadersScaled(State& state, TensorId last) const {
    return std::all_of(state.scaled.begin(), state.scaled.end(), [&](TensorId id) {
      const int others = id == last ? 0 : readers_[static_cast<size_t>(id)];
      return state.passed[id] == others;
    });
  }

  const Graph& graph_;
  const std::vector<int>& readers_;
  const std::map<TensorId, size_t>& makers_;
  size_t channels_ = 0;
  int steps_ = 0;
};

class Smoother {
 public:
  Smoother(Graph& graph, const SmoothOptions& options)
      : graph_(graph), options_(options), readers_(CountReaders(graph)) {
    for (size_t i = 0; i < graph.layers.size(); ++i) {
      for (const TensorId id : graph.layers[i].outputs) makers_[id] = i;
    }
  }

  Result<Smoothed> Run(const NextSample& next) {
    FindSubjects();
    INTAGLIO_RETURN_IF_ERROR(Watch(next));
    if (smoothed_.samples == 0)
      return InvalidArgument("there is no sample to smooth channels with");
    for (const Subject& subject : subjects_) smoothed_.changed += Change(subject) ? 1 : 0;
    if (smoothed_.changed > 0 && graph_.folded_shapes != nullptr) {
      graph_.folded_shapes = IncompleteShapes();
    }
    return smoothed_;
  }

 private:
  const Tensor& At(TensorId id) const { return graph_.tensors[static_cast<size_t>(id)]; }

  void FindSubjects() {
    std::map<TensorId, std::vector<size_t>> products;
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      const Layer& layer = graph_.layers[i];
      if (!IsProduct(layer) || At(layer.inputs[0]).type != Type::kFloat32) continue;
      if (At(layer.inputs[kWeights]).constant) products[layer.inputs[0]].push_back(i);
    }
    smoothed_.inputs = products.size();
    for (const auto& [id, layers] : products) {
      std::optional<Subject> subject = SubjectOf(id, layers);
      if (subject.has_value()) subjects_.push_back(std::move(*subject));
    }
  }

  std::optional<Subject> SubjectOf(TensorId id, const std::vector<size_t>& layers) const {
    if (readers_[static_cast<size_t>(id)] != static_cast<int>(layers.size())) return {};
    std::optional<std::vector<Place>> sources = SourceFinder(graph_, readers_, makers_).Find(id);
    if (!sources.has_value()) return {};
    Subject subject = {.tensor = id,
                       .channels = static_cast<size_t>(At(id).shape.back()),
                       .readers = {},
                       .sources = std::move(*sources),
                       .magnitudes = {}};
    for (const size_t layer : layers) {
      const std::optional<Axis> axis = AxesOf(graph_, graph_.layers[layer]).inputs;
      std::vector<double> values;
      if (!axis.has_value() || !TakeValues(At(graph_.layers[layer].inputs[kWeights]), values)) {
        return {};
      }
      subject.readers.push_back({layer, kWeights, *axis});
    }
    subject.magnitudes.resize(subject.channels);
    return subject;
  }

  Status Watch(const NextSample& next) {
    const Result<size_t> samples =
        RunOnSamples(graph_, next, {options_.threads, options_.limits, options_.progress},
                     [&](const Model& exact, size_t sample) {
                       for (Subject& subject : subjects_) {
                         INTAGLIO_RETURN_IF_ERROR(Watch(exact, sample, subject));
                       }
                       return Status();
                     });
    if (!samples.ok()) return samples.status();
    smoothed_.samples = *samples;
    return {};
  }

  Status Watch(const Model& exact, size_t sample, Subject& subject) const {
    const Tensor& tensor = At(subject.tensor);
    const Result<int64_t> count = CountElements(tensor.shape);
    if (!count.ok()) return count.status();
    const auto* const data = static_cast<const float*>(exact.TensorData(subject.tensor));
    for (size_t i = 0; i < static_cast<size_t>(*count); ++i) {
      const double magnitude = std::abs(double{data[i]});
      if (!std::isfinite(magnitude)) {
        return InvalidArgument("sample " + std::to_string(sample) + ": tensor '" +
                               ShortName(tensor.name) + "' is not finite in element " +
                               std::to_string(i));
      }
      double& most = subject.magnitudes[i % subject.channels];
      most = std::max(most, magnitude);
    }
    return {};
  }

  // The greatest magnitude of each channel in the weights of all readers.
  std::vector<double> WeightsOf(const Subject& subject) const {
    std::vector<double> all(subject.channels);
    for (const Place& place : subject.readers) {
      std::vector<double> values;
      TakeValues(At(graph_.layers[place.layer].inputs[place.input]), values);
      const std::vector<double> one = Magnitudes(values, place.axis);
      for (size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], one[i]);
    }
    return all;
  }

  std::vector<double> FactorsOf(const Subject& subject) const {
    const std::vector<double> weights = WeightsOf(subject);
    std::vector<double> factors(subject.channels, 1);
    double logarithms = 0;
    double live = 0;
    const auto is_live = [&](size_t i) {
      return subject.magnitudes[i] > kLeastMagnitude && weights[i] > kLeastMagnitude;
    };
    for (size_t i = 0; i < factors.size(); ++i) {
      if (!is_live(i)) continue;
      factors[i] = std::sqrt(subject.magnitudes[i] / weights[i]);
      logarithms += std::log2(factors[i]);
      ++live;
    }
    if (live == 0) return factors;
    const double mean = std::exp2(logarithms / live);
    double most = 0;
    for (size_t i = 0; i < factors.size(); ++i) {
      if (!is_live(i)) continue;
      factors[i] = std::clamp(factors[i] / mean, 1 / kMostSmoothing, kMostSmoothing);
      most = std::max(most, subject.magnitudes[i] / factors[i]);
    }
    for (size_t i = 0; i < factors.size(); ++i) {
      if (is_live(i)) continue;
      factors[i] = std::clamp(subject.magnitudes[i] / most, 1.0, kMostSmoothing);
    }
    return factors;
  }

  bool Change(const Subject& subject) {
    const std::vector<double> factors = FactorsOf(subject);
    if (std::all_of(factors.begin(), factors.end(), [](double f) { return f == 1; })) return false;
    for (const Place& place : subject.readers) {
      ScalePlace(place, [&](size_t channel) { return factors[channel]; });
    }
    for (const Place& place : subject.sources) {
      ScalePlace(place, [&](size_t channel) { return 1 / factors[channel]; });
    }
    return true;
  }

  template <class FactorOf>
  void ScalePlace(const Place& place, const FactorOf& factor_of) {
    TensorId& id = graph_.layers[place.layer].inputs[place.input];
    std::vector<double> values;
    TakeValues(At(id), values);
    Scale(values, place.axis, factor_of);
    ReplaceConstant(graph_, readers_, id, values);
  }

  Graph& graph_;
  const SmoothOptions& options_;
  std::vector<int> readers_;
  std::map<TensorId, size_t> makers_;
  std::vector<Subject> subjects_;
  Smoothed smoothed_;
};

}  // namespace

Result<Smoothed> SmoothChannels(Graph& graph, const NextSample& next,
                                const SmoothOptions& options) {
  return Smoother(graph, options).Run(next);
}

}  // namespace intaglio::nn::quantize
