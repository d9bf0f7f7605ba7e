// Finds the least sum of tables over variables, by eliminating one variable after the other
// (R. Dechter, "Bucket elimination: a unifying framework for reasoning", 1999).
#ifndef INTAGLIO_NN_TUNE_ELIMINATE_H_
#define INTAGLIO_NN_TUNE_ELIMINATE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/tune/front.h"

namespace intaglio::nn::tune {

// A front for every combination of the values of some variables.
class Table {
 public:
  // `scope` are the variables, each once. The last one varies fastest from entry to entry.
  explicit Table(std::vector<int> scope) : scope_(std::move(scope)) {}

  // Adds the next entry. An empty front says that the combination is impossible.
  void Add(std::span<const Point> front);
  std::span<const Point> entry(size_t i) const {
    return {points_.data() + begin_[i], begin_[i + 1] - begin_[i]};
  }
  const std::vector<int>& scope() const { return scope_; }
  // Leaves the variables out of the scope that have one value only.
  void ForgetSingleValues(const std::vector<int>& sizes);
  size_t entries() const { return begin_.size() - 1; }
  size_t points() const { return points_.size(); }

  // Thinning out has lost at most so much, in all that any entry was made of (Trim).
  int64_t loss = 0;

 private:
  std::vector<int> scope_;
  std::vector<size_t> begin_ = {0};
  std::vector<Point> points_;
};

struct Elimination {
  Front front;  // of the sums of one entry of each table
  Traces traces;
  int64_t loss = 0;
};

// Variable i has the values from 0 to sizes[i] - 1. Sizes are positive. Memory is in proportion to
// `max_points`: it limits the entries of all joined tables together, and the points that are made.
// If more are needed, the error says so. Nothing is allocated for the tables if their entries alone
// are too many.
Result<Elimination> Eliminate(const std::vector<int>& sizes, std::vector<Table> tables,
                              const FrontRules& rules, size_t max_points);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_ELIMINATE_H_
