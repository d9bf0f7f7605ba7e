// Channels whose bias outweighs every product: bounded like the others, and the same results.
#include "intaglio/gemm/plan/constant_channels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {
namespace {

constexpr int64_t kBound = 1 << 30;

// One channel of weights, and its pipeline to int8.
struct Channel {
  Channel(int64_t magnitude, int32_t bias_, QuantizedMultiplier m) : bias(bias_), multiplier(m) {
    panels.ranges.push_back({});
    panels.ranges[0].channels = panels.channels = 1;
    panels.ranges[0].magnitude = magnitude;
    pipeline.bias = &bias;
    pipeline.scaling = Scaling::kDoubleRounding;
    pipeline.mantissa = &multiplier.mantissa;
    pipeline.exponent = &multiplier.exponent;
    pipeline.output = Type::kInt8;
    pipeline.zero_point = -128;
  }

  // What `p` makes of the bias and a product.
  static int32_t Result(const StandardPipeline& p, int64_t product) {
    const QuantizedMultiplier m{*p.mantissa, *p.exponent};
    const int32_t scaled = RequantizeDoubleRounding<Scalar>(
        static_cast<int32_t>(*p.bias + product), m.mantissa, m.left_shift(), m.right_shift());
    return std::clamp(scaled + p.zero_point, -128, 127);
  }

  int32_t bias;
  QuantizedMultiplier multiplier;
  Panels panels;
  StandardPipeline pipeline;
};

// Whether the channel was changed. If it was, it is bounded, and the same for every product; of all
// that one may be these are `step` apart.
bool Changes(const Channel& channel, int64_t step) {
  const RowFacts rows{0, 255};
  const WithSmallBiases changed(channel.panels, rows, channel.pipeline);
  const StandardPipeline& p = changed.pipeline();
  if (p.bias == channel.pipeline.bias) return false;
  const int64_t reach = channel.panels.ranges[0].magnitude * rows.magnitude;
  EXPECT_LT(std::abs(int64_t{*p.bias}) + reach, kBound);
  EXPECT_LE(*p.exponent, 0);
  for (int64_t product = -reach; product <= reach; product += step) {
    EXPECT_EQ(Channel::Result(p, product), Channel::Result(channel.pipeline, product));
  }
  return true;
}

TEST(ConstantChannels, EveryProductGivesTheSame) {
  Random random(3);
  int changed = 0;
  for (int i = 0; i < 300; ++i) {
    const int64_t magnitude = Uniform(random, 0, 200);
    const int64_t away = kBound + Uniform(random, -1000, 1000);
    const auto bias = static_cast<int32_t>(i % 2 == 0 ? away : -away);
    const QuantizedMultiplier multiplier{(1 << 30) + Uniform(random, 0, (1 << 30) - 1),
                                         -Uniform(random, 20, 31)};
    changed += Changes(Channel(magnitude, bias, multiplier), 1) ? 1 : 0;
  }
  EXPECT_GT(changed, 100);
}

TEST(ConstantChannels, LongRows) {
  for (const int64_t magnitude : {1 << 12, 1 << 16, 1 << 19}) {
    EXPECT_TRUE(Changes(Channel(magnitude, 1 << 30, {1518500250, -30}), 97)) << magnitude;
  }
  // A one, and products of more than 28 bits beside it, leave no room.
  EXPECT_FALSE(Changes(Channel(1 << 20, 1 << 30, {1518500250, -30}), 97));
}

// The least, the most, and every one between, of results that the clamp makes the same.
TEST(ConstantChannels, Clamped) {
  EXPECT_TRUE(Changes(Channel(100, -(1 << 30), {1 << 30, -5}), 1));
  EXPECT_TRUE(Changes(Channel(100, 1 << 30, {1 << 30, -5}), 1));
}

TEST(ConstantChannels, OthersStay) {
  // Small enough.
  EXPECT_FALSE(Changes(Channel(100, 5, {1 << 30, -31}), 1));
  // Not the same for all products: 128.5 lies within reach.
  EXPECT_FALSE(Changes(Channel(100, (1 << 30) + (1 << 22), {1 << 30, -22}), 1));
  // Sums that may leave int32.
  EXPECT_FALSE(Changes(Channel(100, std::numeric_limits<int32_t>::max() - 100, {1 << 30, -5}), 1));
  Channel single(100, 1 << 30, {1 << 30, -31});
  single.pipeline.scaling = Scaling::kSingleRounding;
  EXPECT_FALSE(Changes(single, 1));
  Channel unbiased(100, 1 << 30, {1 << 30, -31});
  unbiased.pipeline.bias = nullptr;
  EXPECT_FALSE(Changes(unbiased, 1));
}

// A product with such channels here and there.
TEST(ConstantChannels, Product) {
  constexpr int kRows = 9, kChannels = 150, kDepth = 70;
  Random random(7);
  std::vector<int32_t> bias, mantissa, exponent;
  for (int c = 0; c < kChannels; ++c) {
    const bool dead = Uniform(random, 0, 9) == 0;
    bias.push_back(dead ? (1 << 30) + Uniform(random, 0, 128) : Uniform(random, -9999, 9999));
    mantissa.push_back((1 << 30) + Uniform(random, 0, (1 << 30) - 1));
    exponent.push_back(dead ? -Uniform(random, 28, 31) : -Uniform(random, 7, 9));
  }
  StandardPipeline standard;
  standard.bias = bias.data();
  standard.scaling = Scaling::kDoubleRounding;
  standard.per_channel = true;
  standard.mantissa = mantissa.data();
  standard.exponent = exponent.data();
  standard.zero_point = -128;
  standard.output = Type::kInt8;
  Context context(1);
  for (const std::string& kernel : KernelNames()) {
    SCOPED_TRACE(kernel);
    const TestMatrix lhs(random, Type::kInt8, kRows, kDepth, Order::kRowMajor, 0, -128);
    const TestMatrix rhs(random, Type::kInt8, kDepth, kChannels, Order::kColMajor, 0, 0);
    const auto packed = Prepack(Side::kRhs, rhs.view(), {{}, kernel});
    ASSERT_TRUE(packed.ok());
    for (const bool fit : {false, true}) {
      const auto bound = BoundPipeline::Bind(*packed, standard, Type::kInt8, -128, {.fit = fit});
      ASSERT_TRUE(bound.ok());
      TestResult dst(standard.output, kRows, kChannels, Order::kRowMajor, 0);
      ASSERT_TRUE(Gemm(context, lhs.view(), *packed, dst.view(), *bound).ok());
      dst.Want(standard, Sums(lhs.ToIntegers(), rhs.ToIntegers()));
      EXPECT_TRUE(dst.Same()) << dst.Difference();
      const auto plain = DescribeGemm(context, lhs.view(), *packed, dst.view(), standard);
      const auto described = DescribeGemm(context, lhs.view(), *packed, dst.view(), *bound);
      ASSERT_TRUE(plain.ok() && described.ok());
      EXPECT_LT(plain->bounded_panels, plain->panels);
      EXPECT_EQ(described->bounded_panels, described->panels);
    }
  }
}

}  // namespace
}  // namespace intaglio::test
