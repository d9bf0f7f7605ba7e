#include "intaglio/nn/quantize/report.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "intaglio/nn/graph/alone.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/quantize/agreement.h"
#include "intaglio/nn/quantize/constants.h"
#include "intaglio/nn/quantize/demands.h"

namespace intaglio::nn::quantize {
namespace {

const Tensor& At(const Graph& graph, TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }

size_t CountOf(const Tensor& tensor) {
  const Result<int64_t> count = CountElements(tensor.shape);
  return count.ok() ? static_cast<size_t>(*count) : 0;
}

std::vector<float> RealsOf(const Model& model, TensorId id) {
  const Tensor& tensor = At(model.graph(), id);
  return RealsIn(tensor, model.TensorData(id), CountOf(tensor));
}

// The least and the greatest number of each channel.
class ChannelSpans {
 public:
  void Add(const std::vector<float>& values, size_t channels) {
    spans_.resize(channels);
    for (size_t i = 0; i < values.size(); ++i) {
      std::optional<RealRange>& span = spans_[i % channels];
      const RealRange one = {values[i], values[i]};
      span = span.has_value() ? Union(*span, one) : one;
    }
  }
  bool IsConstant(size_t channel) const {
    return !spans_[channel].has_value() || spans_[channel]->min == spans_[channel]->max;
  }
  size_t size() const { return spans_.size(); }

 private:
  std::vector<std::optional<RealRange>> spans_;
};

constexpr size_t kParts = 48;

void Count(const std::vector<float>& values, const OutputHistogram& range,
           std::vector<uint64_t>& counts) {
  counts.resize(kParts + 2);
  const double width = double{range.greatest} - double{range.least};
  for (const float value : values) {
    size_t part = 0;
    if (value > range.greatest) {
      part = kParts + 1;
    } else if (value >= range.least) {
      const double share = width > 0 ? (double{value} - double{range.least}) / width : 0;
      part = 1 + std::min(kParts - 1, static_cast<size_t>(share * static_cast<double>(kParts)));
    }
    ++counts[part];
  }
}

// A quantized layer as a network of its own, whose inputs are all that is no constant.
Graph LayerAsGraph(const Graph& graph, const Layer& layer) {
  Graph alone = Alone(graph, layer);
  for (const TensorId id : alone.layers[0].inputs) {
    if (id != kNoTensor && !At(alone, id).constant) alone.inputs.push_back(id);
  }
  return alone;
}

// One layer while samples pass.
class Subject {
 public:
  static Result<Subject> Make(const Graph& graph, const Quantized& quantized, size_t layer,
                              const Layer& integers, const ReportOptions& options) {
    Subject subject;
    const Layer& exact = graph.layers[layer];
    subject.report.layer = layer;
    subject.report.label = quantized.layers[layer].label;
    subject.report.operator_name = NameOf(exact.op);
    for (size_t i = 0; i < exact.outputs.size(); ++i) {
      if (At(graph, exact.outputs[i]).type != Type::kFloat32) continue;
      subject.output_ = i;
      subject.exact_ = exact.outputs[i];
      break;
    }
    if (subject.exact_ == kNoTensor) return subject;
    subject.integers_ = quantized.integers[static_cast<size_t>(subject.exact_)];
    subject.least_ = LeastOf(quantized, subject.exact_);
    for (size_t i = 0; i < exact.inputs.size(); ++i) {
      const TensorId id = integers.inputs[i];
      if (id == kNoTensor || At(quantized.graph, id).constant) continue;
      subject.inputs_.push_back(exact.inputs[i]);
      subject.input_least_.push_back(LeastOf(quantized, exact.inputs[i]));
    }
    Result<Model> model = Model::Prepare(LayerAsGraph(quantized.graph, integers),
                                         {.threads = options.threads, .limits = options.limits});
    if (!model.ok()) return model.status();
    subject.model_ = std::make_unique<Model>(std::move(*model));
    return subject;
  }

  bool has_output() const { return exact_ != kNoTensor; }

