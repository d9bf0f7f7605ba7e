// Partial choices that differ in time, memory and accuracy, of which none is worse than another in
// all of them.
#ifndef INTAGLIO_NN_TUNE_FRONT_H_
#define INTAGLIO_NN_TUNE_FRONT_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace intaglio::nn::tune {

// Remembers what points were made of: a trace is a leaf, or joins two traces, or is empty.
class Traces {
 public:
  static constexpr int64_t kEmpty = 0;

  // `leaf` is any number from 0 to 2^62.
  static int64_t Leaf(int64_t leaf) { return -1 - leaf; }
  int64_t Join(int64_t a, int64_t b);
  std::vector<int64_t> LeavesOf(int64_t trace) const;
  size_t joins() const { return joins_.size(); }

 private:
  std::vector<std::pair<int64_t, int64_t>> joins_;
};

// What some choices come to. None of the numbers is negative.
struct Point {
  int64_t cost = 0;
  int64_t bytes = 0;
  int64_t difference = 0;
  int64_t rank = 0;  // between points that are equal otherwise, the lower one wins
  int64_t trace = Traces::kEmpty;
};

// By increasing cost. Each point has fewer bytes or less difference than each point before it. A
// front is empty if nothing can be chosen.
using Front = std::vector<Point>;

struct FrontRules {
  // Without it, a front is the one point with the least cost; bytes and differences only add up.
  bool weigh_amounts = false;
  size_t max_points = 2;  // of a front, if amounts are weighed; at least 2
  // Points beyond these limits are dropped, if amounts are weighed.
  int64_t max_bytes = std::numeric_limits<int64_t>::max();
  int64_t max_difference = std::numeric_limits<int64_t>::max();
};

// Makes a front of points in any order: sorts them, drops every point to which another one is
// preferable, and then thins them out if there are too many.
//
// Returns the loss: for every point that was given, one is kept that has no more bytes and costs at
// most so much more. The loss is 0 unless points were thinned out. Then it is the least possible,
// to 1/1024 of the range of costs. The fastest and the smallest point are always kept.
//
// If bytes and differences both vary, points are thinned out among those of about the same
// difference, up to twice `max_points` are kept, and the loss is the range of costs: nothing is
// promised of the points between those with the least cost, bytes and difference.
int64_t Trim(Front& points, const FrontRules& rules);

// Makes in `sums` the front of the sums of one point of each front. Returns the loss, as Trim does.
int64_t Join(std::span<const Point> a, std::span<const Point> b, const FrontRules& rules,
             Traces& traces, Front& sums);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_FRONT_H_
