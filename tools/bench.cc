// intaglio bench: the latency of a model, whole and per layer.
//
// The runs follow each other on the same input, given or random, so weights and activations are as
// warm as they are in a program that does nothing else. BenchPlan says how many runs there are. The
// report gives the minimum, which disturbances by other programs cannot lower, and the median.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/tools/bench_plan.h"
#include "intaglio/tools/bench_report.h"
#include "intaglio/tools/ceilings.h"
#include "intaglio/tools/commands.h"
#include "intaglio/tools/file.h"
#include "intaglio/tools/input_maker.h"
#include "intaglio/tools/inputs.h"
#include "intaglio/tools/json.h"
#include "intaglio/tools/model_io.h"
#include "intaglio/tools/progress.h"

namespace intaglio::tools {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr uint64_t kSeed = 1;

Times Summarize(std::vector<nanoseconds> samples) {
  std::sort(samples.begin(), samples.end());
  const auto ms = [](nanoseconds t) {
    return std::chrono::duration<double, std::milli>(t).count();
  };
  return {ms(samples.front()), ms(samples[samples.size() / 2])};
}

struct Measurement {
  size_t warm_ups = 0;
  size_t runs = 0;
  Times whole;
  std::vector<Times> layers;
  std::vector<nanoseconds> fastest;  // the layers of the fastest run
};

// Runs per layer are timed within the same runs; the clock costs tens of nanoseconds per layer.
Result<Measurement> Measure(nn::Model& model, const BenchOptions& options) {
  Buffers buffers(model);
  const Result<std::vector<bool>> given = FillFromFiles(model, options.inputs, false, buffers);
  if (!given.ok()) return given.status();
  InputMaker maker(model, *given);
  const size_t layers = model.layers().size();
  std::vector<nanoseconds> layer_times(layers);
  std::vector<nanoseconds> whole;
  std::vector<std::vector<nanoseconds>> each(layers);
  Progress progress;
  const BenchPlan plan{BenchPlan::Seconds(options.seconds)};
  Measurement measurement;
  nanoseconds last{};
  for (; !plan.WarmedUp(measurement.warm_ups, last); ++measurement.warm_ups) {
    const auto start = Clock::now();
    INTAGLIO_RETURN_IF_ERROR(maker.Run(kSeed, model, buffers));
    last = Clock::now() - start;
  }
  const auto begin = Clock::now();
  while (!plan.Done(whole.size(), last, Clock::now() - begin)) {
    const auto start = Clock::now();
    INTAGLIO_RETURN_IF_ERROR(buffers.Run(model, layer_times));
    last = Clock::now() - start;
    whole.push_back(last);
    for (size_t i = 0; i < layers; ++i) each[i].push_back(layer_times[i]);
    if (whole.size() % 16 == 0) progress.Show(std::to_string(whole.size()) + " runs");
  }
  measurement.runs = whole.size();
  const auto fastest = std::min_element(whole.begin(), whole.end()) - whole.begin();
  for (const auto& samples : each) {
    measurement.fastest.push_back(samples[static_cast<size_t>(fastest)]);
  }
  measurement.whole = Summarize(std::move(whole));
  for (std::vector<nanoseconds>& samples : each) {
    measurement.layers.push_back(Summarize(std::move(samples)));
  }
  return measurement;
}

int64_t TotalMacs(const nn::Model& model) {
  int64_t macs = 0;
  for (const nn::LayerInfo& layer : model.layers()) macs += layer.macs;
  return macs;
}

// The layer's speed as a share of the kernel's peak on products. It is 0 if the peak is not known,
// or if the layer does not use the kernel (float32).
double ShareOfPeak(const nn::LayerInfo& layer, const Times& times, double peak) {
  return peak > 0 && !layer.kernel.empty() ? Gops(layer.macs, times.min_ms) / peak : 0;
}

double HighestShare(const nn::Model& model, const Measurement& m, double peak) {
  double highest = 0;
  for (size_t i = 0; i < m.layers.size(); ++i) {
    highest = std::max(highest, ShareOfPeak(model.layers()[i], m.layers[i], peak));
  }
  return highest;
}

// A layer above the peak shows that the machine did other things while the peak was measured,
// provided that measuring again helps.
Ceilings MeasureCeilings(const nn::Model& model, const Measurement& m, PeakMeter& meter) {
  constexpr int kMaxTries = 10;
  meter.Measure();
  for (int i = 0; i < kMaxTries && HighestShare(model, m, meter.gops()) > 1; ++i) meter.Measure();
  return {meter.gops(), meter.MeasureReads()};
}

void Print(const nn::Model& model, const BenchOptions& options, const Measurement& m,
           const Ceilings& ceilings) {
  const int64_t macs = TotalMacs(model);
  std::printf("model    %s\n", nn::Printable(options.model.path).c_str());
  std::printf("runs     %zu on %d %s, after %zu to warm up\n", m.runs, options.threads,
              options.threads == 1 ? "thread" : "threads", m.warm_ups);
  std::printf("whole    min %.3f ms, median %.3f ms, %.1f GOPS (%lld MACs, by the minimum)\n",
              m.whole.min_ms, m.whole.median_ms, Gops(macs, m.whole.min_ms),
              static_cast<long long>(macs));
  std::printf("peak     %.1f GOPS, of products that stay in cache\n\n", ceilings.gops);
  std::printf("%4s  %-18s %-22s %9s %9s %6s %8s %7s  %s\n", "#", "layer", "routine", "min ms",
              "median ms", "time", "GOPS", "of peak", "kernel");
  double sum = 0;
  for (const Times& times : m.layers) sum += times.median_ms;
  for (size_t i = 0; i < m.layers.size(); ++i) {
    const nn::LayerInfo& layer = model.layers()[i];
    std::printf("%4zu  %-18s %-22s %9.4f %9.4f %5.1f%% %8.1f %6.1f%%  %s\n", i,
                layer.operator_name.c_str(), layer.routine.c_str(), m.layers[i].min_ms,
                m.layers[i].median_ms, sum > 0 ? 100 * m.layers[i].median_ms / sum : 0,
                Gops(layer.macs, m.layers[i].min_ms),
                100 * ShareOfPeak(layer, m.layers[i], ceilings.gops), layer.kernel.c_str());
  }
  if (HighestShare(model, m, ceilings.gops) > 1) {
    std::printf(
        "\nAbove 100%%: the machine did other things while the peak was measured, or the layer "
        "skips\n"
        "taps on its padding, which count as work.\n");
  }
}

Json ToJson(const nn::Model& model, const BenchOptions& options, const Measurement& m,
            const Ceilings& ceilings) {
  Json json = {{"format", "intaglio-bench-1"},   {"model", options.model.path},
               {"threads", options.threads},     {"runs", m.runs},
               {"macs", TotalMacs(model)},       {"min_ms", m.whole.min_ms},
               {"median_ms", m.whole.median_ms}, {"gops", Gops(TotalMacs(model), m.whole.min_ms)},
               {"peak_gops", ceilings.gops}};
  json["layers"] = Json::array();
  for (size_t i = 0; i < m.layers.size(); ++i) {
    const nn::LayerInfo& layer = model.layers()[i];
    json["layers"].push_back({{"operator", layer.operator_name},
                              {"label", layer.label},
                              {"routine", layer.routine},
                              {"kernel", layer.kernel},
                              {"macs", layer.macs},
                              {"min_ms", m.layers[i].min_ms},
                              {"median_ms", m.layers[i].median_ms},
                              {"gops", Gops(layer.macs, m.layers[i].min_ms)},
                              {"share_of_peak", ShareOfPeak(layer, m.layers[i], ceilings.gops)}});
  }
  return json;
}

// Inputs, outputs and constants, each once.
size_t BytesOf(const nn::Model& model, size_t index) {
  const nn::Graph& graph = model.graph();
  size_t bytes = model.layers()[index].constant_bytes;
  const auto add = [&](const std::vector<nn::TensorId>& ids) {
    for (const nn::TensorId id : ids) {
      if (id == nn::kNoTensor) continue;
      const nn::Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
      if (!tensor.constant) bytes += *nn::CountBytes(tensor.shape, tensor.type);
    }
  };
  add(graph.layers[index].inputs);
  add(graph.layers[index].outputs);
  return bytes;
}

BenchReport MakeReport(const nn::Model& model, const BenchOptions& options, const Measurement& m,
                       const Ceilings& ceilings) {
  BenchReport report;
  report.model = options.model.path;
  report.threads = options.threads;
  report.runs = m.runs;
  report.macs = TotalMacs(model);
  report.whole = m.whole;
  report.ceilings = ceilings;
  report.arena_bytes = model.arena_bytes();
  report.constant_bytes = model.constant_bytes();
  for (size_t i = 0; i < m.layers.size(); ++i) {
    const nn::LayerInfo& layer = model.layers()[i];
    report.layers.push_back({layer.operator_name, layer.label, layer.routine, layer.kernel,
                             layer.macs, BytesOf(model, i), m.layers[i],
                             std::chrono::duration<double, std::milli>(m.fastest[i]).count(),
                             ShareOfPeak(layer, m.layers[i], ceilings.gops)});
  }
  report.placements = model.placements();
  for (const nn::Placement& placement : report.placements) {
    report.tensor_names.push_back(
        model.graph().tensors[static_cast<size_t>(placement.tensor)].name);
  }
  return report;
}

Status WriteReports(const nn::Model& model, const BenchOptions& options, const Measurement& m,
                    const Ceilings& ceilings) {
  if (options.html.empty() && options.trace.empty()) return {};
  const BenchReport report = MakeReport(model, options, m, ceilings);
  if (!options.html.empty()) {
    INTAGLIO_RETURN_IF_ERROR(WriteText(options.html, HtmlPage(report)));
  }
  if (options.trace.empty()) return {};
  return WriteText(options.trace, ChromeTrace(report));
}

}  // namespace

Status Bench(const BenchOptions& options) {
  nn::PrepareOptions prepare;
  prepare.threads = options.threads;
  prepare.kernel = options.kernel;
  Result<nn::Model> model = LoadModel(options.model, prepare);
  if (!model.ok()) return model.status();
  PeakMeter meter(options.kernel, options.threads);
  meter.Measure();
  const Result<Measurement> measurement = Measure(*model, options);
  if (!measurement.ok()) return measurement.status();
  const Ceilings ceilings = MeasureCeilings(*model, *measurement, meter);
  if (options.json) {
    PrintJson(ToJson(*model, options, *measurement, ceilings));
  } else {
    Print(*model, options, *measurement, ceilings);
  }
  return WriteReports(*model, options, *measurement, ceilings);
}

}  // namespace intaglio::tools
