#include "intaglio/nn/tune/select.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "intaglio/test/nn/tune/brute_force.h"
#include "intaglio/test/nn/tune/random_problems.h"
#include "intaglio/test/rounds.h"

namespace intaglio::nn::tune {
namespace {

// True if the problem has a solution.
bool ExpectFastest(const Problem& problem) {
  const BruteForce truth(problem);
  const auto [time, rank] = truth.Fastest();
  const Result<Selection> selected = Select(problem);
  if (std::isinf(time)) {
    EXPECT_FALSE(selected.ok());
    EXPECT_EQ(selected.status().code(), StatusCode::kUnsupported);
    return false;
  }
  EXPECT_TRUE(selected.ok()) << selected.status().message();
  if (!selected.ok()) return false;
  EXPECT_EQ(selected->nanoseconds, time);
  EXPECT_EQ(truth.TimeOf(selected->options), time);
  EXPECT_EQ(truth.BytesOf(selected->options), selected->bytes);
  EXPECT_EQ(std::accumulate(selected->options.begin(), selected->options.end(), 0), rank);
  return true;
}

// Compares lists of trade-offs. True if the problem has a solution.
bool ExpectTradeoffs(const Problem& problem, const SelectLimits& limits) {
  const BruteForce truth(problem);
  const auto front = truth.Front();
  const Result<Tradeoffs> found = SelectTradeoffs(problem, limits);
  EXPECT_EQ(found.ok(), !front.empty());
  if (!found.ok() || front.empty()) return false;
  const std::vector<Selection>& selections = found->selections;
  for (const Selection& selection : selections) {
    EXPECT_EQ(truth.TimeOf(selection.options), selection.nanoseconds);
    EXPECT_EQ(truth.BytesOf(selection.options), selection.bytes);
  }
  for (size_t i = 1; i < selections.size(); ++i) {
    EXPECT_GT(selections[i].nanoseconds, selections[i - 1].nanoseconds);
    EXPECT_LT(selections[i].bytes, selections[i - 1].bytes);
  }
  EXPECT_EQ(selections.front().nanoseconds, front.front().first);
  EXPECT_EQ(selections.front().bytes, front.front().second);
  EXPECT_EQ(selections.back().nanoseconds, front.back().first);
  EXPECT_EQ(selections.back().bytes, front.back().second);
  for (const auto& [time, bytes] : front) {
    const Result<Selection> within = FastestWithin(*found, bytes);
    EXPECT_TRUE(within.ok());
    if (!within.ok()) continue;
    EXPECT_LE(within->bytes, bytes);
    EXPECT_LE(within->nanoseconds, time + found->loss_nanoseconds);
  }
  if (found->loss_nanoseconds == 0) {
    EXPECT_EQ(selections.size(), front.size());
  }
  return true;
}

Numbers RandomNumbers(int round) {
  Numbers numbers;
  numbers.schemas = 1 + round % 4;
  numbers.most_options = 2 + round / 4 % 4;
  numbers.most_combinations = round % 500 == 499 ? 100'000 : 1'500;
  numbers.most_time = round % 3 == 0 ? 4 : 1000;
  numbers.most_adapter_time = round % 5 == 0 ? 3 : 600;
  numbers.percent_impossible = round % 7 < 4 ? 0 : round % 7 * 4;
  return numbers;
}

TEST(Select, FindsTheFastestOfAllCombinations) {
  constexpr int kRounds = test::RoundsOfSearch(12'000);
  int possible = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const unsigned seed = static_cast<unsigned>(round);
    const Numbers numbers = RandomNumbers(round);
    possible += ExpectFastest(round % 2 == 0 ? RandomGraph(seed, 10, numbers)
                                             : NestedBranches(seed, 10, numbers));
    if (HasFailure()) return;
  }
  EXPECT_GT(possible, kRounds * 3 / 4);
  EXPECT_LT(possible, kRounds);
}

TEST(Select, BranchesMayMeetInAnyOrder) {
  for (unsigned seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE(seed);
    Numbers numbers = RandomNumbers(static_cast<int>(seed));
    numbers.schemas = 2 + static_cast<int>(seed % 3);
    ExpectFastest(UnequalConstraints(seed, numbers));
    if (HasFailure()) return;
  }
}

TEST(Select, TradeoffsAreThoseOfAllCombinations) {
  constexpr int kRounds = test::RoundsOfSearch(2'000);
  int possible = 0;
  int thinned = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const unsigned seed = static_cast<unsigned>(round);
    Numbers numbers = RandomNumbers(round);
    numbers.most_bytes = round % 2 == 0 ? 5 : 1000;
    const Problem problem =
        round % 4 < 2 ? RandomGraph(seed, 8, numbers) : NestedBranches(seed, 8, numbers);
    possible += ExpectTradeoffs(problem, {.max_front = 4096});
    const SelectLimits few = {.max_front = 2 + seed % 5};
    if (ExpectTradeoffs(problem, few))
      thinned += SelectTradeoffs(problem, few)->loss_nanoseconds > 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(possible, kRounds * 3 / 4);
  EXPECT_GT(thinned, kRounds * 3 / 20);
}

// What is selected within two limits. True if anything is.
bool ExpectWithin(const Problem& problem, const SelectLimits& limits, bool is_exact) {
  const BruteForce truth(problem);
  const double time = truth.FastestWithin(limits.max_bytes, limits.max_difference);
  const Result<Tradeoffs> found = SelectTradeoffs(problem, limits);
  EXPECT_EQ(found.ok(), !std::isinf(time)) << found.status().message();
  if (!found.ok() || std::isinf(time)) return false;
  for (const Selection& selection : found->selections) {
    EXPECT_EQ(truth.TimeOf(selection.options), selection.nanoseconds);
    EXPECT_EQ(truth.BytesOf(selection.options), selection.bytes);
    EXPECT_EQ(truth.DifferenceOf(selection.options), selection.difference);
    EXPECT_LE(selection.bytes, limits.max_bytes);
    EXPECT_LE(selection.difference, limits.max_difference);
  }
  const auto within = FastestWithin(*found, limits.max_bytes, limits.max_difference);
  EXPECT_TRUE(within.ok());
  if (!within.ok()) return false;
  EXPECT_EQ(within->nanoseconds, time);
  // Every other pair of limits finds its selection in the list, if that is exact.
  for (const Selection& selection : found->selections) {
    const double best = truth.FastestWithin(selection.bytes, selection.difference);
    EXPECT_LE(best, selection.nanoseconds);
    if (is_exact) {
      EXPECT_EQ(found->loss_nanoseconds, 0);
      EXPECT_EQ(best, selection.nanoseconds);
    }
  }
  return true;
}

TEST(Select, TwoLimitsAtOnceAreThoseOfAllCombinations) {
  int possible = 0;
  for (int round = 0; round < 1'000; ++round) {
    SCOPED_TRACE(round);
    const unsigned seed = static_cast<unsigned>(round);
    Numbers numbers = RandomNumbers(round);
    numbers.most_combinations = 200;
    numbers.most_bytes = round % 2 == 0 ? 5 : 1000;
    numbers.most_difference = round % 3 == 0 ? 4 : 700;
    const Problem problem =
        round % 4 < 2 ? RandomGraph(seed, 8, numbers) : NestedBranches(seed, 8, numbers);
    const auto half = [&](int most) {
      return static_cast<int64_t>(problem.layers.size()) * most * (1 + round % 5) / 6;
    };
    const SelectLimits exact = {.max_front = 4096,
                                .max_bytes = half(numbers.most_bytes),
                                .max_difference = half(numbers.most_difference)};
    possible += ExpectWithin(problem, exact, true);
    // Fronts of few points are exact, too, if nothing was thinned out.
    SelectLimits few = exact;
    few.max_front = 2 + seed % 5;
    const Result<Tradeoffs> thin = SelectTradeoffs(problem, few);
    if (thin.ok() && thin->loss_nanoseconds == 0) ExpectWithin(problem, few, false);
    if (HasFailure()) return;
  }
  EXPECT_GT(possible, 400);
}

// Thinned out, fronts keep the selections at their ends, and within the limits that are asked for.
TEST(Select, FrontsOfThreeNumbersAreThinnedOut) {
  int thinned = 0;
  double worst = 1;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Numbers numbers = {.schemas = 2, .most_options = 6, .most_bytes = 1000};
    numbers.most_difference = 1000;
    const Problem problem = NestedBranches(seed, 30, numbers);
    const Result<Tradeoffs> all = SelectTradeoffs(problem, {.max_front = 4096});
    const Result<Tradeoffs> few = SelectTradeoffs(problem, {.max_front = 64});
    ASSERT_TRUE(all.ok() && few.ok());
    EXPECT_LE(few->selections.size(), 128u);
    thinned += few->loss_nanoseconds > 0 ? 1 : 0;
    int64_t bytes = 0;
    int64_t difference = 0;
    for (const Selection& selection : all->selections) {
      bytes = std::max(bytes, selection.bytes);
      difference = std::max(difference, selection.difference);
    }
    const auto best = FastestWithin(*all, bytes * 2 / 3, difference * 2 / 3);
    const Result<Tradeoffs> limited = SelectTradeoffs(
        problem, {.max_bytes = bytes * 2 / 3, .max_difference = difference * 2 / 3});
    ASSERT_EQ(best.ok(), limited.ok());
    if (!best.ok()) continue;
    const auto found = FastestWithin(*limited, bytes * 2 / 3, difference * 2 / 3);
    ASSERT_TRUE(found.ok());
    worst = std::max(worst, found->nanoseconds / best->nanoseconds);
  }
  EXPECT_GT(thinned, 10);
  EXPECT_LT(worst, 1.05);
}

// Two layers, each with a fast option of schema 1, read a tensor of schema 0.
Problem TwoReaders(double fast, double slow, double adapter) {
  Problem problem;
  problem.tensors = 3;
  for (const int written : {1, 2}) {
    problem.layers.push_back({{{0, slow, 0}, {1, fast, 0}}, {0}, {written}});
  }
  problem.inputs = {{0, 0}};
  problem.adapters = {{0, 0, 1, adapter}};
  return problem;
}

TEST(Select, ReadersShareACopy) {
  // For each layer alone, the copy would not pay.
  const Result<Selection> selected = Select(TwoReaders(10, 16, 10));
  ASSERT_TRUE(selected.ok());
  EXPECT_EQ(selected->options, (std::vector<int>{1, 1}));
  EXPECT_EQ(selected->nanoseconds, 30);
  ASSERT_EQ(selected->copies.size(), 1u);
  EXPECT_EQ(selected->copies[0].tensor, 0);
  EXPECT_EQ(selected->copies[0].from, 0);
  EXPECT_EQ(selected->copies[0].to, 1);
}

// Integers and float32 on the CPU, and integers on a device: 0, 1 and 2. Tensor 1 has two readers.
//
//   0 - layer 0 - 1 - layer 1 - 2 - layer 3 - 4
//                  `- layer 2 - 3 -'
Problem WithADevice(double to_device, double from_device) {
  constexpr double kCast = 10;
  Problem problem;
  problem.tensors = 5;
  problem.layers = {{{{0, 200}, {1, 150}, {2, 20}}, {0}, {1}},
                    {{{0, 200}, {1, 260}, {2, 20}}, {1}, {2}},
                    {{{0, 200}, {1, 260}, {2, 20}}, {1}, {3}},
                    {{{0, 5}, {1, 9}, {2, 40}}, {2, 3}, {4}}};
  problem.inputs = {{0, 0}};
  problem.outputs = {{4, 0}};
  for (int tensor = 0; tensor < problem.tensors; ++tensor) {
    for (const auto& [form, cast] : {std::pair{0, 0.0}, std::pair{1, kCast}}) {
      problem.adapters.push_back({tensor, form, 2, cast + to_device});
      problem.adapters.push_back({tensor, 2, form, cast + from_device});
    }
    problem.adapters.push_back({tensor, 0, 1, kCast});
    problem.adapters.push_back({tensor, 1, 0, kCast});
  }
  return problem;
}

// Times by a script stand for those of a device.
TEST(Select, ADeviceIsTakenWhereItGainsMoreThanTransfersCost) {
  const auto select = [](double to_device, double from_device) {
    const Problem problem = WithADevice(to_device, from_device);
    EXPECT_TRUE(ExpectFastest(problem));
    return *Select(problem);
  };
  // Two tensors come back, or one.
  const Selection near = select(50, 10);
  EXPECT_EQ(near.options, (std::vector<int>{2, 2, 2, 0}));
  EXPECT_EQ(near.nanoseconds, 3 * 20 + 5 + 50 + 2 * 10);
  EXPECT_EQ(select(50, 60).options, (std::vector<int>{2, 2, 2, 2}));
  // Dearer transfers, which still pay.
  const Selection later = select(120, 20);
  EXPECT_EQ(later.options, (std::vector<int>{2, 2, 2, 0}));
  const Selection far = select(900, 900);
  EXPECT_EQ(far.options, (std::vector<int>{1, 0, 0, 0}));
  EXPECT_EQ(far.copies.size(), 2u);
  const Selection never = select(kInfinity, kInfinity);
  EXPECT_EQ(never.options, far.options);
}

// The input is on the host and layer 0 has no form there, so that all transfers count.
TEST(Select, ReadersOnADeviceShareATransfer) {
  Problem problem = WithADevice(100, 0);
  problem.layers[0].options = {{0, 1}};
  ASSERT_TRUE(ExpectFastest(problem));
  const Selection shared = *Select(problem);
  EXPECT_EQ(shared.options, (std::vector<int>{0, 2, 2, 0}));
  EXPECT_EQ(shared.nanoseconds, 1 + 100 + 2 * 20 + 5);
  EXPECT_EQ(shared.copies.size(), 3u);  // there once, and two back
}

TEST(Select, TiesGoToTheDefaults) {
  const Result<Selection> selected = Select(TwoReaders(10, 15, 10));
  ASSERT_TRUE(selected.ok());
  EXPECT_EQ(selected->options, (std::vector<int>{0, 0}));
  EXPECT_TRUE(selected->copies.empty());
  Problem equal = TwoReaders(7, 7, 0);
  for (Problem::Layer& layer : equal.layers) layer.options.insert(layer.options.begin(), {1, 7, 9});
  EXPECT_EQ(Select(equal)->options, (std::vector<int>{0, 0}));
}

TEST(Select, SmallNetworks) {
  EXPECT_EQ(Select({})->nanoseconds, 0);
  Problem problem;  // an input that is an output in two schemas, and a tensor that nobody knows
  problem.tensors = 2;
  problem.inputs = {{1, 0}};
  problem.outputs = {{1, 0}, {1, 1}, {1, 1}};
  problem.adapters = {{1, 0, 1, 5}};
  EXPECT_EQ(Select(problem)->nanoseconds, 5);
  EXPECT_EQ(Select(problem)->copies.size(), 1u);
}

TEST(Select, FractionsOfNanosecondsAdd) {
  Problem problem;
  for (int i = 0; i < 1000; ++i) problem.layers.push_back({{{0, 0.125, 0}}, {}, {}});
  EXPECT_EQ(Select(problem)->nanoseconds, 125);
}

TEST(Select, FastestWithinALimit) {
  const Tradeoffs tradeoffs = {{{{0}, {}, 10, 300}, {{1}, {}, 20, 200}, {{2}, {}, 30, 100}}, 0};
  EXPECT_EQ(FastestWithin(tradeoffs, 1000)->nanoseconds, 10);
  EXPECT_EQ(FastestWithin(tradeoffs, 300)->nanoseconds, 10);
  EXPECT_EQ(FastestWithin(tradeoffs, 299)->nanoseconds, 20);
  EXPECT_EQ(FastestWithin(tradeoffs, 100)->nanoseconds, 30);
  EXPECT_EQ(FastestWithin(tradeoffs, 99).status().message(),
            "no selection keeps within 99 bytes: the smallest one needs 100");
}

TEST(Select, EvaluatesGivenOptions) {
  const Problem problem = TwoReaders(10, 16, 10);
  EXPECT_EQ(Evaluate(problem, {0, 0})->nanoseconds, 32);
  EXPECT_EQ(Evaluate(problem, {0, 1})->nanoseconds, 36);
  EXPECT_EQ(Evaluate(problem, {0}).status().message(), "1 options are given for 2 layers");
  EXPECT_EQ(Evaluate(problem, {0, 2}).status().message(), "layer 1 has no option 2");
  EXPECT_EQ(Evaluate(problem, {-1, 0}).status().message(), "layer 0 has no option -1");
  EXPECT_EQ(Evaluate(TwoReaders(10, 16, kInfinity), {0, 1}).status().message(),
            "no adapter converts tensor 0 from schema 0 to schema 1");
}

using Change = std::function<void(Problem&)>;

Status StatusOf(const Change& change) {
  Problem problem = TwoReaders(10, 16, 10);
  change(problem);
  const Status status = Select(problem).status();
  EXPECT_EQ(SelectTradeoffs(problem).status().message(), status.message());
  return status;
}

TEST(Select, RefusesProblemsThatAreWrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<Change, const char*> cases[] = {
      {[](Problem& p) { p.tensors = -1; }, "the problem has -1 tensors"},
      {[](Problem& p) { p.layers[1].options.clear(); }, "layer 1 has no options"},
      {[](Problem& p) { p.layers[1].options[1].nanoseconds = -1; },
       "layer 1, option 1 takes -1.000000 ns"},
      {[=](Problem& p) { p.layers[1].options[1].nanoseconds = nan; },
       "layer 1, option 1 takes NaN ns"},
      {[](Problem& p) { p.layers[0].options[0].nanoseconds = kInfinity; },
       "layer 0, option 0 takes infinity ns"},
      {[](Problem& p) { p.layers[0].options[0].bytes = -5; }, "layer 0, option 0 keeps -5 bytes"},
      {[](Problem& p) { p.layers[0].options[0].difference = -5; },
       "layer 0, option 0 has the difference -5"},
      {[](Problem& p) { p.layers[0].options[0].schema = -2; },
       "layer 0, option 0 has the schema -2, which is negative"},
      {[](Problem& p) { p.layers[0].reads = {3}; }, "layer 0 names the unknown tensor 3"},
      {[](Problem& p) { p.layers[0].writes = {-1}; }, "layer 0 names the unknown tensor -1"},
      {[](Problem& p) {
         p.outputs = {{7, 0}};
       },
       "output 0 names the unknown tensor 7"},
      {[](Problem& p) { p.inputs[0].schema = -1; }, "input 0 has the schema -1, which is negative"},
      {[](Problem& p) { p.inputs.clear(); },
       "tensor 0, which layer 0 reads, is neither an input nor written by a layer"},
      {[](Problem& p) { p.layers[1].writes = {1}; },
       "tensor 1 is written by both layer 0 and layer 1"},
      {[](Problem& p) {
         p.inputs.push_back({2, 0});
       },
       "tensor 2 is written by both layer 1 and input 1"},
      {[](Problem& p) { p.layers[0].reads = {1}; },
       "layer 0 is part of a cycle, or reads what one writes"},
      {[](Problem& p) {
         p.layers[0].reads = {2}, p.layers[1].reads = {0, 1};
       },
       "layer 0 is part of a cycle, or reads what one writes"},
      {[](Problem& p) { p.adapters[0].tensor = 9; }, "adapter 0 converts the unknown tensor 9"},
      {[](Problem& p) { p.adapters[0].nanoseconds = -0.5; }, "adapter 0 takes -0.500000 ns"},
      {[=](Problem& p) { p.adapters[0].nanoseconds = nan; }, "adapter 0 takes NaN ns"},
      {[](Problem& p) { p.adapters[0].to = -1; }, "adapter 0 has the schema -1, which is negative"},
      {[](Problem& p) { p.adapters[0].to = 0; },
       "adapter 0 converts tensor 0 from a schema to the same one"},
      {[](Problem& p) {
         p.adapters.push_back({0, 0, 1, 2});
       },
       "adapter 1 converts tensor 0 between the same schemas as one before it"},
      {[](Problem& p) { p.adapters[0].nanoseconds = 1e300; },
       "the times of all options and adapters come to 2^50 ns or more"},
      {[](Problem& p) { p.layers[0].options[1].nanoseconds = 2e15; },
       "the times of all options and adapters come to 2^50 ns or more"},
      {[](Problem& p) { p.layers[0].options[1].bytes = int64_t{1} << 62; },
       "the bytes of all options come to 2^62 or more"},
      {[](Problem& p) { p.layers[0].options[1].difference = int64_t{1} << 62; },
       "the differences of all options come to 2^62 or more"},
  };
  for (const auto& [change, message] : cases) {
    const Status status = StatusOf(change);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), message);
  }
  EXPECT_EQ(SelectTradeoffs({}, {.max_front = 1}).status().message(),
            "SelectLimits::max_front is 1, not from 2 to 4096");
}

