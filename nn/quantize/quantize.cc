#include "intaglio/nn/quantize/quantize.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::quantize {
namespace {

Status CheckForm(const Options& options, const OpenSamples& open) {
  if (options.goal.has_value() && options.form == Form::kDynamic) {
    return Unsupported("a goal for a hybrid network, whose layers compute in float32");
  }
  if (options.form != Form::kDynamic) {
    return open == nullptr ? InvalidArgument("there are no samples") : Status();
  }
  if (options.smooth && open == nullptr) return InvalidArgument("there are no samples");
  if (options.learn_rounding) return Unsupported("learning the rounding of a hybrid network");
  if (!options.correct_bias) return {};
  return Unsupported("correcting biases of a hybrid network, whose layers compute in float32");
}

// A progress that knows what is done.
std::function<void(size_t)> ProgressOf(const Options& options, const char* done) {
  if (!options.progress) return {};
  return [&options, done](size_t samples) { options.progress(done, samples); };
}

Status Smooth(const OpenSamples& open, const Options& options, Network& network) {
  const Result<NextSample> samples = open();
  if (!samples.ok()) return samples.status();
  SmoothOptions smooth;
  smooth.threads = options.threads;
  smooth.limits = options.limits;
  smooth.progress = ProgressOf(options, "smoothed by");
  const Result<Smoothed> smoothed = SmoothChannels(network.real, *samples, smooth);
  if (!smoothed.ok()) return smoothed.status();
  network.smoothed = *smoothed;
  return {};
}

Status Observe(const OpenSamples& open, const Options& options, const Choices& choices,
               Network& network) {
  const Result<NextSample> samples = open();
  if (!samples.ok()) return samples.status();
  CalibrationOptions calibration;
  calibration.observers = choices.tensors;
  calibration.threads = options.threads;
  calibration.limits = options.limits;
  calibration.progress = ProgressOf(options, "observed");
  Result<Calibration> result = Calibrate(network.real, *samples, calibration);
  if (!result.ok()) return result.status();
  network.ranges = std::move(result->ranges);
  network.samples = result->samples;
  return {};
}

struct Integers {
  Quantized quantized;
  std::optional<Rounded> rounded;
  std::optional<Corrected> corrected;
};

Status Round(const Network& network, const Rules& rules, const OpenSamples& open,
             const Options& options, Integers& integers) {
  RoundingOptions rounding;
  rounding.threads = options.threads;
  rounding.limits = options.limits;
  rounding.biases_follow = options.correct_bias;
  rounding.progress = ProgressOf(options, "learned from");
  Result<Rounded> rounded = LearnRounding(network.real, integers.quantized, rules, open, rounding);
  if (!rounded.ok()) return rounded.status();
  integers.rounded = std::move(*rounded);
  return {};
}

Status Correct(const Network& network, const OpenSamples& open, const Options& options,
               Integers& integers) {
  constexpr size_t kMostSamples = 256;  // means of more are hardly better
  constexpr size_t kMostRead = 16 * kMostSamples;
  CorrectionOptions correction;
  correction.threads = options.threads;
  correction.limits = options.limits;
  correction.every = (std::min(network.samples, kMostRead) + kMostSamples - 1) / kMostSamples;
  correction.most_samples = kMostSamples;
  correction.progress = ProgressOf(options, "corrected");
  const Result<Corrected> corrected =
      CorrectBiases(network.real, integers.quantized, open, correction);
  if (!corrected.ok()) return corrected.status();
  integers.corrected = *corrected;
  return {};
}

// From ranges to integers, with all that samples improve.
Result<Integers> MakeIntegers(const Network& network, const Rules& rules, const OpenSamples& open,
                              const Options& options) {
  Result<Quantized> quantized = QuantizeGraph(network.real, network.ranges, rules);
  if (!quantized.ok()) return quantized.status();
  Integers integers = {std::move(*quantized), {}, {}};
  if (options.learn_rounding) {
    INTAGLIO_RETURN_IF_ERROR(Round(network, rules, open, options, integers));
  }
  if (options.correct_bias) {
    INTAGLIO_RETURN_IF_ERROR(Correct(network, open, options, integers));
  }
  return integers;
}

// A network that would be nothing but a copy is no success.
Status CheckAnyQuantized(const std::vector<Outcome>& layers) {
  const bool any = std::any_of(layers.begin(), layers.end(),
                               [](const Outcome& layer) { return layer.quantized; });
  if (any) return {};
  if (layers.empty()) return InvalidArgument("the network has no layer");
  return InvalidArgument("no layer can be quantized; the first, " + layers[0].label +
                         ", stays float32: " + layers[0].reason);
}

Status Reach(const OpenSamples& open, const Options& options, Network& network) {
  const Result<Report> report = ReportOn(network, open, options);
  if (!report.ok()) return report.status();
  // What was found out while a network was made by rules for its layers.
  std::vector<std::pair<std::vector<LayerRule>, Integers>> trials;
  const MakeQuantized make = [&](const Rules& rules) -> Result<Quantized> {
    Result<Integers> integers = MakeIntegers(network, rules, open, options);
    if (!integers.ok()) return integers.status();
    Quantized quantized = std::move(integers->quantized);
    trials.emplace_back(rules.layers, std::move(*integers));
    return quantized;
  };
  const Result<Search> search =
      ReachGoal(network.real, *options.goal, *report, open, make, network.rules, network.quantized,
                {options.threads, options.limits});
  if (!search.ok()) return search.status();
  network.search = *search;
  for (auto& [layers, integers] : trials) {
    if (layers != network.rules.layers) continue;
    network.rounded = std::move(integers.rounded);
    network.corrected = integers.corrected;
    break;
  }
  return {};
}

}  // namespace