  Status Watch(const Model& exact, const Model& actual) {
    const std::vector<float> x = RealsOf(exact, exact_);
    const std::vector<float> y = RealsOf(actual, integers_);
    report.accumulated.Add(x, y);
    const Tensor& tensor = At(actual.graph(), integers_);
    const std::vector<std::byte> ends = EndsOf(tensor);
    std::vector<float> reach = RealsIn(tensor, ends.data(), 2);
    reach[0] = std::max(reach[0], least_);
    OutputHistogram& histogram = report.histogram;
    histogram.least = reach[0];
    histogram.greatest = reach[1];
    Count(x, histogram, histogram.exact);
    Count(y, histogram, histogram.integers);
    const float half = tensor.quantization.scales[0] / 2;
    for (const float value : x) clipped_ += value < reach[0] - half || value > reach[1] + half;
    const size_t channels =
        tensor.shape.empty() ? 1 : static_cast<size_t>(std::max(1, tensor.shape.back()));
    spans_.Add(x, channels);
    integer_spans_.Add(y, channels);
    return RunAlone(exact, x);
  }

  void Finish() {
    const auto count = static_cast<double>(report.accumulated.count());
    report.clipped = count == 0 ? 0 : static_cast<double>(clipped_) / count;
    for (size_t i = 0; i < spans_.size(); ++i) {
      report.dead_channels += integer_spans_.IsConstant(i) && !spans_.IsConstant(i) ? 1 : 0;
    }
  }

  LayerReport report;

 private:
  // The least and the greatest integer.
  static std::vector<std::byte> EndsOf(const Tensor& tensor) {
    return ElementsOf(tensor, std::vector<float>{-3e38f, 3e38f});
  }

  Status RunAlone(const Model& exact, const std::vector<float>& x) {
    InputBytes inputs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor& from = At(exact.graph(), inputs_[i]);
      const auto* const data = static_cast<const std::byte*>(exact.TensorData(inputs_[i]));
      const size_t bytes = CountOf(from) * SizeOf(from.type);
      if (from.type == Type::kFloat32) {
        inputs.push_back(
            ElementsOf(model_->input(i), AtLeast(RealsOf(exact, inputs_[i]), input_least_[i])));
      } else {
        inputs.emplace_back(data, data + bytes);
      }
    }
    InputBytes outputs;
    INTAGLIO_RETURN_IF_ERROR(RunOn(*model_, inputs, outputs));
    const Tensor& output = model_->output(output_);
    report.alone.Add(x, AtLeast(RealsIn(output, outputs[output_].data(), x.size()), least_));
    return {};
  }

  // The least real number that the integers of a tensor of float32 stand for.
  static float LeastOf(const Quantized& quantized, TensorId id) {
    const TensorId integers = quantized.integers[static_cast<size_t>(id)];
    if (integers == kNoTensor) return -HUGE_VALF;
    const Quantization& q = At(quantized.graph, integers).quantization;
    const int32_t steps = quantized.lowest[static_cast<size_t>(id)] - q.zero_points[0];
    return q.scales[0] * static_cast<float>(steps);
  }

  static std::vector<float> AtLeast(std::vector<float> values, float least) {
    for (float& value : values) value = std::max(value, least);
    return values;
  }

