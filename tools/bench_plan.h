// How many runs a benchmark makes.
#ifndef INTAGLIO_TOOLS_BENCH_PLAN_H_
#define INTAGLIO_TOOLS_BENCH_PLAN_H_

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace intaglio::tools {

struct BenchPlan {
  using Seconds = std::chrono::duration<double>;

  Seconds time;  // how long to measure

  // `last` is how long the last of the runs took.
  bool WarmedUp(size_t runs, Seconds last) const { return runs >= (IsSlow(last) ? 1u : 2u); }

  // `passed` is the time since the first measured run began.
  bool Done(size_t runs, Seconds last, Seconds passed) const {
    constexpr size_t kMaxRuns = 100000;
    return runs >= kMaxRuns || (runs >= (IsSlow(last) ? 1u : 5u) && passed >= time);
  }

 private:
  // A run is slow if it takes longer than all runs together should. Nobody wants to wait for
  // several of these.
  bool IsSlow(Seconds run) const { return run > std::max(time, Seconds(1)); }
};

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_BENCH_PLAN_H_
