#include "intaglio/nn/tune/choose.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "intaglio/nn/tune/device_ways.h"

namespace intaglio::nn::tune {
namespace {

constexpr double kLeastGain = 0.01;
// Another routine or kernel hardly makes good for this factor.
constexpr double kFarBehind = 2;
constexpr int kAsIs = 0;
constexpr int kOther = 1;
constexpr int kOnDevice = 2;  // a bit of the schema

bool IsOther(int schema) { return (schema & kOther) != 0; }
bool IsOnDevice(int schema) { return (schema & kOnDevice) != 0; }

// The tensors of a problem.
class Members {
 public:
  Members(const OtherForm& form, bool with_device) : is_in_(form.graph().tensors.size(), false) {
    const Graph& graph = form.graph();
    for (size_t i = 0; i < is_in_.size(); ++i) is_in_[i] = form.HasForm(static_cast<TensorId>(i));
    if (!with_device) return;
    Add(graph, graph.inputs);
    for (const Layer& layer : graph.layers) Add(graph, layer.outputs);
  }

  bool Has(TensorId id) const { return id != kNoTensor && is_in_[static_cast<size_t>(id)]; }
  std::vector<int> Of(const std::vector<TensorId>& ids) const {
    std::vector<int> tensors;
    for (const TensorId id : ids) {
      if (Has(id)) tensors.push_back(id);
    }
    return tensors;
  }
  std::vector<End> EndsOf(const std::vector<TensorId>& ids) const {
    std::vector<End> ends;
    for (const int tensor : Of(ids)) ends.push_back({tensor, kAsIs});
    return ends;
  }

 private:
  void Add(const Graph& graph, const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) {
      const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
      is_in_[static_cast<size_t>(id)] = !tensor.constant && !tensor.variable;
    }
  }

  std::vector<bool> is_in_;
};

size_t BytesOf(const OtherForm& form, TensorId id, bool in_other_form) {
  const Tensor& tensor = form.graph().tensors[static_cast<size_t>(id)];
  const bool changes = in_other_form && form.HasForm(id);
  const Type other = form.is_int8() ? Type::kInt8 : Type::kFloat32;
  const Result<size_t> bytes = CountBytes(tensor.shape, changes ? other : tensor.type);
  return bytes.ok() ? *bytes : 0;
}

// Greater differences than this count as this, so that sums of them fit an integer.
constexpr double kGreatestDifference = 1e6;

int64_t UnitsOf(const Difference& difference) {
  return std::llround(std::min(kGreatestDifference, difference.relative) * kDifferenceUnits);
}

size_t FastestAmong(const LayerReport& report, bool converted, bool on_device) {
  size_t fastest = report.ways.size();
  for (size_t w = 0; w < report.ways.size(); ++w) {
    const TimedWay& way = report.ways[w];
    if (way.converted != converted || RunsOnDevice(way.routine) != on_device) continue;
    if (fastest == report.ways.size() || CountedTime(report, w) < CountedTime(report, fastest)) {
      fastest = w;
    }
  }
  return fastest;
}

// Whether a way is an option if layers may have both forms, or run on a device.
bool IsOption(const TimedWay& way, bool both_forms, bool with_device) {
  return (!way.converted || both_forms) && (!RunsOnDevice(way.routine) || with_device);
}

Option OptionOf(const LayerReport& report, size_t index, Resource resource) {
  const TimedWay& way = report.ways[index];
  const bool differs = way.converted && resource != Resource::kBytes;
  const int schema = (way.converted ? kOther : kAsIs) + (RunsOnDevice(way.routine) ? kOnDevice : 0);
  return {schema, CountedTime(report, index),
          resource == Resource::kDifference ? 0 : static_cast<int64_t>(way.bytes),
          differs ? UnitsOf(report.difference) : 0};
}

// Every way of a layer that is an option.
void AddOptions(const LayerReport& report, bool both_forms, bool with_device, Resource resource,
                Problem::Layer& layer, std::vector<size_t>& ways) {
  for (size_t w = 0; w < report.ways.size(); ++w) {
    const TimedWay& way = report.ways[w];
    if (!IsOption(way, both_forms, with_device)) continue;
    const bool differs = way.converted && resource != Resource::kBytes;
    if (differs && !report.difference.measured) continue;
    layer.options.push_back(OptionOf(report, w, resource));
    ways.push_back(w);
  }
}

}  // namespace

