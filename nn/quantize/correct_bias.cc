#include "intaglio/nn/quantize/correct_bias.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/alone.h"
#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/quantize/agreement.h"
#include "intaglio/nn/quantize/constants.h"
#include "intaglio/nn/quantize/linear_layers.h"
#include "intaglio/nn/quantize/parameters.h"
#include "intaglio/nn/quantize/similarity.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::quantize {
namespace {

const Tensor& At(const Graph& graph, TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }

template <class T>
std::vector<T> ElementsOf(const Tensor& constant) {
  std::vector<T> values(constant.data_bytes / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), constant.data, constant.data_bytes);
  return values;
}

template <class T>
std::vector<double> Dequantized(const Tensor& constant) {
  const Quantization& q = constant.quantization;
  const std::vector<T> values = ElementsOf<T>(constant);
  size_t inner = 1;
  for (size_t i = static_cast<size_t>(q.axis) + 1; i < constant.shape.size(); ++i) {
    inner *= static_cast<size_t>(constant.shape[i]);
  }
  std::vector<double> reals(values.size());
  for (size_t i = 0; i < reals.size(); ++i) {
    const size_t k = q.per_axis() ? i / inner % q.scales.size() : 0;
    reals[i] = double{q.scales[k]} * static_cast<double>(int64_t{values[i]} - q.zero_points[k]);
  }
  return reals;
}

// Empty where the type is none of the quantizer's.
std::vector<double> RealsOfIntegers(const Tensor& constant) {
  if (!constant.constant || !constant.quantization.quantized()) return {};
  switch (constant.type) {
    case Type::kInt8:
      return Dequantized<int8_t>(constant);
    case Type::kUInt8:
      return Dequantized<uint8_t>(constant);
    case Type::kInt32:
      return Dequantized<int32_t>(constant);
    case Type::kInt64:
      return Dequantized<int64_t>(constant);
    default:
      return {};
  }
}

template <class Op>
void RemoveActivation(Operator& op) {
  if (!op.Is<Op>()) return;
  Op changed = *op.As<Op>();
  changed.activation = Activation::kNone;
  op = changed;
}

// The layer with other constants and without its activation, as a network of its own, whose only
// input is the layer's first.
Graph NetworkOf(const Graph& graph, const Layer& layer, Tensor weights, Tensor bias) {
  Graph alone = Alone(graph, layer);
  Layer& copy = alone.layers[0];
  RemoveActivation<Conv2D>(copy.op);
  RemoveActivation<DepthwiseConv2D>(copy.op);
  RemoveActivation<FullyConnected>(copy.op);
  RemoveActivation<TransposeConv>(copy.op);
  alone.tensors[kWeights] = std::move(weights);
  alone.tensors[kBias] = std::move(bias);
  alone.inputs = {copy.inputs[0]};
  return alone;
}

template <class T>
bool AddTo(Tensor& bias, const std::vector<double>& means) {
  const auto most = static_cast<double>(GreatestBias(bias.type));
  std::vector<T> values = ElementsOf<T>(bias);
  bool changed = false;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::vector<float>& scales = bias.quantization.scales;
    const double steps = std::round(means[i] / double{scales[scales.size() > 1 ? i : 0]});
    const double sum = std::clamp(static_cast<double>(values[i]) + steps, -most, most);
    changed = changed || sum != static_cast<double>(values[i]);
    values[i] = static_cast<T>(sum);
  }
  if (changed) bias = WithValues(bias, std::move(values));
  return changed;
}

// The first sample, and each `every`th after it, at most `most`.
NextSample SomeOf(NextSample next, size_t every, size_t most) {
  return [next = std::move(next), every, most, count = size_t{0}](InputBytes& inputs) mutable {
    if (count == most) return Result<bool>(false);
    for (size_t skip = count == 0 ? 0 : every - 1; skip > 0; --skip) {
      Result<bool> more = next(inputs);
      if (!more.ok() || !*more) return more;
    }
    ++count;
    return next(inputs);
  };
}

// The means of a layer's products, one for each channel, while samples pass.
class ProductMeans {
 public:
  // With these constants of float32.
  static Result<ProductMeans> Of(const Graph& graph, const Layer& layer, Tensor weights,
                                 Tensor bias, const CorrectionOptions& options) {
    const auto channels = bias.data_bytes / sizeof(float);
    Result<Model> model =
        Model::Prepare(NetworkOf(graph, layer, std::move(weights), std::move(bias)),
                       {.threads = options.threads, .limits = options.limits});
    if (!model.ok()) return model.status();
    return ProductMeans(std::move(*model), channels);
  }

