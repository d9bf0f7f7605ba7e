// intaglio quantize: a network of integers from one of float32 and sample inputs.
#include "intaglio/nn/quantize/quantize.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/formats/save.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/quantize/named_ranges.h"
#include "intaglio/tools/commands.h"
#include "intaglio/tools/file.h"
#include "intaglio/tools/model_io.h"
#include "intaglio/tools/new_model.h"
#include "intaglio/tools/npy.h"
#include "intaglio/tools/progress.h"
#include "intaglio/tools/quantize_report.h"
#include "intaglio/tools/samples.h"

namespace intaglio::tools {
namespace {

namespace quantize = nn::quantize;

// Everything that the options say, checked.
struct Job {
  nn::Format format = nn::Format::kTflite;
  nn::LoadOptions load;
  nn::SaveOptions save;
  quantize::Options quantize;
};

Result<quantize::Recipe> RecipeOf(const QuantizeOptions& options) {
  quantize::Recipe recipe;
  if (!options.recipe.empty()) {
    const Result<std::vector<uint8_t>> bytes = ReadFile(options.recipe, quantize::kMaxRecipeBytes);
    if (!bytes.ok()) return bytes.status();
    Result<quantize::Recipe> parsed =
        quantize::ParseRecipe({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    if (!parsed.ok()) {
      return Status(parsed.status().code(), options.recipe + ": " + parsed.status().message());
    }
    recipe = std::move(*parsed);
  }
  for (const std::string& pattern : options.keep_float) {
    quantize::RecipeRule& rule = recipe.rules.emplace_back();
    rule.layers = pattern;
    rule.keep_float = true;
  }
  return recipe;
}

std::optional<Type> InterfaceOf(const std::string& name) {
  for (const Type type : {Type::kInt8, Type::kUInt8, Type::kInt16}) {
    if (name == NameOf(type)) return type;
  }
  return {};
}

// Elements of an integer type as labels. Those that are no int32 become -1, which no label is.
template <class T>
Result<std::vector<int32_t>> ToLabels(const std::vector<uint8_t>& data, const std::string& path) {
  std::vector<int32_t> labels;
  for (size_t i = 0; i + sizeof(T) <= data.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, data.data() + i, sizeof(T));
    if (!std::in_range<int32_t>(value)) {
      return InvalidArgument(path + ": the label " + std::to_string(value) + " is no answer");
    }
    labels.push_back(static_cast<int32_t>(value));
  }
  return labels;
}

// The labels may be a list, a column, or a list of the rows of each sample. Nothing else: one-hot
// rows are no labels, and an empty list would stand for the answers of the network of float32.
Status CheckLabels(const NpyArray& array, const std::string& path, const nn::Graph& graph) {
  const auto product = [](auto first, auto last) {
    uint64_t all = 1;
    for (; first != last; ++first) all *= static_cast<uint64_t>(*first);
    return all;
  };
  uint64_t rows = 1;  // of answers, in a sample
  if (!graph.outputs.empty()) {
    const nn::Shape& shape = graph.tensors[static_cast<size_t>(graph.outputs[0])].shape;
    if (!shape.empty()) rows = product(shape.begin(), shape.end() - 1);
  }
  const std::vector<int64_t>& shape = array.shape;
  const uint64_t each = shape.empty() ? 0 : product(shape.begin() + 1, shape.end());
  if (!array.data.empty() && (each == 1 || each == rows)) return {};
  return InvalidArgument(path + ": has " + Describe(array) +
                         "; labels are one number for each of " + "the answers, " +
                         std::to_string(rows) + " in a sample");
}

Result<std::vector<int32_t>> LabelsIn(const NpyArray& array, const std::string& path) {
  switch (array.type) {
    case Type::kInt8:
      return ToLabels<int8_t>(array.data, path);
    case Type::kUInt8:
      return ToLabels<uint8_t>(array.data, path);
    case Type::kInt16:
      return ToLabels<int16_t>(array.data, path);
    case Type::kUInt16:
      return ToLabels<uint16_t>(array.data, path);
    case Type::kInt32:
      return ToLabels<int32_t>(array.data, path);
    case Type::kInt64:
      return ToLabels<int64_t>(array.data, path);
    default:
      return InvalidArgument(path + ": labels of " + NameOf(array.type) + ", not of integers");
  }
}

// The labels of a goal. The goal has none if no file of them is named.
Status TakeLabels(const std::string& path, const nn::Graph& graph, Job& job) {
  if (path.empty() || !job.quantize.goal.has_value()) return {};
  const Result<NpyArray> array = ReadNpy(path);
  if (!array.ok()) return array.status();
  Result<std::vector<int32_t>> labels = LabelsIn(*array, path);
  if (!labels.ok()) return labels.status();
  job.quantize.goal->labels = std::move(*labels);
  return CheckLabels(*array, path, graph);
}

Status Decide(const QuantizeOptions& options, Progress& progress, Job& job) {
  quantize::Options& what = job.quantize;
  if (job.format == nn::Format::kOnnx) what.form = quantize::Form::kPairs;
  INTAGLIO_RETURN_IF_ERROR(quantize::SetBits(options.bits, what));
  what.layer.per_channel = !options.per_tensor;
  const Result<quantize::Method> method = quantize::MethodByName(options.method);
  if (!method.ok()) return method.status();
  what.observer.method = *method;
  Result<quantize::Recipe> recipe = RecipeOf(options);
  if (!recipe.ok()) return recipe.status();
  what.recipe = std::move(*recipe);
  what.interface = InterfaceOf(options.io);
  what.equalize = options.equalize;
  what.smooth = options.smooth;
  what.learn_rounding = options.learn_rounding;
  what.correct_bias = options.correct_bias;
  what.threads = options.threads;
  what.limits = options.model.limits;
  if (options.max_drop.has_value()) what.goal = quantize::Goal{.most_drop = options.max_drop};
  if (options.min_sqnr.has_value()) what.goal = quantize::Goal{.least_sqnr = options.min_sqnr};
  what.progress = [&progress](const char* done, size_t samples) {
    progress.Show(std::string(done) + " " + std::to_string(samples) + " samples");
  };
  return {};
}

// Starts again with the first of `count` samples. The samples outlive what is returned.
quantize::OpenSamples OpenerOf(std::optional<Samples>& samples, size_t count) {
  if (!samples.has_value()) return nullptr;
  return [&samples, count]() -> Result<quantize::NextSample> {
    samples->Rewind();
    return quantize::NextSample(
        [&samples, left = count](quantize::InputBytes& inputs) mutable -> Result<bool> {
          if (left == 0) return false;
          --left;
          return samples->Next(inputs);
        });
  };
}

void PrintLayers(const std::vector<quantize::Outcome>& layers) {
  const auto quantized = std::count_if(layers.begin(), layers.end(),
                                       [](const quantize::Outcome& o) { return o.quantized; });
  std::printf("layers   %td of %zu are quantized\n", quantized, layers.size());
  for (const quantize::Outcome& layer : layers) {
    const std::string& text = layer.quantized ? layer.note : layer.reason;
    if (text.empty()) continue;
    std::printf("         %s %s: %s\n", nn::Printable(layer.label).c_str(),
                layer.quantized ? "is quantized" : "stays float32", nn::Printable(text).c_str());
  }
}

void PrintSearch(const quantize::Search& search, bool decibels) {
  if (decibels) {
    std::printf("SQNR     %.1f dB with the rules as given, %.1f dB now (%zu trials)\n",
                search.first, search.last, search.trials);
  } else {
    std::printf(
        "accuracy %.2f%% of the network of float32, %.2f%% with the rules as given, %.2f%% now "
        "(%zu trials)\n",
        search.exact, search.first, search.last, search.trials);
  }
  for (const quantize::Change& change : search.changes) {
    std::printf("         %s %s: alone it lost down to %.1f dB\n",
                nn::Printable(change.label).c_str(), change.change.c_str(), change.sqnr_alone);
  }
}

void PrintRounded(const quantize::Rounded& rounded) {
  size_t weights = 0;
  size_t moved = 0;
  for (const quantize::RoundedLayer& layer : rounded.layers) {
    weights += layer.weights;
    moved += layer.moved;
  }
  std::printf(
      "learned the rounding of %zu layers: %zu of %zu weights are not the nearest integers\n",
      rounded.layers.size(), moved, weights);
}

void PrintNetwork(const quantize::Network& network, const quantize::Options& options) {
  if (network.equalized.has_value()) {
    std::printf("equalized the channels of %zu of %zu pairs of layers\n",
                network.equalized->changed, network.equalized->pairs);
  }
  if (network.smoothed.has_value()) {
    std::printf("smoothed the channels of %zu of %zu inputs of products\n",
                network.smoothed->changed, network.smoothed->inputs);
  }
  if (network.samples > 0) std::printf("observed %zu samples\n", network.samples);
  if (network.rounded.has_value()) PrintRounded(*network.rounded);
  if (network.corrected.has_value()) {
    std::printf("corrected the biases of %zu of %zu layers\n", network.corrected->changed,
                network.corrected->layers);
  }
  PrintLayers(network.quantized.layers);
  if (network.search.has_value()) {
    PrintSearch(*network.search, options.goal->least_sqnr.has_value());
  }
}

void PrintAgreement(const quantize::Agreement& agreement) {
  for (const quantize::OutputAgreement& output : agreement.outputs) {
    std::printf(
        "output   '%s': SQNR %.1f dB; the largest element is the same in %zu of %zu samples\n",
        nn::ShortName(output.name).c_str(), output.similarity.Sqnr(), output.same_place,
        agreement.samples);
  }
}

Status CheckReport(const QuantizeOptions& options, const Job& job) {
  if (options.report.empty()) return {};
  if (job.quantize.form == quantize::Form::kDynamic) {
    return Unsupported("--report of --bits w8: its layers compute in float32");
  }
  return CheckReportName(options.report);
}

// Ranges are those of MODEL's own tensors.
Status CheckRanges(const QuantizeOptions& options, const Job& job) {
  if (options.ranges.empty()) return {};
  if (job.quantize.form == quantize::Form::kDynamic) {
    return Unsupported("--ranges of --bits w8: nothing is observed");
  }
  if (options.equalize) return Unsupported("--ranges with --equalize, which changes the network");
  if (options.smooth) return Unsupported("--ranges with --smooth, which changes the network");
  return {};
}

Status WithOutput(const QuantizeOptions& options, const Status& status) {
  return {status.code(), options.output + ": " + status.message()};
}

Result<Job> JobOf(const QuantizeOptions& options) {
  Job job;
  const Result<nn::Format> format = nn::FormatByName(options.output);
  if (!format.ok()) return format.status();
  job.format = *format;
  Result<nn::LoadOptions> load = LoadOptionsOf(options.model);
  if (!load.ok()) return load.status();
  job.load = std::move(*load);
  job.save.custom_operators = job.load.custom_operators;
  job.save.constants_apart = options.constants_apart;
  return job;
}

// Not every network needs samples: the weights of hybrid ones say everything.
Result<std::optional<Samples>> OpenSamples(const QuantizeOptions& options, const nn::Graph& graph,
                                           const Job& job) {
  const bool needed = job.quantize.form != quantize::Form::kDynamic;
  if (!needed && options.data.empty()) return std::optional<Samples>();
  Result<Samples> samples = Samples::Open(graph, options.data, {options.mean, options.std});
  if (!samples.ok()) return samples.status();
  return std::optional<Samples>(std::move(*samples));
}

}  // namespace

Status Quantize(const QuantizeOptions& options) {
  Progress progress;
  Result<Job> job = JobOf(options);
  if (!job.ok()) return job.status();
  INTAGLIO_RETURN_IF_ERROR(Decide(options, progress, *job));
  INTAGLIO_RETURN_IF_ERROR(CheckReport(options, *job));
  INTAGLIO_RETURN_IF_ERROR(CheckRanges(options, *job));
  job->load.signatures = &job->save.signatures;
  Result<nn::Graph> graph = nn::LoadGraph(options.model.path, job->load);
  if (!graph.ok()) return graph.status();
  INTAGLIO_RETURN_IF_ERROR(TakeLabels(options.labels, *graph, *job));
  Result<std::optional<Samples>> samples = OpenSamples(options, *graph, *job);
  if (!samples.ok()) return samples.status();
  const quantize::OpenSamples open = OpenerOf(*samples, options.samples);
  const Result<quantize::Network> network =
      quantize::Quantize(std::move(*graph), open, job->quantize);
  progress.Show("");
  if (!network.ok()) return network.status();
  PrintNetwork(*network, job->quantize);
  const Result<NewModel> file =
      NewModel::Make(network->quantized.graph, options.output, job->format, job->save);
  if (!file.ok()) return file.status();
  // The file's bytes as a network, which computes what its users will see.
  Result<nn::Graph> read_back =
      file->ReadBack({.limits = job->load.limits, .custom_operators = job->load.custom_operators});
  if (!read_back.ok()) return read_back.status();
  if (open != nullptr) {
    const Result<quantize::Agreement> agreement =
        quantize::AgreementOf(*network, std::move(*read_back), open, job->quantize);
    if (!agreement.ok()) return WithOutput(options, agreement.status());
    PrintAgreement(*agreement);
  }
  INTAGLIO_RETURN_IF_ERROR(file->Write());
  if (!options.ranges.empty()) {
    INTAGLIO_RETURN_IF_ERROR(WriteText(options.ranges, quantize::RangesToJson(quantize::NameRanges(
                                                           network->real, network->ranges))));
  }
  if (!options.report.empty()) {
    const Result<quantize::Report> report = quantize::ReportOn(*network, open, job->quantize);
    if (!report.ok()) return report.status();
    INTAGLIO_RETURN_IF_ERROR(WriteReport(options.report, network->real.name, *report));
  }
  std::printf("wrote    %s: %zu layers, %s\n", nn::Printable(options.output).c_str(),
              network->quantized.graph.layers.size(), FormatBytes(file->bytes()).c_str());
  return {};
}

}  // namespace intaglio::tools
