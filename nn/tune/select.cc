#include "intaglio/nn/tune/select.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <tuple>
#include <utility>

#include "intaglio/nn/tune/cost_tables.h"
#include "intaglio/nn/tune/eliminate.h"
#include "intaglio/nn/tune/front.h"
#include "intaglio/nn/tune/net.h"

namespace intaglio::nn::tune {
namespace {

size_t At(int i) { return static_cast<size_t>(i); }

constexpr size_t kMostFront = 4096;
constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

// Thinning out may keep a point with a copy that nothing reads, and drop the one without.
// Completed, such points lose the copy, and may beat others.
void DropBeaten(std::vector<Selection>& selections) {
  std::stable_sort(selections.begin(), selections.end(), [](const auto& a, const auto& b) {
    return std::tie(a.nanoseconds, a.bytes, a.difference) <
           std::tie(b.nanoseconds, b.bytes, b.difference);
  });
  std::vector<Selection> kept;
  for (Selection& selection : selections) {
    const bool is_beaten = std::any_of(kept.begin(), kept.end(), [&](const Selection& other) {
      return other.bytes <= selection.bytes && other.difference <= selection.difference;
    });
    if (!is_beaten) kept.push_back(std::move(selection));
  }
  selections = std::move(kept);
}

Result<Tradeoffs> Solve(const Problem& problem, const FrontRules& rules, size_t max_points) {
  const Result<Net> net = Net::Make(problem);
  if (!net.ok()) return net.status();
  Result<CostTables> costs = TablesOf(*net, rules, max_points);
  if (!costs.ok()) return costs.status();
  const Result<Elimination> best =
      Eliminate(costs->sizes, std::move(costs->tables), rules, max_points);
  if (!best.ok()) return best.status();
  if (best->front.empty()) {
    if (rules.max_bytes < kAny || rules.max_difference < kAny) {
      return Unsupported("no selection keeps within the limits of bytes and differences");
    }
    return Unsupported(
        "no selection is possible: whatever options are taken, an adapter is missing");
  }
  Tradeoffs tradeoffs;
  tradeoffs.loss_nanoseconds = static_cast<double>(best->loss) / kUnitsPerNanosecond;
  for (const Point& point : best->front) {
    std::vector<int> options(At(net->layers()), 0);
    for (const int64_t leaf : best->traces.LeavesOf(point.trace)) {
      options[At(LayerOf(leaf))] = OptionOf(leaf);
    }
    Result<Selection> selection = net->Complete(options);
    if (!selection.ok()) return selection.status();
    assert(selection->nanoseconds <= static_cast<double>(point.cost) / kUnitsPerNanosecond);
    assert(selection->bytes == point.bytes);
    assert(selection->difference == point.difference);
    tradeoffs.selections.push_back(std::move(*selection));
  }
  DropBeaten(tradeoffs.selections);
  return tradeoffs;
}

}  // namespace

Result<Selection> Select(const Problem& problem, const SelectLimits& limits) {
  Result<Tradeoffs> tradeoffs = Solve(problem, {.weigh_amounts = false}, limits.max_points);
  if (!tradeoffs.ok()) return tradeoffs.status();
  return std::move(tradeoffs->selections[0]);
}

Result<Selection> Evaluate(const Problem& problem, const std::vector<int>& options) {
  const Result<Net> net = Net::Make(problem);
  if (!net.ok()) return net.status();
  if (options.size() != problem.layers.size()) {
    return InvalidArgument(std::to_string(options.size()) + " options are given for " +
                           std::to_string(problem.layers.size()) + " layers");
  }
  for (size_t i = 0; i < options.size(); ++i) {
    if (options[i] >= 0 && At(options[i]) < problem.layers[i].options.size()) continue;
    return InvalidArgument("layer " + std::to_string(i) + " has no option " +
                           std::to_string(options[i]));
  }
  return net->Complete(options);
}

Result<Tradeoffs> SelectTradeoffs(const Problem& problem, const SelectLimits& limits) {
  if (limits.max_front < 2 || limits.max_front > kMostFront) {
    return InvalidArgument("SelectLimits::max_front is " + std::to_string(limits.max_front) +
                           ", not from 2 to " + std::to_string(kMostFront));
  }
  const FrontRules rules = {.weigh_amounts = true,
                            .max_points = limits.max_front,
                            .max_bytes = limits.max_bytes,
                            .max_difference = limits.max_difference};
  return Solve(problem, rules, limits.max_points);
}

Result<Selection> FastestWithin(const Tradeoffs& tradeoffs, int64_t max_bytes,
                                int64_t max_difference) {
  std::string smallest = "none";
  int64_t least = kAny;
  for (const Selection& selection : tradeoffs.selections) {
    if (selection.difference > max_difference) continue;
    if (selection.bytes <= max_bytes) return selection;
    least = std::min(least, selection.bytes);
    smallest = std::to_string(least);
  }
  return Unsupported("no selection keeps within " + std::to_string(max_bytes) +
                     " bytes: the smallest one needs " + smallest);
}

}  // namespace intaglio::nn::tune