  // Elements of float32.
  Status Add(std::span<const std::byte> input) {
    InputBytes outputs;
    INTAGLIO_RETURN_IF_ERROR(RunOn(*model_, {{input.begin(), input.end()}}, outputs));
    std::vector<float> values(outputs[0].size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), outputs[0].data(), outputs[0].size());
    for (size_t i = 0; i < values.size(); ++i) sums_[i % sums_.size()] += double{values[i]};
    count_ += static_cast<double>(values.size() / sums_.size());
    return {};
  }

  // Zeros if there was no product.
  Result<std::vector<double>> Get(const std::string& label) const {
    std::vector<double> means = sums_;
    for (double& mean : means) {
      if (count_ > 0) mean /= count_;
      if (!std::isfinite(mean)) return InvalidArgument(label + ": its mean is not finite");
    }
    return means;
  }

 private:
  ProductMeans(Model model, size_t channels)
      : model_(std::make_unique<Model>(std::move(model))), sums_(channels) {}

  std::unique_ptr<Model> model_;
  std::vector<double> sums_;
  double count_ = 0;  // of the numbers in each sum
};

std::span<const std::byte> FloatsOf(const Model& model, TensorId id) {
  const auto* const data = static_cast<const std::byte*>(model.TensorData(id));
  const Result<size_t> bytes = CountBytes(At(model.graph(), id).shape, Type::kFloat32);
  return {data, bytes.ok() ? *bytes : 0};
}

class Corrector {
 public:
  Corrector(const Graph& graph, Quantized& quantized, const OpenSamples& open,
            const CorrectionOptions& options)
      : graph_(graph), quantized_(quantized), open_(open), options_(options) {}

  Result<Corrected> Run() {
    for (const LinearLayer& layer : FindLinearLayers(graph_, quantized_)) {
      if (HasForm(layer)) layers_.push_back(layer);
    }
    INTAGLIO_RETURN_IF_ERROR(WatchExact());
    corrected_.layers = layers_.size();
    for (size_t i = 0; i < layers_.size(); ++i) INTAGLIO_RETURN_IF_ERROR(Correct(i));
    return corrected_;
  }

 private:
  const Layer& ExactOf(const LinearLayer& layer) const { return graph_.layers[layer.layer]; }
  const Tensor& IntegersOf(TensorId id) const { return At(quantized_.graph, id); }

  // Whether all constants of the layer are there and known in both graphs.
  bool HasForm(const LinearLayer& layer) const {
    const Layer& exact = ExactOf(layer);
    if (!HasInput(exact, kBias) || layer.bias == kNoTensor) return false;
    for (size_t i = 1; i < exact.inputs.size(); ++i) {
      if (HasInput(exact, i) && !At(graph_, exact.inputs[i]).constant) return false;
    }
    const auto fits = [&](TensorId integers, size_t input) {
      const size_t count = RealsOfIntegers(IntegersOf(integers)).size();
      return count > 0 && count * sizeof(float) == At(graph_, exact.inputs[input]).data_bytes;
    };
    return fits(layer.weights, kWeights) && fits(layer.bias, kBias);
  }

  Result<NextSample> OpenSome() const {
    Result<NextSample> samples = open_();
    if (!samples.ok()) return samples.status();
    return SomeOf(std::move(*samples), options_.every, options_.most_samples);
  }

  // The means of all layers in the network of float32, in one pass.
  Status WatchExact() {
    std::vector<ProductMeans> means;
    for (const LinearLayer& layer : layers_) {
      const Layer& exact = ExactOf(layer);
      Result<ProductMeans> made =
          ProductMeans::Of(graph_, exact, At(graph_, exact.inputs[kWeights]),
                           At(graph_, exact.inputs[kBias]), options_);
      if (!made.ok()) return made.status();
      means.push_back(std::move(*made));
    }
    const Result<NextSample> samples = OpenSome();
    if (!samples.ok()) return samples.status();
    const Result<size_t> count = RunOnSamples(
        graph_, *samples, {options_.threads, options_.limits, options_.progress},
        [&](const Model& exact, size_t) {
          for (size_t i = 0; i < layers_.size(); ++i) {
            INTAGLIO_RETURN_IF_ERROR(means[i].Add(FloatsOf(exact, ExactOf(layers_[i]).inputs[0])));
          }
          return Status();
        });
    if (!count.ok()) return count.status();
    if (*count == 0) return InvalidArgument("there is no sample to correct biases with");
    corrected_.samples = *count;
    for (size_t i = 0; i < layers_.size(); ++i) {
      Result<std::vector<double>> exact = means[i].Get(layers_[i].label);
      if (!exact.ok()) return exact.status();
      exact_.push_back(std::move(*exact));
    }
    return {};
  }

