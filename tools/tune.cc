// intaglio tune: finds the fastest way to compute each layer of a model on this machine.
#include "intaglio/nn/tune/tune.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/quantize/named_ranges.h"
#include "intaglio/nn/tune/timings.h"
#include "intaglio/tools/commands.h"
#include "intaglio/tools/file.h"
#include "intaglio/tools/inputs.h"
#include "intaglio/tools/model_io.h"
#include "intaglio/tools/progress.h"
#include "intaglio/tools/tune_page.h"

namespace intaglio::tools {
namespace {

double Milliseconds(double ns) { return ns * 1e-6; }

size_t CountWays(const nn::tune::Tuning& tuning) {
  size_t ways = 0;
  for (const nn::tune::LayerReport& layer : tuning.layers) ways += layer.ways.size();
  return ways;
}

void PrintNetworks(const nn::tune::Plan& plan) {
  if (plan.networks.size() < 2) return;
  std::printf("in turns ");
  for (size_t i = 0; i < plan.networks.size(); ++i) {
    const nn::tune::NetworkTime& network = plan.networks[i];
    std::printf("%s%s %.3f ms", i == 0 ? "" : ", ", network.name.c_str(), Milliseconds(network.ns));
  }
  std::printf("\n");
}

// Which results are bounded instead of exact, and what that costs.
void PrintDifference(const nn::tune::Plan& plan) {
  const auto converted = std::count_if(plan.layers.begin(), plan.layers.end(),
                                       [](const auto& layer) { return layer.chosen.converted; });
  if (!plan.difference.measured) return;
  if (converted == 0) {
    std::printf("bounded  no longer the same bits. Outputs differ by %s\n",
                Describe(plan.difference).c_str());
    return;
  }
  std::printf(
      "%-8s %zu layers, with %zu adapters: bounded, no longer the same bits. Outputs differ by "
      "%s\n",
      plan.ranges.empty() ? "float32" : "int8", static_cast<size_t>(converted), plan.adapters,
      Describe(plan.difference).c_str());
}

void PrintMemory(const nn::tune::Tuning& tuning, size_t limit) {
  if (limit == 0) return;
  const nn::tune::Plan& plan = tuning.plan;
  const auto tuned = std::find_if(plan.networks.begin(), plan.networks.end(),
                                  [&](const auto& n) { return n.ns == plan.tuned_ns; });
  if (tuned == plan.networks.end() || tuning.tradeoffs.empty()) return;
  std::printf(
      "memory   %s of %s; without the limit %.3f ms instead of %.3f ms by the sum of the "
      "layers\n",
      FormatBytes(tuned->bytes).c_str(), FormatBytes(limit).c_str(),
      Milliseconds(tuning.tradeoffs.front().ns), Milliseconds(plan.predicted_ns));
}

void PrintLayers(const nn::tune::Plan& plan) {
  std::printf("\n%4s  %-18s %10s %10s  %s\n", "#", "layer", "untuned ms", "tuned ms", "routine");
  for (const nn::tune::LayerPlan& layer : plan.layers) {
    std::string routine = Describe(layer.chosen);
    if (layer.chosen.converted) routine += "; bounded";
    if (layer.difference.measured) routine += ", alone " + Describe(layer.difference);
    std::printf("%4zu  %-18s %10.4f %10.4f  %s\n", layer.layer, layer.operator_name.c_str(),
                Milliseconds(layer.untuned.ns), Milliseconds(layer.chosen.ns), routine.c_str());
  }
}

void Print(const nn::tune::Tuning& tuning, double seconds, size_t memory) {
  const nn::tune::Plan& plan = tuning.plan;
  std::printf("tried    %zu ways to compute %zu layers, in %.1f s\n", CountWays(tuning),
              tuning.layers.size(), seconds);
  if (plan.layers.empty()) {
    std::printf("result   nothing is faster beyond doubt than the untuned %.3f ms\n",
                Milliseconds(plan.untuned_ns));
  } else {
    std::printf("result   %.3f ms instead of %.3f ms (%.3f by the sum of the layers)\n",
                Milliseconds(plan.tuned_ns), Milliseconds(plan.untuned_ns),
                Milliseconds(plan.predicted_ns));
  }
  PrintNetworks(plan);
  PrintDifference(plan);
  PrintMemory(tuning, memory);
  if (!plan.layers.empty()) PrintLayers(plan);
}

// The files of --input.
Status ReadInputs(const nn::Graph& graph, const TuneOptions& options, nn::tune::TuneOptions& tune) {
  const Result<nn::Model> model = nn::Model::Prepare(graph, {.limits = options.model.limits});
  if (!model.ok()) return model.status();
  Buffers buffers(*model);
  const Result<std::vector<bool>> given = FillFromFiles(*model, options.inputs, false, buffers);
  if (!given.ok()) return given.status();
  for (size_t i = 0; i < given->size(); ++i) {
    tune.inputs.push_back((*given)[i] ? std::move(buffers.inputs[i]) : std::vector<uint8_t>());
  }
  return {};
}

// What may change bits.
Status TakeAllowed(const TuneOptions& options, nn::tune::TuneOptions& tune) {
  const auto allows = [&](const char* name) {
    return std::find(options.allow.begin(), options.allow.end(), name) != options.allow.end();
  };
  tune.allow_float32 = allows("float32");
  if (options.max_error >= 0 && options.allow.empty()) {
    return InvalidArgument("--max-error needs --allow: without it, results are exact");
  }
  tune.max_difference = options.max_error;
  if (allows("int8") != !options.ranges.empty()) {
    return InvalidArgument(
        "--allow int8 and --ranges need each other: a file of intaglio quantize --ranges says "
        "which "
        "numbers the integers have to cover");
  }
  if (options.ranges.empty()) return {};
  const Result<std::vector<uint8_t>> text = ReadFile(options.ranges, nn::quantize::kMaxRangesBytes);
  if (!text.ok()) return text.status();
  Result<std::vector<nn::NamedRange>> ranges =
      nn::quantize::ParseRanges({reinterpret_cast<const char*>(text->data()), text->size()});
  if (!ranges.ok()) {
    return Status(ranges.status().code(), options.ranges + ": " + ranges.status().message());
  }
  if (ranges->empty()) return InvalidArgument(options.ranges + ": there are no ranges");
  tune.ranges = std::move(*ranges);
  return {};
}

// Adds the times of a file, if there is one.
Status ReadTimings(const std::string& path, nn::tune::Timings& timings) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return {};
  const Result<std::vector<uint8_t>> text = ReadFile(path, nn::tune::kMaxTimingsBytes);
  if (!text.ok()) return text.status();
  const Status read = timings.Read({reinterpret_cast<const char*>(text->data()), text->size()});
  return read.ok() ? read : Status(read.code(), path + ": " + read.message());
}

// Another process may have added times meanwhile.
Status WriteTimings(const std::string& path, nn::tune::Timings& timings) {
  INTAGLIO_RETURN_IF_ERROR(ReadTimings(path, timings));
  return WriteText(path, timings.ToText());
}

}  // namespace