  size_t output_ = 0;
  TensorId exact_ = kNoTensor;
  TensorId integers_ = kNoTensor;
  float least_ = 0;
  std::vector<float> input_least_;
  std::vector<TensorId> inputs_;  // of the network of float32, for those of the layer alone
  std::unique_ptr<Model> model_;
  uint64_t clipped_ = 0;
  ChannelSpans spans_;
  ChannelSpans integer_spans_;
};

double RangeRatioOf(const Graph& graph, const Layer& layer) {
  const Demand* const demand = DemandOf(layer.op);
  if (demand == nullptr || !demand->has_weights()) return 1;
  const Result<std::vector<RealRange>> ranges =
      RangesOfChannels(At(graph, layer.inputs[1]), demand->weight_axis);
  if (!ranges.ok()) return 1;
  double least = 0;
  double most = 0;
  for (const RealRange& range : *ranges) {
    const double width = std::max(-double{range.min}, double{range.max});
    if (width == 0) continue;
    least = least == 0 ? width : std::min(least, width);
    most = std::max(most, width);
  }
  return least == 0 ? 1 : most / least;
}

// A regular expression that matches the label, in a text of JSON. Characters that may have another
// meaning there become '.', and only the first of a long label count.
std::string PatternOf(const std::string& label) {
  constexpr size_t kMostCharacters = 500;
  std::string pattern = "^";
  for (const char c : label.substr(0, kMostCharacters)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (plain || c == '_' || c == '#' || c == '\'' || c == ' ' || c == '/') {
      pattern += c;
    } else {
      pattern += '.';
    }
  }
  return label.size() > kMostCharacters ? pattern : pattern + "$";
}

// The cheapest change that addresses what is seen.
std::string RuleFor(const LayerReport& layer, const LayerRule& rule, double enough) {
  if (layer.alone.Sqnr() >= enough) return "";
  const bool has_weights = layer.range_ratio > 1;
  std::string change = "\"float\": true";
  if (has_weights && rule.weight_bits < 8) {
    change = "\"weights\": 8";
  } else if (has_weights && !rule.per_channel && layer.range_ratio > 4) {
    change = "\"per_channel\": true";
  } else if (layer.clipped > 0.001) {
    change = "\"method\": \"minmax\"";
  }
  return "{\"layers\": \"" + PatternOf(layer.label) + "\", " + change + "}";
}

Result<std::vector<Subject>> SubjectsOf(const Graph& graph, const Quantized& quantized,
                                        const ReportOptions& options) {
  std::vector<Subject> subjects;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    if (!quantized.layers[i].quantized) continue;
    // Labels may be equal, so places tell which layer became which.
    const Layer& integers = quantized.graph.layers[quantized.places[i]];
    Result<Subject> subject = Subject::Make(graph, quantized, i, integers, options);
    if (!subject.ok()) return subject.status();
    if (subject->has_output()) subjects.push_back(std::move(*subject));
  }
  return subjects;
}

}  // namespace

Result<Report> MakeReport(const Graph& graph, const Quantized& quantized, const Rules& rules,
                          const NextSample& next, const ReportOptions& options) {
  if (rules.form != Form::kIntegers) return Unsupported("reports of other forms than integers");
  const PrepareOptions prepare = {
      .threads = options.threads, .keep_all_tensors = true, .limits = options.limits};
  Result<Model> exact = Model::Prepare(graph, prepare);
  if (!exact.ok()) return exact.status();
  Result<Model> actual = Model::Prepare(quantized.graph, prepare);
  if (!actual.ok()) return actual.status();
  Result<std::vector<Subject>> subjects = SubjectsOf(graph, quantized, options);
  if (!subjects.ok()) return subjects.status();
  Result<InputBytes> inputs = BuffersFor(graph, graph.inputs);
  if (!inputs.ok()) return inputs.status();
  Report report;
  InputBytes outputs;
  for (; report.samples < options.most_samples; ++report.samples) {
    const Result<bool> more = next(*inputs);
    if (!more.ok()) return more.status();
    if (!*more) break;
    INTAGLIO_RETURN_IF_ERROR(RunOn(*exact, *inputs, outputs));
    INTAGLIO_RETURN_IF_ERROR(
        RunOn(*actual, InputsFor(exact->graph(), *inputs, actual->graph()), outputs));
    for (Subject& subject : *subjects) {
      INTAGLIO_RETURN_IF_ERROR(subject.Watch(*exact, *actual));
    }
  }
  for (Subject& subject : *subjects) {
    subject.Finish();
    LayerReport& layer = subject.report;
    layer.range_ratio = RangeRatioOf(graph, graph.layers[layer.layer]);
    const LayerRule rule =
        layer.layer < rules.layers.size() ? rules.layers[layer.layer] : LayerRule();
    layer.rule = RuleFor(layer, rule, options.enough);
    report.layers.push_back(std::move(layer));
  }
  std::stable_sort(
      report.layers.begin(), report.layers.end(),
      [](const LayerReport& a, const LayerReport& b) { return a.alone.Sqnr() < b.alone.Sqnr(); });
  return report;
}

}  // namespace intaglio::nn::quantize
