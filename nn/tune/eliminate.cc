#include "intaglio/nn/tune/eliminate.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace intaglio::nn::tune {
namespace {

size_t At(int variable) { return static_cast<size_t>(variable); }

// In which order to eliminate variables: always the one whose joined table is the smallest. As long
// as that table is affordable, the variable has few neighbours.
class Order {
 public:
  Order(const std::vector<int>& sizes, const std::vector<Table>& tables)
      : sizes_(sizes), neighbours_(sizes.size()), entries_(sizes.size()) {
    for (const Table& table : tables) Connect(table.scope());
    for (int v = 0; v < static_cast<int>(sizes.size()); ++v) Insert(v);
  }

  // The entries of the joined table of the next variable.
  double entries() const { return queue_.begin()->first; }

  // Removes the next variable and returns it.
  int Next() {
    const int next = queue_.begin()->second;
    queue_.erase(queue_.begin());
    const std::vector<int> beside(neighbours_[At(next)].begin(), neighbours_[At(next)].end());
    for (const int v : beside) {
      queue_.erase({entries_[At(v)], v});
      neighbours_[At(v)].erase(next);
    }
    Connect(beside);
    for (const int v : beside) Insert(v);
    return next;
  }

 private:
  void Connect(const std::vector<int>& scope) {
    for (const int a : scope) {
      for (const int b : scope) {
        if (a != b) neighbours_[At(a)].insert(b);
      }
    }
  }

  void Insert(int variable) {
    double entries = sizes_[At(variable)];
    for (const int v : neighbours_[At(variable)]) entries *= sizes_[At(v)];
    entries_[At(variable)] = entries;
    queue_.insert({entries, variable});
  }

  const std::vector<int>& sizes_;
  std::vector<std::set<int>> neighbours_;
  std::vector<double> entries_;  // of the joined table
  std::set<std::pair<double, int>> queue_;
};

Status TooManyEntries(double needed, size_t max_points) {
  const auto entries = static_cast<int64_t>(std::min(needed, 1e18));
  return OutOfMemory(
      "the branches of the network depend on each other so much that a selection "
      "needs tables of " +
      std::to_string(entries) + " entries or more, but " + std::to_string(max_points) +
      " are allowed (SelectLimits::max_points)");
}

Result<std::vector<int>> OrderOf(const std::vector<int>& sizes, const std::vector<Table>& tables,
                                 size_t max_points) {
  Order order(sizes, tables);
  std::vector<int> variables;
  double entries = 0;
  while (variables.size() < sizes.size()) {
    entries += order.entries();
    if (entries > static_cast<double>(max_points)) return TooManyEntries(entries, max_points);
    variables.push_back(order.Next());
  }
  return variables;
}

// A table in a join, at the entry that belongs to the current combination.
struct Operand {
  const Table* table;
  std::vector<size_t> strides;  // by variable of the join
  size_t entry = 0;
};

// Steps through all combinations of the variables of some tables.
class Combinations {
 public:
  Combinations(const std::vector<int>& variables, const std::vector<int>& sizes,
               const std::vector<const Table*>& tables)
      : values_(variables.size(), 0) {
    for (const int v : variables) sizes_.push_back(At(sizes[At(v)]));
    for (const Table* table : tables) {
      Operand operand{table, std::vector<size_t>(variables.size(), 0)};
      size_t stride = 1;
      for (size_t i = table->scope().size(); i-- > 0;) {
        const auto place = std::find(variables.begin(), variables.end(), table->scope()[i]);
        operand.strides[static_cast<size_t>(place - variables.begin())] = stride;
        stride *= At(sizes[At(table->scope()[i])]);
      }
      operands_.push_back(std::move(operand));
    }
  }

  const std::vector<Operand>& operands() const { return operands_; }

  // False after the last combination.
  bool Advance() {
    for (size_t i = sizes_.size(); i-- > 0;) {
      const bool wraps = ++values_[i] == sizes_[i];
      for (Operand& operand : operands_) {
        operand.entry += operand.strides[i];
        if (wraps) operand.entry -= operand.strides[i] * sizes_[i];
      }
      if (!wraps) return true;
      values_[i] = 0;
    }
    return false;
  }

 private:
  std::vector<size_t> sizes_;
  std::vector<size_t> values_;
  std::vector<Operand> operands_;
};

class Eliminator {
 public:
  Eliminator(const std::vector<int>& sizes, const FrontRules& rules, size_t max_points)
      : sizes_(sizes), rules_(rules), max_points_(max_points), tables_of_(sizes.size()) {}

  void Add(Table table) {
    points_ += table.points();
    for (const int v : table.scope()) tables_of_[At(v)].push_back(tables_.size());
    if (table.scope().empty()) constants_.push_back(tables_.size());
    tables_.push_back(std::move(table));
    used_.push_back(false);
  }

