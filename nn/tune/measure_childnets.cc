// The part of the measurer that looks into childnets.
#include <algorithm>
#include <cmath>
#include <utility>

#include "intaglio/nn/routine/childnet.h"
#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/nn/tune/measure.h"
#include "intaglio/nn/tune/timing_key.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

// The share of the time for all ways that childnets get, which are measured alone first.
constexpr int kPercentForChildnets = 10;
// A childnet is measured if there is time for so many runs of it: of some eight ways, six times
// each.
constexpr int kLeastRuns = 48;

}  // namespace

// How long a run of the layer takes, by its part of the network's products.
nanoseconds Measurer::EstimateRun(const Form& form, size_t layer) const {
  const std::vector<LayerInfo>& infos = form.by_default.layers();
  double all = 1;
  for (const LayerInfo& info : infos) all += static_cast<double>(info.macs);
  const double part = static_cast<double>(infos[layer].macs) / all;
  return nanoseconds(std::llround(static_cast<double>(effort_.run.count()) * part));
}

// Childnets of different layers may have the same name, and other times.
std::string Measurer::ChildnetKey(const Form& form, size_t layer,
                                  const std::string& routine) const {
  const LayerInfo& info = form.by_default.layers()[layer];
  return LayerKey(form.graph, layer, info, {.routine = routine}, prepare_);
}

std::vector<ChildWay> Measurer::ChildrenOf(const Form& form, size_t layer,
                                           const std::string& routine) const {
  if (LayersIn(routine).empty()) return {};
  const auto found = childnets_.find(ChildnetKey(form, layer, routine));
  return found == childnets_.end() ? std::vector<ChildWay>() : found->second;
}

// Layers that are equal share what is found. A childnet that cannot be made or prepared is no way.
Status Measurer::AddChildnets(const Form& form, Variants& variants, nanoseconds end) {
  struct Task {
    std::string routine;
    std::vector<size_t> layers;
  };
  std::map<std::string, Task> tasks;  // by what is equal
  const bool allow_bounded = options_.allow_float32 || form.origins != nullptr;
  for (size_t i = 0; i < form.graph.layers.size(); ++i) {
    if (variants.alternatives[i].empty()) continue;
    for (const std::string& name : NamesOfChildnets(LayerView(form.graph, i), allow_bounded)) {
      Task& task = tasks[ChildnetKey(form, i, name)];
      task.routine = name;
      task.layers.push_back(i);
    }
  }
  if (tasks.empty()) return {};
  nanoseconds end_of_task = schedule_.Now();
  const nanoseconds time = std::max(nanoseconds(0), end - end_of_task);
  const nanoseconds share = time * kPercentForChildnets / 100 / static_cast<int64_t>(tasks.size());
  for (const auto& [key, task] : tasks) {
    const LayerView layer(form.graph, task.layers[0]);
    end_of_task += share;
    if (!leaves_unknown_ && share < kLeastRuns * EstimateRun(form, task.layers[0])) continue;
    const Result<std::optional<TunedChildnet>> tuned =
        TuneChildnet(layer, task.routine, end_of_task);
    if (!tuned.ok()) return tuned.status();
    if (!tuned->has_value()) continue;
    childnets_[ChildnetKey(form, task.layers[0], (*tuned)->routine)] = (*tuned)->layers;
    for (const size_t i : task.layers) {
      variants.alternatives[i].push_back({.routine = (*tuned)->routine});
    }
  }
  return {};
}

Result<std::optional<TunedChildnet>> Measurer::TuneChildnet(const LayerView& layer,
                                                            const std::string& routine,
                                                            nanoseconds end) const {
  Result<Graph> graph = ChildnetNamed(layer, routine);
  if (!graph.ok()) return std::optional<TunedChildnet>();
  const Result<ChildProfile> profile = ProfileChildnet(std::move(*graph), routine, end);
  if (!profile.ok()) return profile.status();
  if (profile->reports.empty()) return std::optional<TunedChildnet>();
  Result<TunedChildnet> tuned = SelectChildnet(*profile);
  if (!tuned.ok()) return tuned.status();
  if (tuned->layers.empty()) return std::optional<TunedChildnet>();
  return std::optional(std::move(*tuned));
}

// Without reports if there is no time, or if the childnet cannot be prepared. Childnets inside get
// a share of the time that is left, as deep as a name may have them.
Result<ChildProfile> Measurer::ProfileChildnet(Graph graph, const std::string& routine,
                                               nanoseconds end) const {
  ChildProfile profile{routine, std::move(graph), {}, {}};
  if (schedule_.Now() >= end && !leaves_unknown_) return profile;
  Measurer measurer(profile.graph, *this);
  if (!measurer.Begin().ok()) return profile;
  if (leaves_unknown_ && !measurer.KnowsUntuned()) return profile;
  std::vector<std::pair<size_t, std::string>> inner;
  for (size_t i = 0; i < profile.graph.layers.size() && measurer.depth_ < kDeepestChildnet; ++i) {
    for (std::string& name :
         NamesOfChildnets(LayerView(profile.graph, i), options_.allow_float32)) {
      inner.emplace_back(i, std::move(name));
    }
  }
  INTAGLIO_RETURN_IF_ERROR(measurer.MeasureOwnForm(inner.empty() ? end : Part(end, 50)));
  measurer.KeepNoise();
  auto left = static_cast<int>(inner.size());
  for (const auto& [i, name] : inner) {
    Result<Graph> child = ChildnetNamed(LayerView(profile.graph, i), name);
    if (!child.ok()) continue;
    Result<ChildProfile> of_child =
        measurer.ProfileChildnet(std::move(*child), name, Part(end, 100 / left--));
    if (!of_child.ok()) return of_child;
    if (!of_child->reports.empty()) profile.childnets.push_back({i, std::move(*of_child)});
  }
  profile.reports = std::move(measurer.reports());
  return profile;
}

}  // namespace intaglio::nn::tune
