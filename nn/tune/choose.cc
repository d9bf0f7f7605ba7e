#include "intaglio/nn/tune/choose.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "intaglio/nn/passes/float_form.h"

namespace intaglio::nn::tune {
namespace {

constexpr double kLeastGain = 0.01;
// Another routine or kernel hardly makes good for this factor.
constexpr double kFarBehind = 2;
constexpr int kAsIs = 0;
constexpr int kFloat = 1;

void AddTensors(const Graph& graph, const std::vector<TensorId>& ids, std::vector<int>& tensors) {
  for (const TensorId id : ids) {
    if (id != kNoTensor && HasFloatForm(graph.tensors[static_cast<size_t>(id)])) {
      tensors.push_back(id);
    }
  }
}

std::vector<End> EndsOf(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<int> tensors;
  AddTensors(graph, ids, tensors);
  std::vector<End> ends;
  for (const int tensor : tensors) ends.push_back({tensor, kAsIs});
  return ends;
}

}  // namespace

double CountedTime(const LayerReport& report, size_t way) {
  const double untuned = report.ways[0].ns;
  const double ns = report.ways[way].ns;
  const double gain = 1 - ns / std::max(1.0, untuned);
  return gain > std::max(kLeastGain, report.noise) ? ns : std::max(ns, untuned);
}

size_t FastestOf(const LayerReport& report, bool in_float) {
  size_t fastest = report.ways.size();
  for (size_t w = 0; w < report.ways.size(); ++w) {
    if (report.ways[w].in_float != in_float) continue;
    if (fastest == report.ways.size() || CountedTime(report, w) < CountedTime(report, fastest)) {
      fastest = w;
    }
  }
  return fastest;
}

bool IsFarBehind(const LayerReport& report) {
  const size_t in_float = FastestOf(report, true);
  const size_t as_is = FastestOf(report, false);
  return in_float < report.ways.size() &&
         report.ways[in_float].ns > kFarBehind * report.ways[as_is].ns;
}

LayerChoice ChoiceOf(const TimedWay& way) {
  if (way.routine == kVanishes) return {};
  return {way.routine, way.kernel, way.threads};
}

std::vector<LayerWay> WaysFor(const std::vector<LayerReport>& reports,
                              const std::vector<size_t>& ways) {
  std::vector<LayerWay> result;
  for (size_t i = 0; i < reports.size(); ++i) {
    const TimedWay& way = reports[i].ways[ways[i]];
    // Way 0 is how the layer is computed anyway.
    result.push_back({ways[i] == 0 ? LayerChoice{} : ChoiceOf(way), way.in_float});
  }
  return result;
}

NetworkProblem MakeProblem(const Graph& graph, const std::vector<LayerReport>& reports,
                           const AdapterTimes& adapters, bool with_float, Resource resource) {
  NetworkProblem network;
  Problem& problem = network.problem;
  problem.tensors = static_cast<int>(graph.tensors.size());
  for (size_t i = 0; i < reports.size(); ++i) {
    const Layer& layer = graph.layers[i];
    Problem::Layer& made = problem.layers.emplace_back();
    std::vector<size_t>& ways = network.ways.emplace_back();
    AddTensors(graph, layer.inputs, made.reads);
    AddTensors(graph, layer.outputs, made.writes);
    if (QuantizesReals(graph, layer) || DequantizesToReals(graph, layer)) {
      // What it does is what the adapter of its tensor costs.
      made.options = {{kFloat, 0, 0}};
      ways = {0};
      continue;
    }
    for (size_t w = 0; w < reports[i].ways.size(); ++w) {
      const TimedWay& way = reports[i].ways[w];
      if (way.in_float && !with_float) continue;
      const Difference& difference = reports[i].difference;
      const bool differs = way.in_float && resource != Resource::kBytes;
      if (differs && !difference.measured) continue;
      made.options.push_back(
          {way.in_float ? kFloat : kAsIs, CountedTime(reports[i], w),
           resource == Resource::kDifference ? 0 : static_cast<int64_t>(way.bytes),
           differs ? std::llround(difference.relative * kDifferenceUnits) : 0});
      ways.push_back(w);
    }
  }
  problem.inputs = EndsOf(graph, graph.inputs);
  problem.outputs = EndsOf(graph, graph.outputs);
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    if (!HasFloatForm(graph.tensors[id])) continue;
    const auto tensor = static_cast<int>(id);
    problem.adapters.push_back({tensor, kAsIs, kFloat, adapters.ToFloat(graph.tensors[id])});
    problem.adapters.push_back({tensor, kFloat, kAsIs, adapters.FromFloat(graph.tensors[id])});
  }
  return network;
}

std::vector<size_t> WaysOf(const NetworkProblem& network, const Selection& selection) {
  std::vector<size_t> ways;
  for (size_t i = 0; i < selection.options.size(); ++i) {
    ways.push_back(network.ways[i][static_cast<size_t>(selection.options[i])]);
  }
  return ways;
}

}  // namespace intaglio::nn::tune
