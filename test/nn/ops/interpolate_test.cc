// INTERPOLATE against sums in a loop.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/ops/one_layer.h"

namespace intaglio::nn::test {
namespace {

std::vector<float> RandomFloats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = number(random);
  return values;
}

// x [outer, in, inner] along axis 1.
struct Sizes {
  int outer;
  int in;
  int inner;
  int out;
  int taps;

  size_t inputs() const { return static_cast<size_t>(outer) * in * inner; }
  size_t table() const { return static_cast<size_t>(out) * taps; }
};

void Check(const Sizes& s, bool has_offsets) {
  SCOPED_TRACE(std::to_string(s.outer) + "x" + std::to_string(s.in) + "x" +
               std::to_string(s.inner));
  const std::vector<float> x = RandomFloats(s.inputs(), 1);
  const std::vector<float> weights = RandomFloats(s.table(), 2);
  const std::vector<float> offsets = RandomFloats(static_cast<size_t>(s.out), 3);
  std::vector<int32_t> places;
  for (size_t i = 0; i < s.table(); ++i) places.push_back(static_cast<int32_t>(i * 7) % s.in);
  std::vector<float> expected;
  for (int b = 0; b < s.outer; ++b) {
    for (int o = 0; o < s.out; ++o) {
      for (int i = 0; i < s.inner; ++i) {
        float sum = has_offsets ? offsets[static_cast<size_t>(o)] : 0;
        for (int k = 0; k < s.taps; ++k) {
          const auto at = static_cast<size_t>(o * s.taps + k);
          const float term =
              weights[at] * x[static_cast<size_t>((b * s.in + places[at]) * s.inner + i)];
          sum = sum + term;
        }
        expected.push_back(sum);
      }
    }
  }
  std::vector<Given> inputs = {MakeGiven<float>({s.outer, s.in, s.inner}, x),
                               MakeGiven<int32_t>({s.out, s.taps}, places),
                               MakeGiven<float>({s.out, s.taps}, weights)};
  if (has_offsets) inputs.push_back(MakeGiven<float>({s.out}, offsets));
  for (const int axis : {1, -2}) {
    const Got got = RunLayer(Interpolate{axis}, inputs, {Type::kFloat32});
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(got.shapes, std::vector<Shape>({{s.outer, s.out, s.inner}}));
    EXPECT_EQ(got.As<float>(), expected);
  }
}

TEST(Interpolate, AddsInOrder) {
  for (const bool has_offsets : {false, true}) {
    Check({2, 5, 3, 7, 2}, has_offsets);
    Check({3, 9, 1, 4, 4}, has_offsets);
    Check({1, 1, 64, 3, 6}, has_offsets);
    Check({40, 50, 30, 60, 3}, has_offsets);
    Check({2, 5, 3, 4, 0}, has_offsets);
    Check({2, 5, 3, 0, 2}, has_offsets);
  }
}

TEST(Interpolate, RefusesWhatDoesNotFit) {
  const Given x = MakeGiven<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  const Given weights = MakeGiven<float>({1, 2}, {1, 1});
  const Given places = MakeGiven<int32_t>({1, 2}, {0, 2});
  const auto error = [](int axis, const std::vector<Given>& inputs) {
    return RunLayer(Interpolate{axis}, inputs, {Type::kFloat32}).error;
  };
  EXPECT_EQ(error(1, {x, places, weights}), "");
  EXPECT_NE(error(0, {x, places, weights}), "");  // there is no row 2
  EXPECT_NE(error(1, {x, MakeGiven<int32_t>({1, 2}, {-1, 2}), weights}), "");
  EXPECT_NE(error(2, {x, places, weights}), "");
  EXPECT_NE(error(1, {x, places, MakeGiven<float>({2, 1}, {1, 1})}), "");
  EXPECT_NE(error(1, {x, places, weights, MakeGiven<float>({2}, {1, 1})}), "");
  EXPECT_NE(error(1, {x, MakeGiven<int64_t>({1, 2}, {0, 2}), weights}), "");
}

}  // namespace
}  // namespace intaglio::nn::test