double CountedTime(const LayerReport& report, size_t way) {
  const double untuned = report.ways[0].ns;
  const double ns = report.ways[way].ns;
  const double gain = 1 - ns / std::max(1.0, untuned);
  return gain > std::max(kLeastGain, report.noise) ? ns : std::max(ns, untuned);
}

size_t FastestOf(const LayerReport& report, bool converted) {
  return FastestAmong(report, converted, false);
}

size_t FastestOnDevice(const LayerReport& report, bool converted) {
  return FastestAmong(report, converted, true);
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

// Forms change on the CPU: a tensor of the device comes to the host first.
double CrossingTimes::Of(const OtherForm& form, TensorId tensor, int from, int to) const {
  const bool converts = IsOther(from) != IsOther(to) && form.HasForm(tensor);
  double ns = converts ? adapters.Of(form, tensor, IsOther(to)) : 0;
  if (transfers == nullptr) return ns;
  if (IsOnDevice(from) && (converts || !IsOnDevice(to))) {
    ns += transfers->ToHost(BytesOf(form, tensor, IsOther(from)));
  }
  if (IsOnDevice(to) && (converts || !IsOnDevice(from))) {
    ns += transfers->ToDevice(BytesOf(form, tensor, IsOther(to)));
  }
  return ns;
}

NetworkProblem MakeProblem(const OtherForm& form, const std::vector<LayerReport>& reports,
                           const CrossingTimes& times, bool both_forms, Resource resource) {
  const Graph& graph = form.graph();
  const bool with_device = times.transfers != nullptr;
  const Members members(form, with_device);
  NetworkProblem network;
  network.has_adapter_layers = both_forms || !with_device;
  Problem& problem = network.problem;
  problem.tensors = static_cast<int>(graph.tensors.size());
  for (size_t i = 0; i < reports.size(); ++i) {
    Problem::Layer& made = problem.layers.emplace_back();
    std::vector<size_t>& ways = network.ways.emplace_back();
    made.reads = members.Of(graph.layers[i].inputs);
    made.writes = members.Of(graph.layers[i].outputs);
    if (form.IsAdapter(i) && network.has_adapter_layers) {
      // What it does is what the adapter of its tensor costs.
      made.options = {{kOther, 0, 0}};
      ways = {0};
    } else {
      AddOptions(reports[i], both_forms, with_device, resource, made, ways);
    }
  }
  problem.inputs = members.EndsOf(graph.inputs);
  problem.outputs = members.EndsOf(graph.outputs);
  const int schemas = with_device ? 4 : 2;
  for (int id = 0; id < problem.tensors; ++id) {
    if (!members.Has(id)) continue;
    for (int from = 0; from < schemas; ++from) {
      for (int to = 0; to < schemas; ++to) {
        if (from != to) problem.adapters.push_back({id, from, to, times.Of(form, id, from, to)});
      }
    }
  }
  return network;
}

std::vector<size_t> SizesOfCrossings(const OtherForm& form, bool both_forms) {
  const Members members(form, true);
  std::vector<size_t> sizes;
  for (size_t i = 0; i < form.graph().tensors.size(); ++i) {
    const auto id = static_cast<TensorId>(i);
    if (!members.Has(id)) continue;
    sizes.push_back(BytesOf(form, id, false));
    if (both_forms) sizes.push_back(BytesOf(form, id, true));
  }
  return sizes;
}

std::vector<size_t> WaysOf(const NetworkProblem& network, const Selection& selection) {
  std::vector<size_t> ways;
  for (size_t i = 0; i < selection.options.size(); ++i) {
    ways.push_back(network.ways[i][static_cast<size_t>(selection.options[i])]);
  }
  return ways;
}

}  // namespace intaglio::nn::tune
