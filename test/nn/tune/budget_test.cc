// The time that a tuning takes, on clocks that follow a script.
#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/tune/schedule.h"
#include "intaglio/nn/tune/timings.h"
#include "intaglio/nn/tune/tune.h"
#include "intaglio/nn/tune/turns.h"
#include "intaglio/test/nn/tune/network.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Whatever is done between two looks at the clock takes from 1 to `most` milliseconds.
class SlowClock {
 public:
  SlowClock(int most, unsigned seed) : most_(most), random_(seed) {}
  nanoseconds operator()() {
    return now_ += milliseconds(1 + random_() % static_cast<unsigned>(most_));
  }
  nanoseconds now() const { return now_; }

 private:
  int most_;
  std::mt19937 random_;
  nanoseconds now_{0};
};

// Networks that take known times, of which two in five are disturbed by default.
struct Script {
  std::vector<double> milliseconds_of;
  std::mt19937 random;
  double disturbed = 0.4;
  nanoseconds now{0};
  std::vector<size_t> runs = std::vector<size_t>(milliseconds_of.size() + 1);

  Result<Turns> Take(std::vector<Contender> contenders, nanoseconds end) {
    return TakeTurns({.contenders = std::move(contenders),
                      .now = [this] { return now; },
                      .end = end,
                      .run =
                          [this](size_t i) {
                            ++runs[i];
                            std::uniform_real_distribution<double> share(0, 1);
                            const double slower = share(random) < disturbed ? 3 * share(random)
                                                                            : 0.01 * share(random);
                            const double ms = milliseconds_of[i < milliseconds_of.size() ? i : 0];
                            now += nanoseconds(static_cast<int64_t>(ms * 1e6 * (1 + slower)));
                            return Status();
                          }});
  }
};

TEST(Budget, IsKept) {
  const Graph graph = MakeNetwork();
  for (const bool allow_float32 : {false, true}) {
    for (const int seconds : {1, 3, 10}) {
      for (const unsigned seed : {1u, 2u, 3u}) {
        SlowClock clock(8, seed);
        TuneOptions options = {.budget = std::chrono::seconds(seconds)};
        options.prepare.threads = 2;
        options.allow_float32 = allow_float32;
        options.clock = [&] { return clock(); };
        const Result<Tuning> tuning = Tune(graph, options);
        ASSERT_TRUE(tuning.ok()) << tuning.status().message();
        EXPECT_LE(clock.now(), options.budget * 11 / 10) << seconds << " " << seed;
        EXPECT_GT(tuning->layers[1].ways.size(), 1u);
        for (const LayerReport& layer : tuning->layers) EXPECT_GT(layer.ways[0].ns, 0);
      }
    }
  }
}

// Where all is known, nothing is measured or compared again, and the same is picked.
TEST(Budget, WhatIsKnownTakesNoTime) {
  const Graph graph = MakeNetwork();
  for (const bool allow_float32 : {false, true}) {
    for (const unsigned seed : {1u, 2u, 3u}) {
      Timings timings;
      const auto tune = [&](int& compared) {
        SlowClock clock(8, seed);
        TuneOptions options = {.budget = kPlenty};
        options.allow_float32 = allow_float32;
        options.timings = &timings;
        options.clock = [&] { return clock(); };
        options.progress = [&](const std::string& what, double) {
          compared += what == "comparing whole networks" ? 1 : 0;
        };
        const Result<Tuning> tuning = Tune(graph, options);
        EXPECT_TRUE(tuning.ok()) << tuning.status().message();
        return std::pair(tuning.ok() ? ToJson(tuning->plan) : "", clock.now());
      };
      int turns = 0;
      const auto [cold, cold_time] = tune(turns);
      EXPECT_GT(turns, 0);
      int again = 0;
      const auto [warm, warm_time] = tune(again);
      EXPECT_EQ(again, 0) << seed;
      EXPECT_LT(warm_time, milliseconds(1000));
      EXPECT_GT(cold_time, 5 * warm_time);
      const Result<Plan> first = ParsePlan(cold);
      const Result<Plan> second = ParsePlan(warm);
      ASSERT_TRUE(first.ok() && second.ok());
      ASSERT_EQ(first->layers.size(), second->layers.size());
      for (size_t i = 0; i < first->layers.size(); ++i) {
        EXPECT_EQ(first->layers[i].layer, second->layers[i].layer);
        EXPECT_EQ(first->layers[i].chosen.routine, second->layers[i].chosen.routine);
        EXPECT_EQ(first->layers[i].chosen.kernel, second->layers[i].chosen.kernel);
      }
    }
  }
}

