#include "intaglio/tools/bench_plan.h"

#include <gtest/gtest.h>

namespace intaglio::tools {
namespace {

using Seconds = BenchPlan::Seconds;

// All runs take the same time.
size_t WarmUpRuns(double time, double run) {
  size_t runs = 0;
  while (!BenchPlan{Seconds(time)}.WarmedUp(runs, Seconds(runs > 0 ? run : 0))) ++runs;
  return runs;
}

size_t MeasuredRuns(double time, double run) {
  size_t runs = 0;
  const auto done = [&] {
    return BenchPlan{Seconds(time)}.Done(runs, Seconds(run),
                                         Seconds(run * static_cast<double>(runs)));
  };
  while (!done()) ++runs;
  return runs;
}

TEST(BenchPlan, RunsForTheTime) {
  EXPECT_EQ(WarmUpRuns(1, 0.125), 2u);
  EXPECT_EQ(MeasuredRuns(1, 0.125), 8u);
  EXPECT_EQ(MeasuredRuns(1, 0.75), 5u);
  EXPECT_EQ(MeasuredRuns(0, 0.75), 5u);
  EXPECT_EQ(MeasuredRuns(3600, 0.001), 100000u);
}

TEST(BenchPlan, OneSlowRunIsEnough) {
  for (const double time : {0.0, 1.0, 6.0}) {
    EXPECT_EQ(WarmUpRuns(time, 7), 1u);
    EXPECT_EQ(MeasuredRuns(time, 7), 1u);
  }
  EXPECT_EQ(WarmUpRuns(20, 7), 2u);
  EXPECT_EQ(MeasuredRuns(20, 7), 5u);
}

}  // namespace
}  // namespace intaglio::tools
