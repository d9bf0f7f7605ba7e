// Normalization of rows against its definition in long double; the same bits with every kernel and
// number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/ops/one_layer.h"

namespace intaglio::nn::test {
namespace {

std::vector<float> Numbers(size_t count, float low, float high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(low, high);
  std::vector<float> x(count);
  for (float& v : x) v = real(random);
  return x;
}

Given Row(size_t depth, unsigned seed) {
  return MakeGiven<float>({static_cast<int>(depth)}, Numbers(depth, -2, 2, seed));
}

float At(const Given& row, size_t i, float none) {
  float value = none;
  if (row.present) std::memcpy(&value, row.bytes.data() + i * sizeof(value), sizeof(value));
  return value;
}

// scale and bias are dense rows, or absent.
void CheckRows(const std::vector<float>& x, const std::vector<float>& y, size_t depth, bool centers,
               long double epsilon, const Given& scale, const Given& bias) {
  ASSERT_EQ(y.size(), x.size());
  for (size_t row = 0; row < x.size(); row += depth) {
    long double mean = 0;
    for (size_t i = 0; i < depth && centers; ++i) mean += x[row + i];
    mean /= static_cast<long double>(depth);
    long double squares = 0;
    for (size_t i = 0; i < depth; ++i) squares += (x[row + i] - mean) * (x[row + i] - mean);
    const long double root = std::sqrt(squares / static_cast<long double>(depth) + epsilon);
    for (size_t i = 0; i < depth; ++i) {
      const long double factor = At(scale, i, 1);
      const long double want = (x[row + i] - mean) / root * factor + At(bias, i, 0);
      const long double bound = 1e-6L * (1 + std::fabs(mean) / root + std::fabs(want)) * 2;
      ASSERT_NEAR(static_cast<double>(y[row + i]), static_cast<double>(want),
                  static_cast<double>(bound))
          << row << " " << i << " of " << depth;
    }
  }
}

// The outputs of every kernel and number of threads, which must be the same bits.
std::vector<float> RunEverywhere(const Operator& op, const std::vector<Given>& inputs) {
  std::vector<std::string> kernels;
  for (const KernelInfo& kernel : ListKernels()) {
    if (kernel.usable) kernels.push_back(kernel.name);
  }
  const Got first = RunLayer(op, inputs, {Type::kFloat32});
  EXPECT_EQ(first.error, "");
  for (const std::string& kernel : kernels) {
    for (const int threads : {1, 3}) {
      const Got got =
          RunLayer(op, inputs, {Type::kFloat32}, {.threads = threads, .kernel = kernel});
      EXPECT_EQ(got.bytes, first.bytes) << kernel << ", " << threads << " threads";
    }
  }
  return first.As<float>();
}

TEST(LayerNormalization, RowsOfEveryLength) {
  for (size_t depth = 1; depth < 140; depth += depth < 70 ? 1 : 13) {
    const std::vector<float> x = Numbers(7 * depth, -3, 5, static_cast<unsigned>(depth));
    const Given in = MakeGiven<float>({7, static_cast<int>(depth)}, x);
    const Given scale = Row(depth, 1);
    const Given bias = Row(depth, 2);
    for (const Given& factors : {scale, Absent()}) {
      for (const Given& addends : {bias, Absent()}) {
        CheckRows(x, RunEverywhere(LayerNormalization{}, {in, factors, addends}), depth, true,
                  1e-5L, factors, addends);
      }
      CheckRows(x, RunEverywhere(RmsNormalization{-1, 0.5f}, {in, factors}), depth, false, 0.5L,
                factors, Absent());
    }
  }
}

TEST(LayerNormalization, ManyLongRows) {
  constexpr size_t kDepth = 2 * 5 * 77;
  const std::vector<float> x = Numbers(40 * kDepth, 99, 101, 4);
  const Given in = MakeGiven<float>({4, 10, 2, 5, 77}, x);
  Given bias = Row(kDepth, 5);
  bias.shape = {2, 5, 77};
  CheckRows(x, RunEverywhere(LayerNormalization{2, 1e-3f}, {in, Absent(), bias}), kDepth, true,
            1e-3L, Absent(), bias);
}

// The same numbers as those of scales that are spread out already.
TEST(LayerNormalization, ParametersBroadcast) {
  const Given in = MakeGiven<float>({2, 3, 4}, Numbers(24, -1, 1, 6));
  const auto spread = [](const std::vector<float>& few, size_t repeats, size_t times) {
    std::vector<float> all;
    for (size_t t = 0; t < times; ++t) {
      for (const float v : few) all.insert(all.end(), repeats, v);
    }
    return MakeGiven<float>({3, 4}, all);
  };
  const std::vector<float> three = {1, -2, 3};
  const std::vector<float> four = {1, 2, 0.5f, -1};
  const LayerNormalization op{-2};
  EXPECT_EQ(
      RunEverywhere(op, {in, MakeGiven<float>({1, 3, 1}, three), MakeGiven<float>({4}, four)}),
      RunEverywhere(op, {in, spread(three, 4, 1), spread(four, 1, 3)}));
  EXPECT_EQ(RunEverywhere(op, {in, MakeGiven<float>({}, {3}), spread(three, 4, 1)}),
            RunEverywhere(op, {in, spread({3}, 12, 1), spread(three, 4, 1)}));
  const auto error = [&](const Operator& wrong, const Given& scale) {
    return RunLayer(wrong, {in, scale}, {Type::kFloat32}).error;
  };
  EXPECT_NE(error(op, MakeGiven<float>({3}, three)).find("broadcast"), std::string::npos);
  EXPECT_NE(error(op, MakeGiven<float>({2, 3, 4}, Numbers(24, 0, 1, 1))), "");
  EXPECT_NE(error(LayerNormalization{3}, Absent()).find("axis"), std::string::npos);
  EXPECT_NE(error(op, MakeGiven<int32_t>({4}, {1, 2, 3, 4})), "");
}

TEST(LayerNormalization, SpecialNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {nan, 1, 5, 5, 0, -0.0f, 1, 3, INFINITY, 2};
  const std::vector<float> y =
      RunLayer(LayerNormalization{-1, 0.0f}, {MakeGiven<float>({5, 2}, x)}, {Type::kFloat32})
          .As<float>();
  ASSERT_EQ(y.size(), 10u);
  for (const size_t i : {0, 1, 2, 3, 4, 5, 8, 9}) EXPECT_TRUE(std::isnan(y[i])) << i;
  EXPECT_EQ(y[6], -1);
  EXPECT_EQ(y[7], 1);
  for (const Shape& empty : {Shape{0, 3}, Shape{3, 0}}) {
    const Got got = RunLayer(LayerNormalization{}, {MakeGiven<float>(empty, {})}, {Type::kFloat32});
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(got.shapes, std::vector<Shape>({empty}));
  }
}

}  // namespace
}  // namespace intaglio::nn::test
