// Pipelines bound with fits: the same bits as without, vectors of channels by their fit or not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "intaglio/kernels/kernel_table.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {
namespace {

const Kernel& KernelOf(const std::string& name) {
  for (const Kernel* kernel : KernelTable()) {
    if (name == kernel->name && ServesAll(*kernel)) return *kernel;
  }
  return *KernelTable().back();
}

// A convolution-like product, 9 x 160 x 50 unless said otherwise, whose multipliers are those of
// kSpread or given.
class Fits : public testing::TestWithParam<std::string> {
 protected:
  static constexpr int kChannels = 160, kDepth = 50;

  Fits() {
    for (int c = 0; c < kChannels; ++c) {
      bias_.push_back(Uniform(random_, -30000, 30000));
      mantissa_.push_back((1 << 30) + Uniform(random_, 0, (1 << 30) - 1));
      exponent_.push_back(-Uniform(random_, 6, 9));
    }
    standard_.bias = bias_.data();
    standard_.scaling = Scaling::kDoubleRounding;
    standard_.per_channel = true;
    standard_.mantissa = mantissa_.data();
    standard_.exponent = exponent_.data();
    standard_.zero_point = 3;
    standard_.output = Type::kInt8;
  }

  // Runs a product with the pipeline bound, and returns how many channels had a fit.
  int FittedChannels(const BindOptions& options = {}) {
    const TestMatrix lhs(random_, Type::kUInt8, rows_, kDepth, Order::kRowMajor, 0, 12);
    const TestMatrix rhs(random_, Type::kInt8, kDepth, kChannels, Order::kColMajor, 0, zero_);
    PackOptions pack;
    pack.kernel = GetParam();
    const auto packed = Prepack(Side::kRhs, rhs.view(), pack);
    EXPECT_TRUE(packed.ok());
    const auto bound = BoundPipeline::Bind(*packed, standard_, Type::kUInt8, 12, options);
    EXPECT_TRUE(bound.ok());
    TestResult dst(standard_.output, rows_, kChannels, Order::kRowMajor, 0);
    EXPECT_TRUE(Gemm(context_, lhs.view(), *packed, dst.view(), *bound).ok());
    dst.Want(standard_, Sums(lhs.ToIntegers(), rhs.ToIntegers()));
    EXPECT_TRUE(dst.Same()) << dst.Difference();

    const auto plain = DescribeGemm(context_, lhs.view(), *packed, dst.view(), standard_);
    EXPECT_TRUE(plain.ok() && plain->fitted_channels == 0);
    const auto description = DescribeGemm(context_, lhs.view(), *packed, dst.view(), *bound);
    EXPECT_TRUE(description.ok());
    EXPECT_EQ(description->bounded_panels, plain->bounded_panels);
    const std::string text =
        std::to_string(description->fitted_channels) + " of 160 channels fitted";
    EXPECT_NE(description->text.find(text), std::string::npos) << description->text;
    return description->fitted_channels;
  }

  // Every channel, or none. Where there is another form, it takes as many panels as it can.
  void ExpectAll() {
    const int fitted = FittedChannels();
    if (!KernelOf(GetParam()).takes_multiply_add) {
      EXPECT_EQ(fitted, all());
    }
  }

  int lanes() const { return KernelOf(GetParam()).panel.lanes; }
  int all() const { return KernelOf(GetParam()).has_fma ? kChannels : 0; }