TEST(Select, SaysThatNoSelectionIsPossible) {
  Status status = StatusOf([](Problem& p) { p.inputs[0].schema = 2; });
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "no adapter converts tensor 0 from any schema of input 0 to any schema of layer 0");
  // Each pair of neighbours fits, but not the whole: layer 0 ends in schema 1 or 2, and layer 1
  // gets along with schema 1, and the output with schema 2.
  status = StatusOf([](Problem& p) {
    p.layers[0] = {{{1, 1, 0}, {2, 1, 0}}, {}, {1}};
    p.layers[1] = {{{1, 1, 0}, {3, 1, 0}}, {1}, {2}};
    p.outputs = {{1, 2}};
    p.adapters = {{1, 1, 3, 1}};
  });
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "no selection is possible: whatever options are taken, an adapter is missing");
}

TEST(Select, LimitsItsMemory) {
  const Numbers numbers = {.schemas = 4, .most_options = 8};
  Status status = Select(Tangle(1, 80, numbers)).status();
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_NE(
      status.message().find("entries or more, but 4194304 are allowed (SelectLimits::max_points)"),
      std::string::npos)
      << status.message();
  status = SelectTradeoffs(ResNet(1, numbers), {.max_points = 20'000}).status();
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(status.message(),
            "a selection needs more than the 20000 points that are allowed "
            "(SelectLimits::max_points); fronts of less than 256 points need fewer "
            "(SelectLimits::max_front)");
  EXPECT_EQ(Select(ResNet(1, numbers), {.max_points = 100}).status().code(),
            StatusCode::kOutOfMemory);
  EXPECT_TRUE(Select(ResNet(1, numbers)).ok());
}

// A selection that no change of one layer improves, and that is the first of the trade-offs.
void ExpectPlausible(const char* name, const Problem& problem) {
  SCOPED_TRACE(name);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const Result<Selection> selected = Select(problem);
  const Clock::time_point middle = Clock::now();
  const Result<Tradeoffs> tradeoffs = SelectTradeoffs(problem);
  const Clock::time_point end = Clock::now();
  ASSERT_TRUE(selected.ok()) << selected.status().message();
  ASSERT_TRUE(tradeoffs.ok()) << tradeoffs.status().message();
  const auto milliseconds = [](Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  std::printf("%s: %zu layers; selection %.1f ms; %zu trade-offs %.1f ms, loss at most %.1f %%\n",
              name, problem.layers.size(), milliseconds(middle - start),
              tradeoffs->selections.size(), milliseconds(end - middle),
              100 * tradeoffs->loss_nanoseconds / selected->nanoseconds);
  EXPECT_EQ(tradeoffs->selections[0].nanoseconds, selected->nanoseconds);
  const BruteForce truth(problem);
  EXPECT_EQ(truth.TimeOf(selected->options), selected->nanoseconds);
  for (size_t i = 0; i < problem.layers.size(); ++i) {
    std::vector<int> changed = selected->options;
    for (size_t k = 0; k < problem.layers[i].options.size(); ++k) {
      changed[i] = static_cast<int>(k);
      EXPECT_GE(truth.TimeOf(changed), selected->nanoseconds);
    }
  }
}

TEST(Select, WholeNetworks) {
  for (const int schemas : {2, 4}) {
    const Numbers numbers = {.schemas = schemas, .most_options = 12};
    const unsigned seed = static_cast<unsigned>(schemas);
    ExpectPlausible("ResNet-152", ResNet(seed, numbers));
    ExpectPlausible("Inception", Inception(seed, numbers));
    ExpectPlausible("DenseNet-201", DenseNet(seed, true, numbers));
    ExpectPlausible("DenseNet-201, as in PyTorch", DenseNet(seed, false, numbers));
  }
}

// The memory that is allowed suffices for the largest fronts that the tuner asks for.
TEST(Select, WholeNetworksHaveTradeoffs) {
  const Numbers numbers = {.schemas = 2,
                           .most_options = 4,
                           .most_time = 1000000,
                           .most_bytes = 1000000,
                           .most_difference = 1000000};
  for (const Problem& problem : {ResNet(2, numbers), Inception(2, numbers),
                                 DenseNet(2, true, numbers), DenseNet(2, false, numbers)}) {
    const Result<Tradeoffs> tradeoffs = SelectTradeoffs(problem, {.max_front = 1024});
    ASSERT_TRUE(tradeoffs.ok()) << tradeoffs.status().message();
    EXPECT_GT(tradeoffs->selections.size(), 256u);
  }
}

}  // namespace
}  // namespace intaglio::nn::tune