// A budget leaves out what it has no time for. The same tuning again does not go on with that, but
// one with more time does.
TEST(Budget, TheSameTuningAgainLeavesOutTheSame) {
  struct Outcome {
    size_t ways = 0;
    int steps = 0;  // of measuring and comparing
    nanoseconds time{0};
  };
  const Graph graph = MakeNetwork();
  for (const bool allow_float32 : {false, true}) {
    for (const int most : {10, 40, 400}) {
      Timings timings;
      const auto tune = [&](nanoseconds budget, size_t memory_bytes = 0) {
        SlowClock clock(most, 1);
        Outcome outcome;
        TuneOptions options = {.budget = budget};
        options.allow_float32 = allow_float32;
        options.memory_bytes = memory_bytes;
        options.timings = &timings;
        options.clock = [&] { return clock(); };
        options.progress = [&](const std::string&, double) { ++outcome.steps; };
        const Result<Tuning> tuning = Tune(graph, options);
        EXPECT_TRUE(tuning.ok()) << tuning.status().message();
        if (!tuning.ok()) return outcome;
        for (const LayerReport& layer : tuning->layers) outcome.ways += layer.ways.size();
        outcome.time = clock.now();
        return outcome;
      };
      const Outcome first = tune(milliseconds(400));
      const Outcome again = tune(milliseconds(400));
      EXPECT_GT(first.steps, 0);
      EXPECT_EQ(again.steps, 0) << allow_float32 << " " << most;
      EXPECT_EQ(again.ways, first.ways) << allow_float32 << " " << most;
      EXPECT_LE(again.time, first.time);
      // With a limit, what was left out may be what is needed.
      if (most == 400) {
        EXPECT_GT(tune(milliseconds(400), 1 << 30).steps, 0);
      }
      const Outcome longer = tune(kPlenty);
      EXPECT_GE(longer.ways, first.ways + (most == 400 ? 1 : 0));
      EXPECT_GT(longer.steps, 0);
      EXPECT_EQ(tune(kPlenty).steps, 0);
      EXPECT_EQ(tune(milliseconds(400)).steps, 0);
    }
  }
}

TEST(Budget, AnyBudgetMakesTimingsThatCanBeRead) {
  const Graph graph = MakeNetwork();
  for (const nanoseconds budget : {nanoseconds(0), nanoseconds(1), nanoseconds(1LL << 60)}) {
    Timings timings;
    SlowClock clock(10, 1);
    TuneOptions options = {.budget = budget};
    options.timings = &timings;
    options.clock = [&] { return clock(); };
    ASSERT_TRUE(Tune(graph, options).ok());
    Timings again;
    const Status status = again.Read(timings.ToText());
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

// The first run of a variant fills caches, so one run alone says little.
TEST(Budget, FewWaysAreRunOftenInsteadOfManyOnce) {
  const Graph graph = MakeNetwork();
  nanoseconds now{0};
  Timings timings;
  TuneOptions options = {.budget = milliseconds(5000)};
  options.timings = &timings;
  options.clock = [&] { return now += milliseconds(100); };
  ASSERT_TRUE(Tune(graph, options).ok());
  int ways = 0;
  std::istringstream lines(timings.ToText());
  for (std::string line; std::getline(lines, line);) {
    const bool is_way = line.find(" control ") == line.npos && line.find("CONV_2D ") != line.npos;
    if (!is_way) continue;
    ++ways;
    EXPECT_GE(std::stoi(line.substr(line.rfind(' '))), 4) << line;
  }
  EXPECT_GT(ways, 2);
}

// What turns have found out is kept: a network is faster there if it is beyond doubt.
TEST(Budget, VerdictsAreThoseOfTheTurns) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::vector<Contender> all = {{}, {}, {.bounded = true}};
    const auto check = [&](const std::vector<double>& ms, bool is_plain) {
      Script script = {ms, std::mt19937(seed)};
      const Result<Turns> turns = script.Take(all, std::chrono::seconds(60));
      ASSERT_TRUE(turns.ok());
      const double floor = FloorOf(*turns, 3);
      std::vector<double> ns;
      for (const Verdict& verdict : VerdictsOf(*turns, all, floor)) {
        EXPECT_GT(verdict.turns, 0u);
        ns.push_back(verdict.ns);
      }
      if (is_plain) {
        EXPECT_EQ(PickKnown(ns, all), PickNetwork(*turns, all, floor)) << seed;
      }
    };
    check({20, 15, 30}, true);
    check({20, 30, 10}, true);
    check({20, 20, 20}, true);
    check({20, 40, 40}, true);
    check({20, 19.9, 19.9}, true);
    check({20, 15, 14}, false);  // either may be picked, because turns compare these two as well
  }
  Script brief = {{20, 19}, std::mt19937(7)};
  const Result<Turns> turns = brief.Take({{}, {}}, milliseconds(300));
  ASSERT_TRUE(turns.ok());
  EXPECT_EQ(VerdictsOf(*turns, {{}, {}}, 0)[1].turns, 0u);
  // What does not fit is not picked.
  EXPECT_EQ(PickKnown({20, 10}, {{}, {.fits = false}}), 0u);
  EXPECT_EQ(PickKnown({20, 30}, {{.fits = false}, {}}), 1u);
  EXPECT_EQ(PickKnown({20, 19.8}, {{}, {.bounded = true}}), 0u);
  EXPECT_EQ(PickKnown({20}, {{.fits = false}}), 1u);
}