  Random random_{11};
  Context context_{1};
  int rows_ = 9;
  int32_t zero_ = 0;
  std::vector<int32_t> bias_, mantissa_, exponent_;
  StandardPipeline standard_;
};

TEST_P(Fits, EveryChannel) {
  ExpectAll();
  zero_ = -5;
  ExpectAll();
  standard_.zero_point = -128;
  standard_.clamp_min = -100;
  ExpectAll();
  standard_.output = Type::kUInt8;
  standard_.zero_point = 128;
  ExpectAll();
  standard_.per_channel = false;
  ExpectAll();
}

// One multiplier is fitted for all channels at once. If their accumulators are too far apart for
// that, each channel is fitted separately.
TEST_P(Fits, OneMultiplierForAllChannels) {
  standard_.per_channel = false;
  for (const int32_t far : {0, 1 << 22, 1 << 26, 900'000'000}) {
    bias_[70] = far;
    bias_[150] = -far;
    const int fitted = FittedChannels();  // except a vector with one of the two channels
    if (!KernelOf(GetParam()).takes_multiply_add) {
      EXPECT_GE(fitted, all() - lanes()) << far;
    }
  }
}

// Multipliers from 1/4 to 1, after a ReLU, and near 0.
TEST_P(Fits, EveryMultiplier) {
  for (const int exponent : {0, -1, -18, -19, -20}) {
    for (int32_t& e : exponent_) e = exponent;
    for (const int zero_point : {-128, 3}) {
      standard_.zero_point = zero_point;
      const bool has_fits = exponent < -1 || zero_point == -128;
      if (!KernelOf(GetParam()).takes_multiply_add) {
        EXPECT_EQ(FittedChannels(), has_fits ? all() : 0) << exponent << ", " << zero_point;
      }
    }
  }
}

TEST_P(Fits, NoneWhereForbidden) { EXPECT_EQ(FittedChannels({.fit = false}), 0); }

// Few rows do not win back the search; how few depends on the kernel's form of a fit.
TEST_P(Fits, NoneForFewRows) {
  if (!KernelOf(GetParam()).takes_multiply_add) {
    EXPECT_EQ(FittedChannels({.rows = 99}), 0);
    EXPECT_EQ(FittedChannels({.rows = 100}), all());
    return;
  }
  standard_.scaling = Scaling::kSingleRounding;
  for (int32_t& e : exponent_) e = -6;
  EXPECT_EQ(FittedChannels({.rows = 499}), 0);
  EXPECT_GT(FittedChannels({.rows = 500}), 0);
}

TEST_P(Fits, NoneForWiderOutput) {
  standard_.output = Type::kInt16;
  EXPECT_EQ(FittedChannels(), 0);
  standard_.output = Type::kInt32;
  EXPECT_EQ(FittedChannels(), 0);
}

// One channel without a fit leaves the others of its vector to the general form, and no more. The
// other panels, of one exponent, hold the zero point, and its own does not: a row's panels, which
// share calls where they can, then may not.
TEST_P(Fits, OneFailureSpoilsItsVectorOnly) {
  if (all() == 0) GTEST_SKIP() << GetParam() << " has no fused multiply-add";
  exponent_.assign(exponent_.size(), -8);
  for (const int channel : {0, 17, 63, 95, 127, 159}) {
    const int32_t exponent = exponent_[static_cast<size_t>(channel)];
    exponent_[static_cast<size_t>(channel)] = -1;
    for (rows_ = 1; rows_ < 40; rows_ += 19) {
      EXPECT_EQ(FittedChannels(), all() - lanes()) << channel << ", " << rows_;
    }
    exponent_[static_cast<size_t>(channel)] = exponent;
  }
  exponent_.assign(exponent_.size(), 0);
  EXPECT_EQ(FittedChannels(), 0);
}

// Any mode of requantization by one multiply-add, panel by panel.
TEST_P(Fits, MultiplyAdd) {
  const Kernel& kernel = KernelOf(GetParam());
  if (!kernel.takes_multiply_add) GTEST_SKIP() << GetParam() << " is not given this form";
  std::vector<float> scale;
  for (size_t c = 0; c < mantissa_.size(); ++c) {
    exponent_[c] = -Uniform(random_, 5, 7);
    scale.push_back(std::ldexp(static_cast<float>(mantissa_[c]), exponent_[c] - 31));
  }
  standard_.scale = scale.data();
  const int most = kChannels - 2 * kernel.panel.width();  // but for a panel or two
  for (const auto scaling : {Scaling::kSingleRounding, Scaling::kFloatHalfEven}) {
    standard_.scaling = scaling;
    for (const int zero_point : {-128, 3}) {
      standard_.zero_point = zero_point;
      EXPECT_GE(FittedChannels(), most);
      EXPECT_EQ(FittedChannels({.fit = false}), 0);
    }
    zero_ = -5;
    EXPECT_GE(FittedChannels(), most);
    standard_.per_channel = false;
    EXPECT_GE(FittedChannels(), most);
    standard_.per_channel = true;
    standard_.output = Type::kInt16;
    EXPECT_EQ(FittedChannels(), 0);
    standard_.output = Type::kInt8;
  }
  standard_.scaling = Scaling::kDoubleRounding;
  standard_.zero_point = -128;
  const int fitted = FittedChannels();
  EXPECT_GE(fitted, most);
  // One channel without a fit leaves its panel to another form, and no more.
  exponent_[17] = 0;
  EXPECT_EQ(FittedChannels(), fitted - kernel.panel.width());
}

INSTANTIATE_TEST_SUITE_P(EveryKernel, Fits, testing::ValuesIn(KernelNames()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace intaglio::test