Status Tune(const TuneOptions& options) {
  const Result<nn::LoadOptions> load = LoadOptionsOf(options.model);
  if (!load.ok()) return load.status();
  const Result<nn::Graph> graph = nn::LoadGraph(options.model.path, *load);
  if (!graph.ok()) return graph.status();
  Progress progress;
  nn::tune::TuneOptions tune;
  tune.prepare.threads = options.threads;
  INTAGLIO_RETURN_IF_ERROR(TakeOptions(options.model, tune.prepare));
  tune.budget = std::chrono::nanoseconds(static_cast<int64_t>(options.budget * 1e9));
  tune.name = options.model.path;
  INTAGLIO_RETURN_IF_ERROR(TakeAllowed(options, tune));
  if (!options.inputs.empty()) INTAGLIO_RETURN_IF_ERROR(ReadInputs(*graph, options, tune));
  tune.memory_bytes = options.memory;
  tune.progress = [&](const std::string& what, double share) {
    char text[80];
    std::snprintf(text, sizeof(text), "%3.0f %% %s", 100 * share, what.c_str());
    progress.Show(text);
  };
  nn::tune::Timings timings;
  if (!options.timings.empty()) {
    INTAGLIO_RETURN_IF_ERROR(ReadTimings(options.timings, timings));
    tune.timings = &timings;
  }
  const auto begin = std::chrono::steady_clock::now();
  const Result<nn::tune::Tuning> tuning = nn::tune::Tune(*graph, tune);
  progress.Show("");
  if (!tuning.ok()) {
    return Status(tuning.status().code(), options.model.path + ": " + tuning.status().message());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  INTAGLIO_RETURN_IF_ERROR(WriteText(options.output, ToJson(tuning->plan)));
  if (!options.timings.empty()) INTAGLIO_RETURN_IF_ERROR(WriteTimings(options.timings, timings));
  if (!options.html.empty()) INTAGLIO_RETURN_IF_ERROR(WriteText(options.html, HtmlPage(*tuning)));
  Print(*tuning, seconds.count(), options.memory);
  return {};
}

}  // namespace intaglio::tools