Status SetBits(std::string_view bits, Options& options) {
  const bool good = bits.size() >= 2 && bits[0] == 'w' && bits[1] >= '2' && bits[1] <= '8';
  const std::string_view rest = good ? bits.substr(2) : "?";
  const bool few = rest.size() == 2 && rest[0] == 'a' && rest[1] >= '2' && rest[1] <= '8';
  if (!good || (!few && rest != "a16" && !rest.empty())) {
    return InvalidArgument("bits '" + ShortName(bits) +
                           "': neither w8a8 or w8a16 nor w8, with 2 to 8 for each 8");
  }
  options.layer.weight_bits = bits[1] - '0';
  options.layer.activation_bits = few ? rest[1] - '0' : 8;
  if (rest == "a16") {
    options.layer.activations = Type::kInt16;
  } else {
    options.layer.activations = options.form == Form::kPairs ? Type::kUInt8 : Type::kInt8;
  }
  if (!rest.empty()) return {};
  if (options.form == Form::kPairs) return Unsupported("hybrid layers by ONNX's rules");
  options.form = Form::kDynamic;
  return {};
}

Result<Network> Quantize(Graph graph, const OpenSamples& open, const Options& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckForm(options, open));
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  Network network;
  network.real = std::move(graph);
  Simplify(network.real);
  if (options.equalize) network.equalized = EqualizeChannels(network.real);
  if (options.smooth) INTAGLIO_RETURN_IF_ERROR(Smooth(open, options, network));
  if (options.correct_bias) AddBiases(network.real);
  Result<Choices> choices = Apply(options.recipe, network.real, options.layer, options.observer);
  if (!choices.ok()) return choices.status();
  network.rules = {options.form, options.interface, std::move(choices->layers)};
  if (options.form != Form::kDynamic) {
    INTAGLIO_RETURN_IF_ERROR(Observe(open, options, *choices, network));
  }
  Result<Integers> integers = MakeIntegers(network, network.rules, open, options);
  if (!integers.ok()) return integers.status();
  INTAGLIO_RETURN_IF_ERROR(CheckAnyQuantized(integers->quantized.layers));
  network.quantized = std::move(integers->quantized);
  network.rounded = std::move(integers->rounded);
  network.corrected = integers->corrected;
  if (options.goal.has_value()) INTAGLIO_RETURN_IF_ERROR(Reach(open, options, network));
  return network;
}

Result<Report> ReportOn(const Network& network, const OpenSamples& open, const Options& options,
                        size_t most_samples) {
  if (network.rules.form == Form::kDynamic) {
    return Unsupported("a report on a hybrid network, whose layers compute in float32");
  }
  Rules rules = network.rules;
  Integers again;
  const bool pairs = rules.form == Form::kPairs;
  if (pairs) {
    rules.form = Form::kIntegers;
    Result<Integers> integers = MakeIntegers(network, rules, open, options);
    if (!integers.ok()) return integers.status();
    again = std::move(*integers);
  }
  const Result<NextSample> samples = open();
  if (!samples.ok()) return samples.status();
  return MakeReport(network.real, pairs ? again.quantized : network.quantized, rules, *samples,
                    {most_samples, options.threads, options.limits});
}

namespace {

// Files of .onnx do not say which numbers the integers of an input or an output stand for.
void TakeQuantization(const Graph& from, const std::vector<TensorId>& from_ids, Graph& to,
                      const std::vector<TensorId>& to_ids) {
  for (size_t i = 0; i < std::min(from_ids.size(), to_ids.size()); ++i) {
    const Tensor& made = from.tensors[static_cast<size_t>(from_ids[i])];
    Tensor& read = to.tensors[static_cast<size_t>(to_ids[i])];
    if (read.type == made.type && read.quantization.scales.empty()) {
      read.quantization = made.quantization;
    }
  }
}

}  // namespace

Result<Agreement> AgreementOf(const Network& network, Graph read_back, const OpenSamples& open,
                              const Options& options, size_t most_samples) {
  const PrepareOptions prepare = {.threads = options.threads, .limits = options.limits};
  Result<Model> exact = Model::Prepare(network.real, prepare);
  if (!exact.ok()) return exact.status();
  const Graph& made = network.quantized.graph;
  TakeQuantization(made, made.inputs, read_back, read_back.inputs);
  TakeQuantization(made, made.outputs, read_back, read_back.outputs);
  Result<Model> actual = Model::Prepare(std::move(read_back), prepare);
  if (!actual.ok()) return actual.status();
  const Result<NextSample> samples = open();
  if (!samples.ok()) return samples.status();
  return Compare(*exact, *actual, *samples, most_samples);
}

}  // namespace intaglio::nn::quantize
