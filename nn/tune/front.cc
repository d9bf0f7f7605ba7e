#include "intaglio/nn/tune/front.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

namespace intaglio::nn::tune {
namespace {

Point Sum(const Point& a, const Point& b) {
  return {a.cost + b.cost, a.bytes + b.bytes, a.difference + b.difference, a.rank + b.rank,
          Traces::kEmpty};
}

bool Faster(const Point& a, const Point& b) {
  return std::tie(a.cost, a.rank) < std::tie(b.cost, b.rank);
}

bool FasterOrSmaller(const Point& a, const Point& b) {
  return std::tie(a.cost, a.bytes, a.difference, a.rank) <
         std::tie(b.cost, b.bytes, b.difference, b.rank);
}

void KeepFastest(Front& points) {
  if (points.size() <= 1) return;
  points.front() = *std::min_element(points.begin(), points.end(), Faster);
  points.resize(1);
}

void DropBeyond(Front& points, const FrontRules& rules) {
  std::erase_if(points, [&](const Point& point) {
    return point.bytes > rules.max_bytes || point.difference > rules.max_difference;
  });
}

// Bytes and differences of points that cost no more: by increasing bytes and decreasing difference.
class Stairs {
 public:
  // False if some step has neither more bytes nor more difference.
  bool Add(const Point& point) {
    auto next = steps_.upper_bound(point.bytes);
    if (next != steps_.begin() && std::prev(next)->second <= point.difference) return false;
    next = steps_.lower_bound(point.bytes);
    while (next != steps_.end() && next->second >= point.difference) next = steps_.erase(next);
    steps_.emplace_hint(next, point.bytes, point.difference);
    return true;
  }

 private:
  std::map<int64_t, int64_t> steps_;
};

void KeepNotDominated(Front& points) {
  std::stable_sort(points.begin(), points.end(), FasterOrSmaller);
  Stairs stairs;
  std::erase_if(points, [&](const Point& point) { return !stairs.Add(point); });
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

// For a front whose points differ in one amount only.
int64_t ThinOutLine(Front& front, size_t max_points) {
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

bool IsLine(const Front& front) {
  const auto all_equal = [&](int64_t Point::*amount) {
    return std::all_of(front.begin(), front.end(),
                       [&](const Point& p) { return p.*amount == front[0].*amount; });
  };
  return all_equal(&Point::bytes) || all_equal(&Point::difference);
}

// The points with the least difference, and then those of equal ranges of it.
std::vector<Front> ByDifference(const Front& front, int64_t ranges) {
  const auto [least, most] = std::minmax_element(
      front.begin(), front.end(),
      [](const Point& a, const Point& b) { return a.difference < b.difference; });
  const int64_t width = 1 + (most->difference - least->difference - 1) / ranges;
  std::vector<Front> parts(static_cast<size_t>(1 + ranges));
  for (const Point& point : front) {
    const int64_t beyond = point.difference - least->difference;
    parts[beyond == 0 ? 0 : static_cast<size_t>(1 + (beyond - 1) / width)].push_back(point);
  }
  return parts;
}

int64_t ThinOut(Front& front, size_t max_points) {
  if (front.size() <= max_points) return 0;
  if (IsLine(front)) return ThinOutLine(front, max_points);
  const int64_t range = front.back().cost - front.front().cost;
  const auto ranges = static_cast<size_t>(std::sqrt(static_cast<double>(max_points)));
  Front kept;
  for (Front& part : ByDifference(front, static_cast<int64_t>(ranges))) {
    int64_t least = std::numeric_limits<int64_t>::max();
    std::erase_if(part, [&](const Point& point) {
      return point.bytes >= std::exchange(least, std::min(least, point.bytes));
    });
    ThinOutLine(part, std::max<size_t>(2, max_points / (1 + ranges)));
    kept.insert(kept.end(), part.begin(), part.end());
  }
  std::stable_sort(kept.begin(), kept.end(), FasterOrSmaller);
  front = std::move(kept);
  return std::max<int64_t>(1, range);
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
  if (!rules.weigh_amounts) {
    KeepFastest(points);
    return 0;
  }
  DropBeyond(points, rules);
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
  const bool is_front = rules.weigh_amounts && (a.size() == 1 || b.size() == 1);
  if (is_front) DropBeyond(sums, rules);
  const int64_t loss = is_front ? 0 : Trim(sums, rules);
  for (Point& sum : sums) {
    const size_t pair = static_cast<size_t>(sum.trace);
    sum.trace = traces.Join(a[pair / b.size()].trace, b[pair % b.size()].trace);
  }
  return loss;
}

}  // namespace intaglio::nn::tune