  Status Correct(size_t i) {
    const LinearLayer& layer = layers_[i];
    Result<std::vector<double>> errors = MeansInIntegers(layer);
    if (!errors.ok()) return errors.status();
    for (size_t c = 0; c < errors->size(); ++c) (*errors)[c] = exact_[i][c] - (*errors)[c];
    Tensor& bias = quantized_.graph.tensors[static_cast<size_t>(layer.bias)];
    const bool changed =
        bias.type == Type::kInt64 ? AddTo<int64_t>(bias, *errors) : AddTo<int32_t>(bias, *errors);
    corrected_.changed += changed ? 1 : 0;
    return {};
  }

  // The means of a layer in the network of integers, as far as it is corrected.
  Result<std::vector<double>> MeansInIntegers(const LinearLayer& layer) const {
    const Layer& exact = ExactOf(layer);
    const auto dequantized = [&](TensorId integers, size_t input) {
      const std::vector<double> reals = RealsOfIntegers(IntegersOf(integers));
      return WithValues(At(graph_, exact.inputs[input]),
                        std::vector<float>(reals.begin(), reals.end()));
    };
    Result<ProductMeans> means =
        ProductMeans::Of(graph_, exact, dequantized(layer.weights, kWeights),
                         dequantized(layer.bias, kBias), options_);
    if (!means.ok()) return means.status();
    const size_t place = quantized_.places[layer.layer];
    const TensorId input = quantized_.graph.layers[place].inputs[0];
    INTAGLIO_RETURN_IF_ERROR(RunUpTo(place, [&](const Model& model) {
      const Tensor& tensor = At(model.graph(), input);
      const Result<int64_t> count = CountElements(tensor.shape);
      if (!count.ok()) return count.status();
      return means->Add(std::as_bytes(std::span<const float>(
          RealsIn(tensor, model.TensorData(input), static_cast<size_t>(*count)))));
    }));
    return means->Get(layer.label);
  }

  // Runs the network of integers up to a layer on each sample.
  Status RunUpTo(size_t place, const std::function<Status(const Model&)>& watch) const {
    Graph part = quantized_.graph;
    part.layers.resize(place + 1);
    part.outputs = part.layers.back().outputs;
    const Result<NextSample> next = OpenSome();
    if (!next.ok()) return next.status();
    Result<InputBytes> exact = BuffersFor(graph_, graph_.inputs);
    if (!exact.ok()) return exact.status();
    const NextSample converted = [&](InputBytes& inputs) {
      Result<bool> more = (*next)(*exact);
      if (more.ok() && *more) inputs = InputsFor(graph_, *exact, part);
      return more;
    };
    return RunOnSamples(part, converted, {options_.threads, options_.limits, options_.progress},
                        [&](const Model& model, size_t) { return watch(model); })
        .status();
  }

  const Graph& graph_;
  Quantized& quantized_;
  const OpenSamples& open_;
  const CorrectionOptions& options_;
  std::vector<LinearLayer> layers_;
  std::vector<std::vector<double>> exact_;  // means, of each of the layers
  Corrected corrected_;
};

}  // namespace

size_t AddBiases(Graph& graph) {
  size_t added = 0;
  for (Layer& layer : graph.layers) {
    if (!IsLinear(graph, layer) || HasInput(layer, kBias)) continue;
    const Shape& output = At(graph, layer.outputs[0]).shape;
    Tensor bias;
    bias.name = At(graph, layer.outputs[0]).name + "_bias";
    bias.type = Type::kFloat32;
    bias.shape = {output.back()};
    bias.constant = true;
    const size_t count = static_cast<size_t>(output.back());
    graph.tensors.push_back(WithValues(bias, std::vector<float>(count)));
    layer.inputs.resize(std::max(layer.inputs.size(), kBias + 1), kNoTensor);
    layer.inputs[kBias] = static_cast<TensorId>(graph.tensors.size()) - 1;
    ++added;
  }
  if (added > 0 && graph.folded_shapes != nullptr) graph.folded_shapes = IncompleteShapes();
  return added;
}

Result<Corrected> CorrectBiases(const Graph& graph, Quantized& quantized, const OpenSamples& open,
                                const CorrectionOptions& options) {
  if (quantized.layers.size() != graph.layers.size()) {
    return InvalidArgument("the network of integers was made of another one");
  }
  if (options.every == 0) return InvalidArgument("every 0th sample");
  return Corrector(graph, quantized, open, options).Run();
}

}  // namespace intaglio::nn::quantize
