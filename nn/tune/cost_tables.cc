#include "intaglio/nn/tune/cost_tables.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace intaglio::nn::tune {
namespace {

size_t At(int i) { return static_cast<size_t>(i); }

// The front of a cost without a choice, which is empty if there is no cost.
Front FrontOf(std::optional<int64_t> cost) {
  if (!cost.has_value()) return {};
  return {Point{*cost}};
}

bool Includes(const std::vector<int>& all, const std::vector<int>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

class Writer {
 public:
  Writer(const Net& net, const FrontRules& rules, size_t max_points)
      : net_(net), rules_(rules), max_points_(max_points) {
    for (int node = 0; node < net.nodes(); ++node) result_.sizes.push_back(SizeOf(node));
  }

  Result<CostTables> Write() {
    for (int i = 0; i < net_.layers(); ++i) INTAGLIO_RETURN_IF_ERROR(AddOptions(i));
    for (int t = 0; t < net_.tensors(); ++t) INTAGLIO_RETURN_IF_ERROR(AddTensor(t));
    INTAGLIO_RETURN_IF_ERROR(AddDemands());
    return std::move(result_);
  }

 private:
  // A schema and two or more layers.
  using Demand = std::pair<int, std::vector<int>>;

  int SizeOf(int node) const { return static_cast<int>(net_.schemas(node).size()); }

  // The options of each schema that no other one with this schema makes useless.
  Status AddOptions(int layer) {
    Table table({layer});
    const std::vector<Option>& options = net_.layer(layer).options;
    for (const int schema : net_.schemas(layer)) {
      Front front;
      for (int k = 0; k < static_cast<int>(options.size()); ++k) {
        const Option& option = options[At(k)];
        if (option.schema != schema) continue;
        front.push_back({Net::CostOf(option), option.bytes, option.difference, k,
                         Traces::Leaf(LeafOf(layer, k))});
      }
      table.loss = std::max(table.loss, Trim(front, rules_));
      table.Add(front);
    }
    return Add(std::move(table));
  }

  Status AddTensor(int tensor) {
    std::set<int> certain;                      // schemas in which the tensor is read in any case
    std::map<int, std::vector<int>> by_schema;  // other schemas, and who may read it so
    std::map<int, std::vector<int>> by_reader;  // the other way round, for schemas of one reader
    for (const int reader : net_.readers(tensor)) {
      INTAGLIO_RETURN_IF_ERROR(CheckReader(tensor, reader));
      if (SizeOf(reader) == 1) certain.insert(net_.schemas(reader)[0]);
    }
    for (const int reader : net_.readers(tensor)) {
      for (const int schema : net_.schemas(reader)) {
        if (!certain.contains(schema)) by_schema[schema].push_back(reader);
      }
    }
    for (const int schema : certain) INTAGLIO_RETURN_IF_ERROR(AddCertain(tensor, schema));
    for (const auto& demand : by_schema) {
      if (demand.second.size() == 1) {
        by_reader[demand.second[0]].push_back(demand.first);
      } else {
        INTAGLIO_RETURN_IF_ERROR(AddShared(tensor, demand));
      }
    }
    for (const auto& [reader, schemas] : by_reader) {
      INTAGLIO_RETURN_IF_ERROR(AddPair(tensor, reader, schemas));
    }
    return {};
  }

  // Whether any adapter lets this reader have the tensor.
  Status CheckReader(int tensor, int reader) const {
    for (const int from : net_.schemas(net_.writer(tensor))) {
      for (const int to : net_.schemas(reader)) {
        if (net_.CostOf(tensor, from, to).has_value()) return {};
      }
    }
    return Unsupported("no adapter converts tensor " + std::to_string(tensor) +
                       " from any schema of " + net_.NameOf(net_.writer(tensor)) +
                       " to any schema of " + net_.NameOf(reader));
  }

  // A copy that is made whatever is selected.
  Status AddCertain(int tensor, int schema) {
    const int writer = net_.writer(tensor);
    Table table({writer});
    for (const int from : net_.schemas(writer)) {
      table.Add(FrontOf(net_.CostOf(tensor, from, schema)));
    }
    return Add(std::move(table));
  }

  // A copy that is made if `reader` has one of these schemas.
  Status AddPair(int tensor, int reader, const std::vector<int>& schemas) {
    const int writer = net_.writer(tensor);
    Table table({writer, reader});
    for (const int from : net_.schemas(writer)) {
      for (const int to : net_.schemas(reader)) {
        const bool costs = std::find(schemas.begin(), schemas.end(), to) != schemas.end();
        table.Add(FrontOf(costs ? net_.CostOf(tensor, from, to) : 0));
      }
    }
    return Add(std::move(table));
  }

  // A copy that is made if there is this demand.
  Status AddShared(int tensor, const Demand& demand) {
    const auto [place, is_new] = demands_.insert({demand, static_cast<int>(result_.sizes.size())});
    if (is_new) result_.sizes.push_back(2);
    const int writer = net_.writer(tensor);
    Table table({writer, place->second});
    for (const int from : net_.schemas(writer)) {
      table.Add(FrontOf(0));
      table.Add(FrontOf(net_.CostOf(tensor, from, demand.first)));
    }
    return Add(std::move(table));
  }

  // Lets the demands follow from the schemas of their layers. A demand of some of the layers
  // implies the demand of all. So where each of many tensors is read by all layers after it,
  // demands are a chain, and not each of them depends on each layer.
  Status AddDemands() {
    std::vector<std::pair<Demand, int>> demands(demands_.begin(), demands_.end());
    std::stable_sort(demands.begin(), demands.end(), [](const auto& a, const auto& b) {
      return a.first.second.size() < b.first.second.size();
    });
    std::map<std::pair<int, int>, std::vector<size_t>> by_first;  // by schema and first layer
    for (size_t i = 0; i < demands.size(); ++i) {
      const auto& [schema, layers] = demands[i].first;
      const int demand = demands[i].second;
      std::vector<int> rest = layers;
      if (const std::optional<size_t> part = LargestPart(demands, by_first, demands[i].first)) {
        const std::vector<int>& implied = demands[*part].first.second;
        std::erase_if(rest, [&](int v) { return Includes(implied, {v}); });
        INTAGLIO_RETURN_IF_ERROR(AddImplication(demands[*part].second, {false, true}, demand));
      }
      for (const int layer : rest) {
        std::vector<bool> implies;
        for (const int s : net_.schemas(layer)) implies.push_back(s == schema);
        INTAGLIO_RETURN_IF_ERROR(AddImplication(layer, implies, demand));
      }
      by_first[{schema, layers[0]}].push_back(i);
    }
    return {};
  }

  // Among `found`, the last of the demands whose layers are some of those of `whole`.
  static std::optional<size_t> LargestPart(
      const std::vector<std::pair<Demand, int>>& demands,
      std::map<std::pair<int, int>, std::vector<size_t>>& found, const Demand& whole) {
    std::optional<size_t> largest;
    for (const int layer : whole.second) {
      for (const size_t i : found[{whole.first, layer}]) {
        if (largest.has_value() && i < *largest) continue;
        if (Includes(whole.second, demands[i].first.second)) largest = i;
      }
    }
    return largest;
  }

  // `implies` says of every value of `variable` whether there is the demand then.
  Status AddImplication(int variable, const std::vector<bool>& implies, int demand) {
    Table table({variable, demand});
    for (const bool implied : implies) {
      table.Add(implied ? Front{} : FrontOf(0));
      table.Add(FrontOf(0));
    }
    return Add(std::move(table));
  }

  Status Add(Table table) {
    entries_ += table.entries();
    result_.tables.push_back(std::move(table));
    if (entries_ <= max_points_) return {};
    return OutOfMemory("the tables of the network have more than the " +
                       std::to_string(max_points_) +
                       " points that are allowed (SelectLimits::max_points)");
  }

  const Net& net_;
  const FrontRules rules_;
  const size_t max_points_;
  size_t entries_ = 0;
  CostTables result_;
  std::map<Demand, int> demands_;  // their variables
};

}  // namespace

Result<CostTables> TablesOf(const Net& net, const FrontRules& rules, size_t max_points) {
  return Writer(net, rules, max_points).Write();
}

}  // namespace intaglio::nn::tune
