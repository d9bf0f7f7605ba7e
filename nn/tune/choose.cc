#include "intaglio/nn/tune/choose.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace intaglio::nn::tune {
namespace {

constexpr double kLeastGain = 0.01;
// Another routine or kernel hardly makes good for this factor.
constexpr double kFarBehind = 2;
constexpr int kAsIs = 0;
constexpr int kOther = 1;

void AddTensors(const OtherForm& form, const std::vector<TensorId>& ids,
                std::vector<int>& tensors) {
  for (const TensorId id : ids) {
    if (id != kNoTensor && form.HasForm(id)) tensors.push_back(id);
  }
}

// Greater differences than this count as this, so that sums of them fit an integer.
constexpr double kGreatestDifference = 1e6;

int64_t UnitsOf(const Difference& difference) {
  return std::llround(std::min(kGreatestDifference, difference.relative) * kDifferenceUnits);
}

std::vector<End> EndsOf(const OtherForm& form, const std::vector<TensorId>& ids) {
  std::vector<int> tensors;
  AddTensors(form, ids, tensors);
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

size_t FastestOf(const LayerReport& report, bool converted) {
  size_t fastest = report.ways.size();
  for (size_t w = 0; w < report.ways.size(); ++w) {
    if (report.ways[w].converted != converted) continue;
    if (fastest == report.ways.size() || CountedTime(report, w) < CountedTime(report, fastest)) {
      fastest = w;
    }
  }
  return fastest;
}

bool IsFarBehind(const LayerReport& report) {
  const size_t converted = FastestOf(report, true);
  const size_t as_is = FastestOf(report, false);
  return converted < report.ways.size() &&
         report.ways[converted].ns > kFarBehind * report.ways[as_is].ns;
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
    result.push_back({ways[i] == 0 ? LayerChoice{} : ChoiceOf(way), way.converted});
  }
  return result;
}

NetworkProblem MakeProblem(const OtherForm& form, const std::vector<LayerReport>& reports,
                           const AdapterTimes& adapters, bool both_forms, Resource resource) {
  const Graph& graph = form.graph();
  NetworkProblem network;
  Problem& problem = network.problem;
  problem.tensors = static_cast<int>(graph.tensors.size());
  for (size_t i = 0; i < reports.size(); ++i) {
    const Layer& layer = graph.layers[i];
    Problem::Layer& made = problem.layers.emplace_back();
    std::vector<size_t>& ways = network.ways.emplace_back();
    AddTensors(form, layer.inputs, made.reads);
    AddTensors(form, layer.outputs, made.writes);
    if (form.IsAdapter(i)) {
      // What it does is what the adapter of its tensor costs.
      made.options = {{kOther, 0, 0}};
      ways = {0};
      continue;
    }
    for (size_t w = 0; w < reports[i].ways.size(); ++w) {
      const TimedWay& way = reports[i].ways[w];
      if (way.converted && !both_forms) continue;
      const Difference& difference = reports[i].difference;
      const bool differs = way.converted && resource != Resource::kBytes;
      if (differs && !difference.measured) continue;
      made.options.push_back(
          {way.converted ? kOther : kAsIs, CountedTime(reports[i], w),
           resource == Resource::kDifference ? 0 : static_cast<int64_t>(way.bytes),
           differs ? UnitsOf(difference) : 0});
      ways.push_back(w);
    }
  }
  problem.inputs = EndsOf(form, graph.inputs);
  problem.outputs = EndsOf(form, graph.outputs);
  for (int id = 0; id < problem.tensors; ++id) {
    if (!form.HasForm(id)) continue;
    problem.adapters.push_back({id, kAsIs, kOther, adapters.Of(form, id, true)});
    problem.adapters.push_back({id, kOther, kAsIs, adapters.Of(form, id, false)});
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