  // Replaces the tables with `variable` by one that has the best of its values.
  Status Remove(int variable) {
    std::vector<const Table*> tables;
    for (const size_t i : tables_of_[At(variable)]) {
      if (!used_[i]) tables.push_back(&tables_[i]);
    }
    Table joined(ScopeBeside(variable, tables));
    INTAGLIO_RETURN_IF_ERROR(JoinTables(variable, tables, joined));
    for (const size_t i : tables_of_[At(variable)]) Drop(i);
    Add(std::move(joined));
    return {};
  }

  // Once all variables are removed.
  Result<Elimination> Finish() {
    Elimination result;
    result.front = {Point{}};
    for (const size_t i : constants_) {
      const Front before = std::move(result.front);
      result.loss += tables_[i].loss + Join(before, tables_[i].entry(0), rules_, traces_, spare_);
      result.front = spare_;
      INTAGLIO_RETURN_IF_ERROR(CheckPoints());
    }
    result.traces = std::move(traces_);
    return result;
  }

 private:
  static std::vector<int> ScopeBeside(int variable, const std::vector<const Table*>& tables) {
    std::set<int> scope;
    for (const Table* table : tables) scope.insert(table->scope().begin(), table->scope().end());
    scope.erase(variable);
    return {scope.begin(), scope.end()};
  }

  Status JoinTables(int variable, const std::vector<const Table*>& tables, Table& joined) {
    std::vector<int> variables = joined.scope();
    variables.push_back(variable);
    Combinations combinations(variables, sizes_, tables);
    int64_t most_lost = 0;
    bool more = true;
    while (more) {
      Front best;
      int64_t lost = 0;
      for (int value = 0; value < sizes_[At(variable)]; ++value) {
        lost = std::max(lost, JoinEntries(combinations.operands()));
        best.insert(best.end(), sums_.begin(), sums_.end());
        more = combinations.Advance();
      }
      most_lost = std::max(most_lost, lost + Trim(best, rules_));
      joined.Add(best);
      INTAGLIO_RETURN_IF_ERROR(CheckPoints(joined.points()));
    }
    joined.loss = most_lost;
    for (const Table* table : tables) joined.loss += table->loss;
    return {};
  }

  // Makes sums_ and returns what it lost.
  int64_t JoinEntries(const std::vector<Operand>& operands) {
    int64_t lost = 0;
    sums_ = {Point{}};
    for (const Operand& operand : operands) {
      lost += Join(sums_, operand.table->entry(operand.entry), rules_, traces_, spare_);
      std::swap(sums_, spare_);
      if (sums_.empty()) break;
    }
    return lost;
  }

  void Drop(size_t table) {
    if (used_[table]) return;
    used_[table] = true;
    points_ -= tables_[table].points();
    tables_[table] = Table({});
  }

  Status CheckPoints(size_t more = 0) const {
    if (points_ + more + traces_.joins() <= max_points_) return {};
    std::string message = "a selection needs more than the " + std::to_string(max_points_) +
                          " points that are allowed (SelectLimits::max_points)";
    if (rules_.weigh_amounts) {
      message += "; fronts of less than " + std::to_string(rules_.max_points) +
                 " points need fewer (SelectLimits::max_front)";
    }
    return OutOfMemory(std::move(message));
  }

  const std::vector<int>& sizes_;
  const FrontRules rules_;
  const size_t max_points_;
  std::vector<Table> tables_;
  std::vector<std::vector<size_t>> tables_of_;  // by variable
  std::vector<bool> used_;         // by table: whether it is part of another one by now
  std::vector<size_t> constants_;  // tables without variables
  size_t points_ = 0;              // of all tables that are not used
  Traces traces_;
  Front sums_, spare_;
};

}  // namespace

void Table::Add(std::span<const Point> front) {
  points_.insert(points_.end(), front.begin(), front.end());
  begin_.push_back(points_.size());
}

void Table::ForgetSingleValues(const std::vector<int>& sizes) {
  std::erase_if(scope_, [&](int v) { return sizes[At(v)] == 1; });
}

Result<Elimination> Eliminate(const std::vector<int>& sizes, std::vector<Table> tables,
                              const FrontRules& rules, size_t max_points) {
  for (Table& table : tables) table.ForgetSingleValues(sizes);
  const Result<std::vector<int>> order = OrderOf(sizes, tables, max_points);
  if (!order.ok()) return order.status();
  Eliminator eliminator(sizes, rules, max_points);
  for (Table& table : tables) eliminator.Add(std::move(table));
  for (const int variable : *order) INTAGLIO_RETURN_IF_ERROR(eliminator.Remove(variable));
  return eliminator.Finish();
}

}  // namespace intaglio::nn::tune
