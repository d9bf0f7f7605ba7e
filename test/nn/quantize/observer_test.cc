// Ranges of streams of numbers.
#include "intaglio/nn/quantize/observer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace intaglio::nn::quantize {
namespace {

std::vector<float> Normal(size_t count, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(count);
  std::generate(values.begin(), values.end(), [&] { return normal(engine); });
  return values;
}

RealRange RangeOf(const ObserverOptions& options, const std::vector<std::vector<float>>& batches) {
  Observer observer(options);
  for (const auto& batch : batches) EXPECT_TRUE(observer.Observe(batch, "t").ok());
  return observer.Range();
}

void ExpectSame(const Histogram& a, const Histogram& b) {
  EXPECT_EQ(a.total(), b.total());
  EXPECT_EQ(a.zeros(), b.zeros());
  EXPECT_EQ(a.range(), b.range());
  EXPECT_EQ(a.width(), b.width());
  ASSERT_EQ(a.first(), b.first());
  ASSERT_EQ(a.last(), b.last());
  for (int i = a.first(); i < a.last(); ++i) EXPECT_EQ(a.count(i), b.count(i)) << "bin " << i;
}

constexpr Method kAll[] = {Method::kMinMax, Method::kEma, Method::kPercentile, Method::kMse,
                           Method::kEntropy};

TEST(Histogram, CountsEachNumberInItsBin) {
  const std::vector<float> values = Normal(10000, 1);
  Histogram h;
  h.Add(values);
  EXPECT_LE(h.last() - h.first(), Histogram::kBins);
  EXPECT_GE(h.last() - h.first(), Histogram::kBins / 2);
  EXPECT_EQ(std::exp2(std::round(std::log2(h.width()))), h.width());
  std::vector<uint64_t> expected(static_cast<size_t>(h.last() - h.first()));
  for (const float x : values) {
    ++expected[static_cast<size_t>(static_cast<int>(std::floor(x / h.width())) - h.first())];
  }
  for (int i = h.first(); i < h.last(); ++i) {
    EXPECT_EQ(h.count(i), expected[static_cast<size_t>(i - h.first())]) << i;
  }
}

// Batches whose ranges grow a thousandfold, on both sides.
TEST(Histogram, DependsNeitherOnOrderNorOnMerging) {
  std::vector<std::vector<float>> batches;
  const float sizes[] = {0.01f, 0.1f, 10, 1, 0.001f, 100, 0.01f, 1};
  for (const float size : sizes) batches.push_back(Normal(500, 2, size));
  batches.push_back({0, 0, 1e-30f, -1e-30f});
  batches.push_back({5000});
  Histogram forwards, backwards, left, right;
  for (const auto& b : batches) forwards.Add(b);
  for (auto b = batches.rbegin(); b != batches.rend(); ++b) backwards.Add(*b);
  for (size_t i = 0; i < batches.size(); ++i) (i < 4 ? left : right).Add(batches[i]);
  ExpectSame(forwards, backwards);
  Histogram other = right;
  other.Merge(left);
  left.Merge(right);
  ExpectSame(forwards, left);
  ExpectSame(forwards, other);
  Histogram none;
  none.Merge(forwards);
  none.Merge(Histogram());
  ExpectSame(forwards, none);
}

TEST(Histogram, ZerosTakeNoBin) {
  Histogram h;
  h.Add(std::vector<float>{0, -0.0f, 0});
  EXPECT_EQ(h.zeros(), 3u);
  EXPECT_EQ(h.width(), 0);
  EXPECT_EQ(h.LeastSquares(8), RealRange());
  EXPECT_EQ(h.LeastDivergence(8), RealRange());
  EXPECT_EQ(h.Percentile(99), RealRange());
}

TEST(Observer, MinMaxSeesAll) {
  EXPECT_EQ(RangeOf({}, {{1, 2, 3}, {-4, 0.5f}}), (RealRange{-4, 3}));
  EXPECT_EQ(RangeOf({}, {{1, 2, 3}}), (RealRange{0, 3}));
  EXPECT_EQ(RangeOf({}, {{-5, -2}}), (RealRange{-5, 0}));
  const std::vector<float> many = Normal(1003, 3);  // every lane, and a rest
  const auto [low, high] = std::minmax_element(many.begin(), many.end());
  EXPECT_EQ(RangeOf({}, {many}), (RealRange{*low, *high}));
}

TEST(Observer, EmaAveragesBatches) {
  const ObserverOptions options = {.method = Method::kEma, .ema_decay = 0.75};
  // The first batch is the first average: [-1, 8]. Then .75 * -1 + .25 * -5, .75 * 8 + .25 * 4.
  EXPECT_EQ(RangeOf(options, {{-1, 8}, {-5, 4}}), (RealRange{-2, 7}));
  EXPECT_EQ(RangeOf(options, {{2, 4}}), (RealRange{0, 4}));
}

TEST(Observer, PercentileLeavesTailsOut) {
  std::vector<float> values;
  for (int i = 1; i <= 10000; ++i) values.push_back(static_cast<float>(i) / 10000);
  values.push_back(1000);
  const RealRange range = RangeOf({.method = Method::kPercentile, .percentile = 99}, {values});
  EXPECT_EQ(range.min, 0);
  // 50 of 10001 numbers lie above .9951; the bin is 1000 / 2048 or wider.
  EXPECT_GE(range.max, 0.9951f);
  EXPECT_LE(range.max, 1.0f);
  EXPECT_EQ(RangeOf({.method = Method::kPercentile, .percentile = 100}, {values}).max, 1000);
}

// For a normal distribution and 256 levels the best clipping is at about 3.92 sigma (Banner et al.,
// 2019, give 3.89 for the Gaussian by numbers of this kind), for 16 levels at about 2.55.
TEST(Observer, MseFindsTheBestClipping) {
  const std::vector<float> values = Normal(1 << 20, 5);
  const RealRange eight = RangeOf({.method = Method::kMse, .bits = 8}, {values});
  EXPECT_NEAR(eight.max, 3.92, 0.15);
  EXPECT_NEAR(eight.min, -3.92, 0.15);
  const RealRange four = RangeOf({.method = Method::kMse, .bits = 4}, {values});
  EXPECT_NEAR(four.max, 2.55, 0.15);
}

// By definition, with numbers that are quantized one by one.
TEST(Observer, MseIsNearTheLeastError) {
  std::vector<float> values = Normal(20000, 6);
  values.push_back(40);
  const auto error = [&](double min, double max, int levels) {
    const double step = (max - min) / (levels - 1);
    double sum = 0;
    for (const double x : values) {
      const double q = min + std::round((std::clamp(x, min, max) - min) / step) * step;
      sum += (x - q) * (x - q);
    }
    return sum;
  };
  const RealRange chosen = RangeOf({.method = Method::kMse, .bits = 4}, {values});
  double least = HUGE_VAL;
  for (double low = -5; low < -0.5; low += 0.1) {
    for (double high = 0.5; high < 40; high += 0.5) least = std::min(least, error(low, high, 16));
  }
  EXPECT_LE(error(chosen.min, chosen.max, 16), 1.1 * least);
}

TEST(Observer, EntropyDropsRareOutliers) {
  std::vector<float> values = Normal(1 << 18, 7);
  values.push_back(12);
  values.push_back(-12);
  const RealRange range = RangeOf({.method = Method::kEntropy}, {values});
  EXPECT_LT(range.max, 8);
  EXPECT_GT(range.max, 2.5);
}

TEST(Observer, EveryMethodHoldsZeroAndStaysInside) {
  const std::vector<std::vector<float>> inputs[] = {
      {{3, 3, 3}}, {{-3}},           {{0, 0}}, {{}}, {Normal(100, 8), Normal(7, 9, 50)},
      {{1e-42f}},  {{3e38f, -3e38f}}};
  for (const auto& batches : inputs) {
    const RealRange extremes = RangeOf({}, batches);
    for (const Method method : kAll) {
      const RealRange range = RangeOf({.method = method, .percentile = 90}, batches);
      EXPECT_LE(range.min, 0) << NameOf(method);
      EXPECT_GE(range.max, 0) << NameOf(method);
      EXPECT_LE(range.max, extremes.max) << NameOf(method);
      EXPECT_GE(range.min, extremes.min) << NameOf(method);
    }
  }
}

TEST(Observer, RefusesWhatIsNotFinite) {
  for (const Method method : kAll) {
    Observer observer({.method = method});
    std::vector<float> values(40, 1);
    values[33] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(observer.Observe(values, "features").message(),
              "tensor 'features' has NaN in element 33, which no range can hold");
    values[33] = -std::numeric_limits<float>::infinity();
    EXPECT_NE(observer.Observe(values, "features").message().find("an infinity in element 33"),
              std::string::npos);
    EXPECT_EQ(observer.count(), 0u);
    EXPECT_EQ(observer.Range(), RealRange());
  }
}

TEST(Observer, ChecksOptionsAndNames) {
  EXPECT_FALSE(Check({.ema_decay = 1}).ok());
  EXPECT_FALSE(Check({.percentile = 0}).ok());
  EXPECT_FALSE(Check({.bits = 1}).ok());
  EXPECT_TRUE(Check({}).ok());
  for (const Method method : kAll) EXPECT_EQ(*MethodByName(NameOf(method)), method);
  EXPECT_EQ(MethodByName("best").status().message(),
            "there is no method 'best'; there are minmax, ema, percentile, mse, entropy");
}

TEST(ChannelRanges, AreThoseOfEachChannel) {
  const std::vector<float> values = {1, -2, 3, 4, 5, -6, 7, 8};  // [2, 2, 2]
  EXPECT_EQ(ChannelRanges(values, 2, 4), (std::vector<RealRange>{{-2, 4}, {-6, 8}}));
  EXPECT_EQ(ChannelRanges(values, 2, 2), (std::vector<RealRange>{{-6, 5}, {0, 8}}));
  EXPECT_EQ(ChannelRanges(values, 2, 1), (std::vector<RealRange>{{0, 7}, {-6, 8}}));
}

}  // namespace
}  // namespace intaglio::nn::quantize
