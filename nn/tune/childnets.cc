#include "intaglio/nn/tune/childnets.h"

#include <utility>

#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/nn/tune/choose.h"
#include "intaglio/nn/tune/nest.h"

namespace intaglio::nn::tune {
namespace {

constexpr int kSchema = 0;  // all layers compute in the form of the childnet

std::vector<int> ActivationsOf(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<int> tensors;
  for (const TensorId id : ids) {
    if (id != kNoTensor && !graph.tensors[static_cast<size_t>(id)].constant) tensors.push_back(id);
  }
  return tensors;
}

std::vector<End> EndsOf(const std::vector<TensorId>& ids) {
  std::vector<End> ends;
  for (const TensorId id : ids) ends.push_back({id, kSchema});
  return ends;
}

// Every measured way is an option.
Problem ProblemOf(const ChildProfile& profile) {
  const Graph& graph = profile.graph;
  Problem problem;
  problem.tensors = static_cast<int>(graph.tensors.size());
  for (size_t i = 0; i < profile.reports.size(); ++i) {
    const LayerReport& report = profile.reports[i];
    Problem::Layer& layer = problem.layers.emplace_back();
    layer.reads = ActivationsOf(graph, graph.layers[i].inputs);
    layer.writes = ActivationsOf(graph, graph.layers[i].outputs);
    for (size_t w = 0; w < report.ways.size(); ++w) {
      const auto bytes = static_cast<int64_t>(report.ways[w].bytes);
      layer.options.push_back({kSchema, CountedTime(report, w), bytes, 0});
    }
  }
  problem.inputs = EndsOf(graph.inputs);
  problem.outputs = EndsOf(graph.outputs);
  return problem;
}

// The nets of a childnet and of all childnets in it.
class Nests {
 public:
  explicit Nests(const ChildProfile& outermost) { Add(outermost); }

  Result<std::vector<Selection>> Select() const { return SelectNest(nest_); }

  TunedChildnet Tuned(const std::vector<Selection>& selections, size_t net) const {
    const ChildProfile& profile = *profiles_[net];
    TunedChildnet tuned{profile.routine, {}};
    std::vector<ChildChoice> choices;
    for (size_t i = 0; i < profile.reports.size(); ++i) {
      const auto option = static_cast<size_t>(selections[net].options[i]);
      const LayerReport& report = profile.reports[i];
      if (option == 0) continue;
      ChildWay way = option < report.ways.size() ? WayOf(report.ways[option])
                                                 : WayOf(selections, NetOf(net, i, option));
      way.layer = i;
      way.operator_name = report.operator_name;
      choices.push_back({i, {way.routine, way.kernel, way.threads}});
      tuned.layers.push_back(std::move(way));
    }
    tuned.routine = WithChildChoices(tuned.routine, choices);
    return tuned;
  }

 private:
  size_t Add(const ChildProfile& profile) {
    const size_t net = nest_.nets.size();
    nest_.nets.push_back({ProblemOf(profile)});
    profiles_.push_back(&profile);
    for (const ChildProfile::Inner& inner : profile.childnets) {
      const size_t child = Add(inner.profile);
      Nest::Net& parent = nest_.nets[net];
      std::vector<Option>& options = parent.problem.layers[inner.layer].options;
      parent.children.push_back({inner.layer, options.size(), child});
      options.push_back({kSchema});
    }
    return net;
  }

  size_t NetOf(size_t net, size_t layer, size_t option) const {
    for (const Childnet& child : nest_.nets[net].children) {
      if (child.layer == layer && child.option == option) return child.net;
    }
    return net;
  }

  static ChildWay WayOf(const TimedWay& way) {
    return {0, "", way.routine, way.kernel, way.threads, way.ns, way.layers};
  }
  ChildWay WayOf(const std::vector<Selection>& selections, size_t net) const {
    TunedChildnet tuned = Tuned(selections, net);
    return {0,
            "",
            std::move(tuned.routine),
            "",
            0,
            selections[net].nanoseconds,
            std::move(tuned.layers)};
  }

  Nest nest_;
  std::vector<const ChildProfile*> profiles_;  // of the nets
};

}  // namespace

Result<TunedChildnet> SelectChildnet(const ChildProfile& profile) {
  const Nests nests(profile);
  const Result<std::vector<Selection>> selections = nests.Select();
  if (!selections.ok()) return selections.status();
  return nests.Tuned(*selections, 0);
}

}  // namespace intaglio::nn::tune
