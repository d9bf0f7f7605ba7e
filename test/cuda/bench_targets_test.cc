// The verdicts of bench_cuda.
#include <gtest/gtest.h>

#include "intaglio/bench/cuda/targets.h"

namespace intaglio::bench {
namespace {

std::vector<std::string> Lines(const std::vector<Figures>& all) {
  const std::string text = TargetLines(all, /*memory=*/4e6);
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

void ExpectEnd(const std::string& line, const std::string& end) {
  EXPECT_TRUE(line.ends_with(end)) << line;
}

TEST(BenchTargets, AreComputedFromTheirCases) {
  const auto lines = Lines({
      {{"large 8192^3", 8192, 8192, 8192}, {{kFused, 800}, {kRaw, 780}, {kLt, 760}}},
      {{"large 1024 x", 1024, 8192, 21760}, {{kFused, 200}, {kRaw, 200}, {kLt, 210}}},
      {{"resnet a", 100, 64, 64}, {{kFused, 10}, {kLtRequantized, 20}}},
      {{"transformer b", 100, 64, 64}, {{kFused, 10}, {kLtRequantized, 5}}},
      {{"few rows 17", 17, 8192, 8192}, {{kFused, 21}}},
      {{"few rows 16", 16, 8192, 8192}, {{kFused, 20}}},
      {{"few rows 1", 1, 64, 64}, {{kFused, 3}, {kLaunch, 2}}},
  });
  ASSERT_EQ(lines.size(), 7u);
  ExpectEnd(lines[0], "1374.39, wanted >= 1400.00: MISSED");
  ExpectEnd(lines[1], "1825.36, wanted >= 1400.00: met");
  ExpectEnd(lines[2], "0.95, wanted >= 1.00: MISSED");
  ExpectEnd(lines[3], "1.00, wanted >= 1.20: MISSED");
  ExpectEnd(lines[4], "1.03, wanted <= 1.03: met");
  ExpectEnd(lines[5], "1.50, wanted <= 1.30: MISSED");
  ExpectEnd(lines[6], "1.05, wanted <= 1.30: met");
}

TEST(BenchTargets, WhatWasNotMeasuredIsNotMet) {
  for (const std::string& line : Lines({})) ExpectEnd(line, ": n/a");
}

}  // namespace
}  // namespace intaglio::bench
