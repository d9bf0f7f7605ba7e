#include "intaglio/nn/tune/nest.h"

#include <algorithm>
#include <string>
#include <utility>

namespace intaglio::nn::tune {
namespace {

Status CheckChild(const Nest& nest, size_t net, const Childnet& child) {
  const std::vector<Problem::Layer>& layers = nest.nets[net].problem.layers;
  if (child.layer < layers.size() && child.option < layers[child.layer].options.size() &&
      child.net > net && child.net < nest.nets.size()) {
    return {};
  }
  return InvalidArgument("net " + std::to_string(net) + ": option " + std::to_string(child.option) +
                         " of layer " + std::to_string(child.layer) + " cannot be net " +
                         std::to_string(child.net));
}

// A problem without the options that are impossible.
struct Possible {
  Problem problem;
  std::vector<std::vector<int>> options;  // by layer: the numbers of those that are left
};

// `is_impossible` has an element for each option of each layer.
Possible WithoutImpossible(Problem problem, const std::vector<std::vector<bool>>& is_impossible) {
  Possible possible{std::move(problem), {}};
  for (size_t i = 0; i < possible.problem.layers.size(); ++i) {
    std::vector<Option>& options = possible.problem.layers[i].options;
    std::vector<Option> left;
    std::vector<int>& numbers = possible.options.emplace_back();
    for (size_t k = 0; k < options.size(); ++k) {
      if (is_impossible[i][k]) continue;
      left.push_back(options[k]);
      numbers.push_back(static_cast<int>(k));
    }
    options = std::move(left);
  }
  return possible;
}

// Whether every layer that had options still has one.
bool HasOptions(const Possible& possible, const Problem& whole) {
  for (size_t i = 0; i < whole.layers.size(); ++i) {
    if (possible.options[i].empty() && !whole.layers[i].options.empty()) return false;
  }
  return true;
}

// `solved` has the selections of all nets behind this one; those without a solution are errors.
Result<Selection> SelectNet(const Nest& nest, size_t net,
                            const std::vector<Result<Selection>>& solved,
                            const SelectLimits& limits) {
  Problem problem = nest.nets[net].problem;
  std::vector<std::vector<bool>> is_impossible;
  for (const Problem::Layer& layer : problem.layers) {
    is_impossible.emplace_back(layer.options.size(), false);
  }
  for (const Childnet& child : nest.nets[net].children) {
    INTAGLIO_RETURN_IF_ERROR(CheckChild(nest, net, child));
    const Result<Selection>& inner = solved[child.net];
    if (!inner.ok() && inner.status().code() != StatusCode::kUnsupported) return inner.status();
    if (!inner.ok()) {
      is_impossible[child.layer][child.option] = true;
      continue;
    }
    Option& option = problem.layers[child.layer].options[child.option];
    option.nanoseconds += inner->nanoseconds;
    option.bytes += inner->bytes;
    option.difference += inner->difference;
  }
  Possible possible = WithoutImpossible(std::move(problem), is_impossible);
  if (!HasOptions(possible, nest.nets[net].problem)) {
    return Unsupported("a layer of net " + std::to_string(net) + " has only impossible options");
  }
  Result<Selection> selection = Select(possible.problem, limits);
  if (!selection.ok()) return selection;
  for (size_t i = 0; i < selection->options.size(); ++i) {
    int& option = selection->options[i];
    option = possible.options[i][static_cast<size_t>(option)];
  }
  return selection;
}

}  // namespace

Result<std::vector<Selection>> SelectNest(const Nest& nest, const SelectLimits& limits) {
  if (nest.nets.empty()) return InvalidArgument("there is no net to select");
  std::vector<Result<Selection>> solved(nest.nets.size(), Selection());
  for (size_t net = nest.nets.size(); net-- > 0;) {
    solved[net] = SelectNet(nest, net, solved, limits);
    const bool matters =
        net == 0 || (!solved[net].ok() && solved[net].status().code() != StatusCode::kUnsupported);
    if (matters && !solved[net].ok()) return solved[net].status();
  }
  std::vector<Selection> selections;
  for (Result<Selection>& selection : solved) {
    selections.push_back(selection.ok() ? std::move(*selection) : Selection());
  }
  return selections;
}

}  // namespace intaglio::nn::tune