// What there is no time for is left out, and the plan is still one.
TEST(Budget, TooLittleLeavesTheDefault) {
  const Graph graph = MakeNetwork();
  SlowClock clock(100, 4);
  TuneOptions options = {.budget = nanoseconds(0)};
  options.clock = [&] { return clock(); };
  const Result<Tuning> tuning = Tune(graph, options);
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  EXPECT_LT(clock.now(), milliseconds(2000));
  EXPECT_TRUE(tuning->plan.layers.empty());
  EXPECT_EQ(tuning->plan.networks[0].name, "untuned");
}

TEST(Budget, IsAsMuchAsTheNetworkIsWorth) {
  const auto spent = [](const Effort& effort) {
    Schedule schedule(nanoseconds(-1), [] { return nanoseconds(0); });
    schedule.Plan(effort);
    EXPECT_LT(schedule.EndOfOwnForm(), schedule.end());
    EXPECT_LE(schedule.EndOfOwnForm(), schedule.EndOfOtherForm());
    EXPECT_LT(schedule.EndOfOtherForm(), schedule.EndOfTurns());
    EXPECT_LE(schedule.EndOfTurns(), schedule.end());
    return schedule.end();
  };
  EXPECT_LE(spent({milliseconds(10), milliseconds(3)}), milliseconds(3000));  // a MobileNet
  EXPECT_LE(spent({milliseconds(10), milliseconds(3), true}), milliseconds(3000));
  EXPECT_LE(spent({milliseconds(70), milliseconds(22)}), milliseconds(5000));          // ResNet-50
  EXPECT_LE(spent({milliseconds(500), milliseconds(75), true}), milliseconds(20000));  // VGG16
  EXPECT_LE(spent({std::chrono::seconds(9), std::chrono::seconds(9)}), milliseconds(20000));
}

TEST(Budget, TurnsEndWhenItIsClearWhatToTake) {
  int picked = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Script faster = {{20, 15}, std::mt19937(seed)};
    const Result<Turns> turns = faster.Take({{}, {}}, std::chrono::seconds(60));
    ASSERT_TRUE(turns.ok());
    picked += PickNetwork(*turns, {{}, {}}, FloorOf(*turns, 2)) == 1 ? 1 : 0;
    // As long as there is time, even a great gain gets all the turns that the rule is for.
    Script great = {{20, 5}, std::mt19937(seed)};
    const Result<Turns> of_great = great.Take({{}, {}}, std::chrono::seconds(60));
    ASSERT_TRUE(of_great.ok());
    EXPECT_EQ(of_great->count(), kFewestTurns);
    Script slower = {{20, 60, 30}, std::mt19937(seed)};
    ASSERT_TRUE(slower.Take({{}, {}, {}}, std::chrono::seconds(60)).ok());
    EXPECT_LT(slower.runs[0], kFewestTurns) << seed;
    Script alone = {{20}, std::mt19937(seed)};
    ASSERT_TRUE(alone.Take({{}}, std::chrono::seconds(60)).ok());
    EXPECT_EQ(alone.runs[0], 5u);
  }
  EXPECT_GE(picked, 95);
}

