// The profiler, on a clock that follows a script.
#include "intaglio/nn/tune/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "intaglio/nn/tune/pairs.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

// Layers with ways that take known times. Two of five samples are disturbed.
class ScriptedStage final : public Stage {
 public:
  ScriptedStage(std::vector<std::vector<double>> times, uint32_t seed)
      : times_(std::move(times)), random_(seed) {}

  Status Run(size_t variant, std::span<nanoseconds> times) override {
    ++runs;
    runs_of.resize(std::max(runs_of.size(), variant + 1));
    ++runs_of[variant];
    for (size_t i = 0; i < times.size(); ++i) {
      const double ns = times_[i][variant < times_[i].size() ? variant : 0] * Disturbance();
      times[i] = nanoseconds(static_cast<int64_t>(ns));
      now_ += times[i];
    }
    return runs == fails_at ? Unsupported("run " + std::to_string(runs)) : Status();
  }
  Status RunControl(std::span<nanoseconds> times) override { return Run(0, times); }
  nanoseconds Now() override { return now_; }

  int runs = 0;
  int fails_at = -1;
  std::vector<int> runs_of;

 private:
  double Disturbance() {
    std::uniform_real_distribution<double> unit(0, 1);
    const double jitter = 1 + 0.004 * unit(random_);
    return unit(random_) < 0.4 ? jitter * (1.02 + 3 * unit(random_)) : jitter;
  }

  std::vector<std::vector<double>> times_;
  std::mt19937 random_;
  nanoseconds now_{0};
};

struct Script {
  std::vector<std::vector<double>> times;
  std::vector<size_t> counts;
  std::vector<size_t> fastest;
};

// Ways differ by 5 % and more from each other.
Script MakeScript(uint32_t seed) {
  std::mt19937 random(seed);
  Script script;
  for (int layer = 0; layer < 12; ++layer) {
    const size_t count = 1 + random() % 5;
    std::vector<double> factors = {0.55, 0.7, 0.8, 0.9, 0.95, 1, 1.3, 3};
    std::shuffle(factors.begin(), factors.end(), random);
    factors.resize(count);
    std::vector<double>& times = script.times.emplace_back();
    for (const double factor : factors) times.push_back(50000.0 * (1 + layer) * factor);
    script.counts.push_back(count);
    script.fastest.push_back(
        static_cast<size_t>(std::min_element(times.begin(), times.end()) - times.begin()));
  }
  return script;
}

TEST(Profile, FindsTheFastestWaysThoughTimesAreDisturbed) {
  int right = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const Script script = MakeScript(seed);
    ScriptedStage stage(script.times, seed + 1000);
    const auto profiles = Profile(stage, script.counts, {});
    ASSERT_TRUE(profiles.ok());
    std::vector<size_t> found;
    for (const LayerProfile& profile : *profiles) found.push_back(FastestWay(profile));
    right += found == script.fastest ? 1 : 0;
  }
  EXPECT_GE(right, 99);
}

TEST(Profile, TakesTheDefaultWhereNothingIsFaster) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    ScriptedStage stage({{10000, 10000, 10050}, {20000, 19950}}, seed);
    const std::vector<size_t> counts = {3, 2};
    const auto profiles = Profile(stage, counts, {});
    ASSERT_TRUE(profiles.ok());
    for (const LayerProfile& profile : *profiles) EXPECT_EQ(FastestWay(profile), 0u) << seed;
  }
}

TEST(Profile, SoonStopsWhatIsFarBehind) {
  ScriptedStage stage({{10000, 30000, 9000}}, 5);
  const std::vector<size_t> counts = {3};
  const auto profiles = Profile(stage, counts, {});
  ASSERT_TRUE(profiles.ok());
  EXPECT_TRUE((*profiles)[0].ways[1].dropped);
  EXPECT_LE((*profiles)[0].ways[1].runs, 5u);
  EXPECT_EQ((*profiles)[0].ways[2].runs, ProfileOptions().most_rounds);
  EXPECT_EQ(FastestWay((*profiles)[0]), 2u);
}

TEST(Profile, KeepsItsBudget) {
  ScriptedStage stage({{1e6, 0.9e6}}, 6);
  const std::vector<size_t> counts = {2};
  ProfileOptions options = {.budget = std::chrono::milliseconds(60)};
  double last = 0;
  options.progress = [&](double share) {
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1);
    last = share;
  };
  ASSERT_TRUE(Profile(stage, counts, options).ok());
  EXPECT_GE(stage.Now(), options.budget);
  EXPECT_LE(stage.Now(), options.budget + std::chrono::milliseconds(4));  // the longest run
  EXPECT_EQ(last, 1);
  ScriptedStage fewest({{1e6, 0.9e6}}, 7);
  const auto profiles = Profile(fewest, counts, {.budget = nanoseconds(0)});
  ASSERT_TRUE(profiles.ok());
  EXPECT_EQ(fewest.runs, 2);  // the control and the default
  EXPECT_EQ((*profiles)[0].ways[1].runs, 0u);
  EXPECT_FALSE((*profiles)[0].ways[1].dropped);
  EXPECT_EQ(FastestWay((*profiles)[0]), 0u);
}

TEST(Profile, GivesTheErrorOfARun) {
  ScriptedStage stage({{1000, 900}}, 8);
  stage.fails_at = 7;
  const std::vector<size_t> counts = {2};
  EXPECT_EQ(Profile(stage, counts, {}).status().message(), "run 7");
}

TEST(Pairs, AnIntervalHoldsTheMedianIn95Of100Cases) {
  std::mt19937 random(9);
  std::lognormal_distribution<double> ratio(0, 0.3);  // its median is 1
  int held = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> ratios(31);
    for (double& r : ratios) r = ratio(random);
    const MedianRatio median = MedianOf(ratios);
    held += median.low <= 1 && 1 <= median.high ? 1 : 0;
  }
  EXPECT_GE(held, 950);
  EXPECT_LT(held, 1000);
  EXPECT_GT(MedianOf({}).high, 1);
  EXPECT_GT(MedianOf({0.5}).high, 1);  // one pair proves nothing
}

}  // namespace
}  // namespace intaglio::nn::tune
