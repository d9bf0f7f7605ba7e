#include "intaglio/nn/tune/front.h"

#include <algorithm>
#include <tuple>

namespace intaglio::nn::tune {
namespace {

Point Sum(const Point& a, const Point& b) {
  return {a.cost + b.cost, a.bytes + b.bytes, a.rank + b.rank, Traces::kEmpty};
}

bool Faster(const Point& a, const Point& b) {
  return std::tie(a.cost, a.rank) < std::tie(b.cost, b.rank);
}

bool FasterOrSmaller(const Point& a, const Point& b) {
  return std::tie(a.cost, a.bytes, a.rank) < std::tie(b.cost, b.bytes, b.rank);
}

void KeepFastest(Front& points) {
  if (points.size() <= 1) return;
  points.front() = *std::min_element(points.begin(), points.end(), Faster);
  points.resize(1);
}

void KeepNotDominated(Front& points) {
  std::stable_sort(points.begin(), points.end(), FasterOrSmaller);
  size_t kept = 0;
  for (const Point& point : points) {
    if (kept == 0 || point.bytes < points[kept - 1].bytes) points[kept++] = point;
  }
  points.resize(kept);
}

// The number of points that have to be kept so that every other one has a smaller one that costs at
// most `loss` more. Calls `keep` with their indices, the last point first.
template <class Keep>
size_t CountKept(const Front& front, int64_t loss, const Keep& keep) {
  size_t count = 0;
  int64_t bound = 0;
  for (size_t i = front.size(); i-- > 0;) {
    if (i != 0 && i + 1 != front.size() && bound - front[i].cost <= loss) continue;
    bound = front[i].cost;
    keep(i);
    ++count;
  }
  return count;
}

int64_t ThinOut(Front& front, size_t max_points) {
  if (front.size() <= max_points) return 0;
  const int64_t range = front.back().cost - front.front().cost;
  int64_t too_little = 0;
  int64_t loss = range;  // keeps the first point and the last one
  while (loss - too_little > 1 + range / 1024) {
    const int64_t middle = too_little + (loss - too_little) / 2;
    const bool few = CountKept(front, middle, [](size_t) {}) <= max_points;
    (few ? loss : too_little) = middle;
  }
  Front kept;
  CountKept(front, loss, [&](size_t i) { kept.push_back(front[i]); });
  std::reverse(kept.begin(), kept.end());
  front = std::move(kept);
  return loss;
}

}  // namespace

int64_t Traces::Join(int64_t a, int64_t b) {
  if (a == kEmpty) return b;
  if (b == kEmpty) return a;
  joins_.emplace_back(a, b);
  return static_cast<int64_t>(joins_.size());
}

std::vector<int64_t> Traces::LeavesOf(int64_t trace) const {
  std::vector<int64_t> leaves;
  std::vector<int64_t> open = {trace};
  while (!open.empty()) {
    const int64_t next = open.back();
    open.pop_back();
    if (next < 0) {
      leaves.push_back(-1 - next);
    } else if (next != kEmpty) {
      open.push_back(joins_[static_cast<size_t>(next - 1)].first);
      open.push_back(joins_[static_cast<size_t>(next - 1)].second);
    }
  }
  return leaves;
}

int64_t Trim(Front& points, const FrontRules& rules) {
  if (!rules.weigh_bytes) {
    KeepFastest(points);
    return 0;
  }
  KeepNotDominated(points);
  return ThinOut(points, rules.max_points);
}

int64_t Join(std::span<const Point> a, std::span<const Point> b, const FrontRules& rules,
             Traces& traces, Front& sums) {
  sums.clear();
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      sums.push_back(Sum(a[i], b[j]));
      sums.back().trace = static_cast<int64_t>(i * b.size() + j);  // until the front is known
    }
  }
  const bool is_front = a.size() == 1 || b.size() == 1;
  const int64_t loss = is_front && rules.weigh_bytes ? 0 : Trim(sums, rules);
  for (Point& sum : sums) {
    const size_t pair = static_cast<size_t>(sum.trace);
    sum.trace = traces.Join(a[pair / b.size()].trace, b[pair % b.size()].trace);
  }
  return loss;
}

}  // namespace intaglio::nn::tune
