// intaglio quantize: a network of integers from one of float32 and sample inputs.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/files/replace_file.h"
#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/formats/save.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/quantize/agreement.h"
#include "intaglio/nn/quantize/calibrate.h"
#include "intaglio/nn/quantize/correct_bias.h"
#include "intaglio/nn/quantize/equalize.h"
#include "intaglio/nn/quantize/quantize_graph.h"
#include "intaglio/nn/quantize/recipe.h"
#include "intaglio/nn/quantize/report.h"
#include "intaglio/tools/commands.h"
#include "intaglio/tools/file.h"
#include "intaglio/tools/model_io.h"
#include "intaglio/tools/progress.h"
#include "intaglio/tools/quantize_report.h"
#include "intaglio/tools/samples.h"

namespace intaglio::tools {
namespace {

namespace quantize = nn::quantize;

// What "w8a8" says: the bits of weights, and of activations; w8 alone is the hybrid form.
struct Bits {
  int weights = 8;
  std::optional<Type> activations;
};

// `byte` is the type of activations of 8 bits.
Result<Bits> ParseBits(const std::string& text, Type byte) {
  const bool good = text.size() >= 2 && text[0] == 'w' && text[1] >= '2' && text[1] <= '8';
  const std::string rest = good ? text.substr(2) : "?";
  Bits bits;
  bits.weights = good ? text[1] - '0' : 8;
  if (rest == "a8") bits.activations = byte;
  if (rest == "a16") bits.activations = Type::kInt16;
  if (good && (bits.activations.has_value() || rest.empty())) return bits;
  return InvalidArgument("--bits " + text + ": neither w8a8 or w8a16 nor w8, with 2 to 8 for w");
}

// Everything that the options say, checked.
struct Job {
  nn::Format format = nn::Format::kTflite;
  nn::LoadOptions load;
  nn::SaveOptions save;
  quantize::Rules rules;
  quantize::Choices choices;
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

// What the options say of a graph that was read and simplified.
Status Decide(const QuantizeOptions& options, const nn::Graph& graph, Job& job) {
  // ONNX Runtime makes uint8 of int8 on x86, and refuses some of what it has made of files of opset
  // 21 and later.
  const Type byte = job.format == nn::Format::kOnnx ? Type::kUInt8 : Type::kInt8;
  const Result<Bits> bits = ParseBits(options.bits, byte);
  if (!bits.ok()) return bits.status();
  const Result<quantize::Method> method = quantize::MethodByName(options.method);
  if (!method.ok()) return method.status();
  const Result<quantize::Recipe> recipe = RecipeOf(options);
  if (!recipe.ok()) return recipe.status();
  const quantize::LayerRule rule = {.weight_bits = bits->weights,
                                    .per_channel = !options.per_tensor,
                                    .activations = bits->activations.value_or(byte)};
  Result<quantize::Choices> choices = quantize::Apply(*recipe, graph, rule, {.method = *method});
  if (!choices.ok()) return choices.status();
  job.choices = std::move(*choices);
  job.rules.layers = job.choices.layers;
  job.rules.interface = InterfaceOf(options.io);
  if (job.format == nn::Format::kOnnx) job.rules.form = quantize::Form::kPairs;
  if (bits->activations.has_value()) return {};
  if (job.format == nn::Format::kOnnx) return Unsupported("--bits w8 in an .onnx file");
  job.rules.form = quantize::Form::kDynamic;
  return {};
}

quantize::NextSample FirstOf(Samples& samples, size_t count) {
  samples.Rewind();
  return [&samples, left = count](quantize::InputBytes& inputs) mutable -> Result<bool> {
    if (left == 0) return false;
    --left;
    return samples.Next(inputs);
  };
}

Result<quantize::Ranges> CalibrateOn(const QuantizeOptions& options, const nn::Graph& graph,
                                     const Job& job, Samples& samples) {
  Progress progress;
  quantize::CalibrationOptions calibration;
  calibration.observers = job.choices.tensors;
  calibration.threads = options.threads;
  calibration.limits = options.model.limits;
  calibration.progress = [&](size_t count) {
    progress.Show("calibrated with " + std::to_string(count) + " samples");
  };
  const auto begin = std::chrono::steady_clock::now();
  Result<quantize::Calibration> result =
      quantize::Calibrate(graph, FirstOf(samples, options.samples), calibration);
  progress.Show("");
  if (!result.ok()) return result.status();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("observed %zu samples in %.1f s\n", result->samples, seconds.count());
  return std::move(result->ranges);
}

Result<quantize::Corrected> CorrectOn(const QuantizeOptions& options, const nn::Graph& graph,
                                      quantize::Quantized& quantized, Samples& samples) {
  Progress progress;
  quantize::CorrectionOptions correction;
  correction.threads = options.threads;
  correction.limits = options.model.limits;
  correction.progress = [&](size_t count) {
    progress.Show("corrected with " + std::to_string(count) + " samples");
  };
  Result<quantize::Corrected> corrected =
      quantize::CorrectBiases(graph, quantized, FirstOf(samples, options.samples), correction);
  progress.Show("");
  return corrected;
}

struct Integers {
  quantize::Quantized quantized;
  std::optional<quantize::Corrected> corrected;
};

Result<Integers> MakeIntegers(const QuantizeOptions& options, const nn::Graph& graph,
                              const quantize::Ranges& ranges, const quantize::Rules& rules,
                              std::optional<Samples>& samples) {
  Result<quantize::Quantized> quantized = quantize::QuantizeGraph(graph, ranges, rules);
  if (!quantized.ok()) return quantized.status();
  Integers integers{std::move(*quantized), {}};
  if (!options.correct_bias) return integers;
  const Result<quantize::Corrected> corrected =
      CorrectOn(options, graph, integers.quantized, *samples);
  if (!corrected.ok()) return corrected.status();
  integers.corrected = *corrected;
  return integers;
}

void PrintCorrected(const std::optional<quantize::Corrected>& corrected) {
  if (!corrected.has_value()) return;
  std::printf("corrected the biases of %zu of %zu layers\n", corrected->changed, corrected->layers);
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

void Equalize(nn::Graph& graph) {
  const quantize::Equalized equalized = quantize::EqualizeChannels(graph);
  std::printf("equalized the channels of %zu of %zu pairs of layers\n", equalized.changed,
              equalized.pairs);
}

constexpr size_t kComparedSamples = 64;

// The file's bytes as a network, which computes what its users will see.
Status PrintAgreement(const QuantizeOptions& options, const nn::Graph& graph, nn::Graph read_back,
                      Samples& samples) {
  nn::PrepareOptions prepare;
  prepare.threads = options.threads;
  prepare.limits = options.model.limits;
  Result<nn::Model> exact = nn::Model::Prepare(graph, prepare);
  if (!exact.ok()) return exact.status();
  Result<nn::Model> actual = nn::Model::Prepare(std::move(read_back), prepare);
  if (!actual.ok()) return actual.status();
  samples.Rewind();
  const Result<quantize::Agreement> agreement = quantize::Compare(
      *exact, *actual, [&](auto& inputs) { return samples.Next(inputs); }, kComparedSamples);
  if (!agreement.ok()) return agreement.status();
  for (const quantize::OutputAgreement& output : agreement->outputs) {
    std::printf(
        "output   '%s': SQNR %.1f dB; the largest element is the same in %zu of %zu samples\n",
        nn::ShortName(output.name).c_str(), output.similarity.Sqnr(), output.same_place,
        agreement->samples);
  }
  return {};
}

// Looks at the layers as integers, whatever form the file has.
Status Report(const QuantizeOptions& options, const nn::Graph& graph,
              const quantize::Ranges& ranges, const Job& job, std::optional<Samples>& samples) {
  quantize::Rules rules = job.rules;
  rules.form = quantize::Form::kIntegers;
  const Result<Integers> integers = MakeIntegers(options, graph, ranges, rules, samples);
  if (!integers.ok()) return integers.status();
  samples->Rewind();
  const Result<quantize::Report> report = quantize::MakeReport(
      graph, integers->quantized, rules, [&](auto& inputs) { return samples->Next(inputs); },
      {.threads = options.threads, .limits = options.model.limits});
  if (!report.ok()) return report.status();
  return WriteReport(options.report, graph.name, *report);
}

Status CheckForm(const QuantizeOptions& options, const Job& job) {
  if (job.rules.form == quantize::Form::kDynamic) {
    const std::string why = " of --bits w8: its layers compute in float32";
    if (!options.report.empty()) return Unsupported("--report" + why);
    if (options.correct_bias) return Unsupported("--correct-bias" + why);
  }
  return options.report.empty() ? Status() : CheckReportName(options.report);
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
  return job;
}

// Not every network needs samples: the weights of hybrid ones say everything.
Result<std::optional<Samples>> OpenSamples(const QuantizeOptions& options, const nn::Graph& graph,
                                           const Job& job) {
  const bool needed = job.rules.form != quantize::Form::kDynamic;
  if (!needed && options.data.empty()) return std::optional<Samples>();
  Result<Samples> samples = Samples::Open(graph, options.data, {options.mean, options.std});
  if (!samples.ok()) return samples.status();
  return std::optional<Samples>(std::move(*samples));
}

using FileBytes = std::shared_ptr<const std::vector<uint8_t>>;

Result<FileBytes> MakeFile(const nn::Graph& graph, const Job& job) {
  Result<std::vector<uint8_t>> bytes = nn::ExportGraph(graph, job.format, job.save);
  if (!bytes.ok()) return bytes.status();
  return std::make_shared<const std::vector<uint8_t>>(std::move(*bytes));
}

Result<nn::Graph> ReadBack(const FileBytes& file, const QuantizeOptions& options, const Job& job) {
  return nn::ImportGraph(
      *file, file, options.output, job.format,
      {.limits = job.load.limits, .custom_operators = job.load.custom_operators});
}

}  // namespace

Status Quantize(const QuantizeOptions& options) {
  Result<Job> job = JobOf(options);
  if (!job.ok()) return job.status();
  job->load.signatures = &job->save.signatures;
  Result<nn::Graph> graph = nn::LoadGraph(options.model.path, job->load);
  if (!graph.ok()) return graph.status();
  quantize::Simplify(*graph);
  if (options.equalize) Equalize(*graph);
  if (options.correct_bias) quantize::AddBiases(*graph);
  INTAGLIO_RETURN_IF_ERROR(Decide(options, *graph, *job));
  INTAGLIO_RETURN_IF_ERROR(CheckForm(options, *job));
  Result<std::optional<Samples>> samples = OpenSamples(options, *graph, *job);
  if (!samples.ok()) return samples.status();
  quantize::Ranges ranges;
  if (job->rules.form != quantize::Form::kDynamic) {
    Result<quantize::Ranges> observed = CalibrateOn(options, *graph, *job, **samples);
    if (!observed.ok()) return observed.status();
    ranges = std::move(*observed);
  }
  const Result<Integers> integers = MakeIntegers(options, *graph, ranges, job->rules, *samples);
  if (!integers.ok()) return integers.status();
  const quantize::Quantized& quantized = integers->quantized;
  PrintCorrected(integers->corrected);
  PrintLayers(quantized.layers);
  const Result<FileBytes> file = MakeFile(quantized.graph, *job);
  if (!file.ok()) return WithOutput(options, file.status());
  Result<nn::Graph> read_back = ReadBack(*file, options, *job);
  if (!read_back.ok()) return read_back.status();
  if (samples->has_value()) {
    const Status status = PrintAgreement(options, *graph, std::move(*read_back), **samples);
    if (!status.ok()) return WithOutput(options, status);
  }
  INTAGLIO_RETURN_IF_ERROR(nn::ReplaceFile(options.output, **file));
  if (!options.report.empty()) {
    INTAGLIO_RETURN_IF_ERROR(Report(options, *graph, ranges, *job, *samples));
  }
  std::printf("wrote    %s: %zu layers, %s\n", nn::Printable(options.output).c_str(),
              quantized.graph.layers.size(), FormatBytes((*file)->size()).c_str());
  return {};
}

}  // namespace intaglio::tools