TEST(Budget, TurnsStopAtTheEndAndFewConvinceNobody) {
  Script script = {{20, 10}, std::mt19937(6)};
  const Result<Turns> turns = script.Take({{}, {}}, milliseconds(900));
  ASSERT_TRUE(turns.ok());
  EXPECT_LT(turns->count(), kFewestTurns);
  EXPECT_LE(script.now, milliseconds(900 + 4 * 50));
  EXPECT_EQ(PickNetwork(*turns, {{}, {}}, 0), 0u);
  // A network that is slower than one that does not fit stays.
  Script limited = {{20, 60}, std::mt19937(6)};
  ASSERT_TRUE(limited.Take({{.fits = false}, {}}, std::chrono::seconds(60)).ok());
  EXPECT_EQ(limited.runs[0], limited.runs[1]);
}

// A small gain takes many turns. There is time for them unless they are most of
// the budget.
TEST(Budget, HasTimeToDecide) {
  const std::vector<Contender> two = {{}, {.bounded = true}};
  const auto picks = [&](int budget_ms, int run_ms, double tuned_ms) {
    int picked = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
      nanoseconds now{0};
      Schedule schedule(milliseconds(budget_ms), [&] { return now; });
      schedule.Plan({milliseconds(run_ms), milliseconds(run_ms)});
      EXPECT_GE(schedule.EndOfOwnForm(), milliseconds(budget_ms) * 35 / 100);
      now = schedule.EndOfDifferences() + milliseconds(2 * run_ms);  // preparing what was selected
      Script script = {{static_cast<double>(run_ms), tuned_ms}, std::mt19937(seed), 0.01, now};
      const Result<Turns> turns = script.Take(two, schedule.EndOfTurns());
      EXPECT_TRUE(turns.ok());
      picked += turns.ok() && PickNetwork(*turns, two, FloorOf(*turns, 2)) == 1 ? 1 : 0;
    }
    return picked;
  };
  EXPECT_EQ(picks(15000, 76, 72.5), 20);  // as slow as ResNet-50 in float32
  EXPECT_EQ(picks(13000, 76, 72.5), 20);
  EXPECT_EQ(picks(-1, 76, 72.5), 20);
  EXPECT_EQ(picks(5000, 76, 72.5), 0);
  EXPECT_EQ(picks(5000, 76, 45), 20);
}

// Where there is no time for enough turns of all, the slowest drop out early.
TEST(Budget, TheFastestGetTheTurns) {
  const std::vector<Contender> exact = {{}, {}, {}, {}};
  const std::vector<double> ms = {20, 19.5, 16, 19};
  int picked = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Script script = {ms, std::mt19937(seed), 0.01};
    const Result<Turns> turns = script.Take(exact, milliseconds(2100));
    ASSERT_TRUE(turns.ok());
    EXPECT_GE(turns->count(), kFewestTurns) << seed;
    EXPECT_LT(turns->count(1), kFewestTurns) << seed;
    EXPECT_EQ(VerdictsOf(*turns, exact, 0)[1].turns, 0u) << seed;  // more time may show a gain
    picked += PickNetwork(*turns, exact, FloorOf(*turns, 4)) == 2 ? 1 : 0;
    // With more time, none drops out.
    Script long_one = {ms, std::mt19937(seed), 0.01};
    const Result<Turns> all = long_one.Take(exact, milliseconds(4000));
    ASSERT_TRUE(all.ok());
    EXPECT_GE(all->count(1), kFewestTurns) << seed;
    // With far less, none does either, because nothing could be decided by it.
    Script brief = {ms, std::mt19937(seed), 0.01};
    const Result<Turns> few = brief.Take(exact, milliseconds(1100));
    ASSERT_TRUE(few.ok());
    EXPECT_EQ(few->count(1), few->count(0)) << seed;
    // A bounded network that is hardly faster than an exact one must not take its turns.
    Script bounded = {{20, 15, 15.5}, std::mt19937(seed), 0.01};
    const std::vector<Contender> mixed = {{}, {.bounded = true}, {}};
    const Result<Turns> of_mixed = bounded.Take(mixed, milliseconds(1900));
    ASSERT_TRUE(of_mixed.ok());
    EXPECT_EQ(PickNetwork(*of_mixed, mixed, FloorOf(*of_mixed, 3)), 2u) << seed;
  }
  EXPECT_GE(picked, 99);
}

}  // namespace
}  // namespace intaglio::nn::tune
