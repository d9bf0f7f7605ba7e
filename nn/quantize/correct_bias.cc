#include "intaglio/nn/quantize/correct_bias.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/alone.h"
#include "intaglio/nn/graph/folded_shapes.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/quantize/constants.h"
#include "intaglio/nn/quantize/linear_layers.h"
#include "intaglio/nn/quantize/parameters.h"
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

// The exact constant less the one of integers.
Tensor ErrorOf(const Tensor& exact, const std::vector<double>& integers) {
  std::vector<float> error = RealsOf(exact);
  for (size_t i = 0; i < error.size(); ++i) {
    error[i] = static_cast<float>(double{error[i]} - integers[i]);
  }
  return WithValues(exact, std::move(error));
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

// One layer while samples pass.
struct Subject {
  TensorId input = kNoTensor;  // of the graph of float32
  TensorId bias = kNoTensor;   // of the graph of integers
  std::string label;
  std::unique_ptr<Model> error;  // computes (W - W') x + (b - b')
  std::vector<double> sums;      // of each channel
  double count = 0;              // of the numbers in each sum

  Status Watch(const Model& exact) {
    const auto* const data = static_cast<const std::byte*>(exact.TensorData(input));
    const Result<size_t> bytes = CountBytes(At(exact.graph(), input).shape, Type::kFloat32);
    if (!bytes.ok()) return bytes.status();
    InputBytes outputs;
    INTAGLIO_RETURN_IF_ERROR(RunOn(*error, {{data, data + *bytes}}, outputs));
    std::vector<float> values(outputs[0].size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), outputs[0].data(), outputs[0].size());
    for (size_t i = 0; i < values.size(); ++i) sums[i % sums.size()] += double{values[i]};
    count += static_cast<double>(values.size() / sums.size());
    return {};
  }

  Result<bool> Correct(Graph& integers) const {
    if (count == 0) return false;
    std::vector<double> means = sums;
    for (double& mean : means) {
      mean /= count;
      if (!std::isfinite(mean)) return InvalidArgument(label + ": its mean error is not finite");
    }
    Tensor& tensor = integers.tensors[static_cast<size_t>(bias)];
    return tensor.type == Type::kInt64 ? AddTo<int64_t>(tensor, means)
                                       : AddTo<int32_t>(tensor, means);
  }
};

class Subjects {
 public:
  Subjects(const Graph& graph, const Quantized& quantized, const CorrectionOptions& options)
      : graph_(graph), quantized_(quantized), options_(options) {}

  Result<std::vector<Subject>> Find() {
    std::vector<Subject> subjects;
    for (const LinearLayer& layer : FindLinearLayers(graph_, quantized_)) {
      INTAGLIO_RETURN_IF_ERROR(Add(layer, subjects));
    }
    return subjects;
  }

 private:
  Status Add(const LinearLayer& layer, std::vector<Subject>& subjects) const {
    const Layer& exact = graph_.layers[layer.layer];
    if (!HasInput(exact, kBias) || layer.bias == kNoTensor) return {};
    for (size_t i = 1; i < exact.inputs.size(); ++i) {
      if (HasInput(exact, i) && !At(graph_, exact.inputs[i]).constant) return {};
    }
    Subject subject;
    subject.input = exact.inputs[0];
    subject.label = layer.label;
    subject.bias = layer.bias;
    const Tensor& weights = At(graph_, exact.inputs[kWeights]);
    const Tensor& bias = At(graph_, exact.inputs[kBias]);
    const std::vector<double> w = RealsOfIntegers(At(quantized_.graph, layer.weights));
    const std::vector<double> b = RealsOfIntegers(At(quantized_.graph, subject.bias));
    if (b.empty() || w.size() * sizeof(float) != weights.data_bytes ||
        b.size() * sizeof(float) != bias.data_bytes) {
      return {};
    }
    subject.sums.resize(b.size());
    Result<Model> model =
        Model::Prepare(NetworkOf(graph_, exact, ErrorOf(weights, w), ErrorOf(bias, b)),
                       {.threads = options_.threads, .limits = options_.limits});
    if (!model.ok()) return model.status();
    subject.error = std::make_unique<Model>(std::move(*model));
    subjects.push_back(std::move(subject));
    return {};
  }

  const Graph& graph_;
  const Quantized& quantized_;
  const CorrectionOptions& options_;
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

Result<Corrected> CorrectBiases(const Graph& graph, Quantized& quantized, const NextSample& next,
                                const CorrectionOptions& options) {
  if (quantized.layers.size() != graph.layers.size()) {
    return InvalidArgument("the network of integers was made of another one");
  }
  Result<std::vector<Subject>> subjects = Subjects(graph, quantized, options).Find();
  if (!subjects.ok()) return subjects.status();
  const Result<size_t> samples =
      RunOnSamples(graph, next, {options.threads, options.limits, options.progress},
                   [&](const Model& exact, size_t) {
                     for (Subject& subject : *subjects) {
                       INTAGLIO_RETURN_IF_ERROR(subject.Watch(exact));
                     }
                     return Status();
                   });
  if (!samples.ok()) return samples.status();
  if (*samples == 0) return InvalidArgument("there is no sample to correct biases with");
  Corrected corrected;
  corrected.layers = subjects->size();
  corrected.samples = *samples;
  for (const Subject& subject : *subjects) {
    const Result<bool> changed = subject.Correct(quantized.graph);
    if (!changed.ok()) return changed.status();
    corrected.changed += *changed ? 1 : 0;
  }
  return corrected;
}

}  // namespace intaglio::nn::quantize
