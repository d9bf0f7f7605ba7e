// Functions of one number against their definitions in long double: of all kinds of numbers, by any
// number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/ops/one_layer.h"

namespace intaglio::nn::test {
namespace {

using Real = long double;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Special numbers, then numbers of any magnitude, then numbers around 0.
std::vector<float> Numbers() {
  std::vector<float> x = {0.0f,  -0.0f,  1,       -1,     0.5f, -0.5f,     2,      -2,      4,
                          -4,    88,     -88,     104,    -104, 40,        -40,    1e-45f,  -1e-45f,
                          1e30,  -1e30f, 3e38f,   -3e38f, kNan, kInfinity, 1e-20f, -1e-20f, 3.9f,
                          -3.9f, 0.999f, -0.999f, -700,   700,  -kInfinity};
  std::mt19937 random(1);
  while (x.size() < 9000) {
    const auto bits = static_cast<uint32_t>(random());
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    x.push_back(value);
  }
  std::uniform_real_distribution<float> real(-12, 12);
  while (x.size() < 20000) x.push_back(real(random));
  return x;
}

// The distance in units of the last place of the exact result.
Real Distance(float got, Real want) {
  const auto nearest = static_cast<float>(want);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : 1e9L;
  if (std::isinf(nearest) || std::isinf(got)) return got == nearest ? 0 : 1e9L;
  const float above = std::nextafter(std::fabs(nearest), kInfinity);
  const Real unit = std::isinf(above) ? std::ldexp(1.0L, 104) : Real{above} - std::fabs(nearest);
  return std::fabs(Real{got} - want) / unit;
}

void Check(const Operator& op, const std::function<Real(Real)>& f, Real units = 0.54L) {
  const std::vector<float> x = Numbers();
  const Given in = MakeGiven<float>({static_cast<int>(x.size())}, x);
  for (const int threads : {1, 3}) {
    const Got got = RunLayer(op, {in}, {Type::kFloat32}, {.threads = threads});
    ASSERT_EQ(got.error, "");
    const std::vector<float> y = got.As<float>();
    ASSERT_EQ(y.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(Distance(y[i], f(x[i])), units) << x[i] << " -> " << y[i];
    }
  }
  const Got none = RunLayer(op, {MakeGiven<float>({2, 0}, {})}, {Type::kFloat32});
  EXPECT_EQ(none.error, "");
  EXPECT_EQ(none.shapes, std::vector<Shape>({{2, 0}}));
}

TEST(RealFunctions, OfTheLibrary) {
  Check(Erf{}, [](Real x) { return std::erf(x); });
  Check(Tanh{}, [](Real x) { return std::tanh(x); });
  Check(Tan{}, [](Real x) { return std::tan(x); });
  Check(Asin{}, [](Real x) { return std::asin(x); });
  Check(Acos{}, [](Real x) { return std::acos(x); });
  Check(Atan{}, [](Real x) { return std::atan(x); });
  Check(Sinh{}, [](Real x) { return std::sinh(x); });
  Check(Cosh{}, [](Real x) { return std::cosh(x); });
  Check(Asinh{}, [](Real x) { return std::asinh(x); });
  Check(Acosh{}, [](Real x) { return std::acosh(x); });
  Check(Atanh{}, [](Real x) { return std::atanh(x); });
  Check(Reciprocal{}, [](Real x) { return 1 / x; });
}

TEST(RealFunctions, Activations) {
  Check(Softsign{}, [](Real x) { return x / (1 + std::fabs(x)); });
  // e^x is too great for long double, where log(1 + e^x) is x.
  const auto softplus = [](Real x) { return x > 100 ? x : std::log1p(std::exp(x)); };
  Check(Softplus{}, softplus);
  Check(Mish{}, [=](Real x) { return x * std::tanh(softplus(x)); });
  Check(Swish{}, [](Real x) { return x * (1 / (1 + std::exp(-x))); });
  Check(Swish{1.702f}, [](Real x) { return x * (1 / (1 + std::exp(-Real{1.702f} * x))); });
  Check(
      Elu{2.5f}, [](Real x) { return x < 0 ? Real{2.5f} * std::expm1(x) : x; }, 2);
  Check(Celu{0.3f}, [](Real x) { return x < 0 ? Real{0.3f} * std::expm1(x / Real{0.3f}) : x; });
  Check(Selu{2, 3}, [](Real x) { return 3 * (x < 0 ? 2 * std::expm1(x) : x); });
  Check(Selu{}, [](Real x) {
    return 1.05070102214813232421875L * (x < 0 ? 1.67326319217681884765625L * std::expm1(x) : x);
  });
}

// Several operations of float32 get 5.3749995 for 5.375.
TEST(RealFunctions, GeluIsRoundedOnce) {
  const auto gelu = [](Real x) {
    return 0.5L * x * std::erfc(x * -0.70710678118654752440084436210485L);
  };
  Check(Gelu{}, gelu, 0.500001L);
  const Given x = MakeGiven<float>({1}, {5.375f});
  EXPECT_EQ(RunLayer(Gelu{}, {x}, {Type::kFloat32}).As<float>(), std::vector<float>{5.375f});
}

TEST(RealFunctions, InFloat32) {
  Check(
      HardSigmoid{0.25f, 0.375f},
      [](Real x) -> Real {
        const auto scaled = static_cast<float>(Real{0.25f} * x);
        const auto line = static_cast<float>(scaled + 0.375L);
        return std::isnan(line) ? line : std::fmax(0.0f, std::fmin(1.0f, line));
      },
      0);
  Check(
      ThresholdedRelu{1.5f}, [](Real x) -> Real { return x > 1.5L ? x : 0; }, 0);
  Check(
      Shrink{0.25f, 1.5f},
      [](Real x) -> Real {
        if (x < -1.5L) return static_cast<float>(x + 0.25L);
        return x > 1.5L ? static_cast<float>(x - 0.25L) : 0;
      },
      0);
}

TEST(RealFunctions, ZerosKeepTheirSigns) {
  const Given zeros = MakeGiven<float>({2}, {0.0f, -0.0f});
  for (const Operator& op :
       {Operator(Erf{}), Operator(Tan{}), Operator(Asin{}), Operator(Atan{}), Operator(Sinh{}),
        Operator(Asinh{}), Operator(Atanh{}), Operator(Softsign{}), Operator(Selu{}),
        Operator(Celu{}), Operator(Swish{}), Operator(Mish{}), Operator(Reciprocal{})}) {
    const std::vector<float> y = RunLayer(op, {zeros}, {Type::kFloat32}).As<float>();
    ASSERT_EQ(y.size(), 2u);
    EXPECT_FALSE(std::signbit(y[0])) << NameOf(op);
    EXPECT_TRUE(std::signbit(y[1])) << NameOf(op);
  }
}

TEST(RealFunctions, KindsOfNumbers) {
  const Given x = MakeGiven<float>({6}, {kNan, -kNan, kInfinity, -kInfinity, 0, -3e38f});
  const auto run = [&](const Operator& op) {
    return RunLayer(op, {x}, {Type::kBool}).As<uint8_t>();
  };
  EXPECT_EQ(run(IsNan{}), std::vector<uint8_t>({1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(run(IsInf{}), std::vector<uint8_t>({0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(run(IsInf{.positive = false}), std::vector<uint8_t>({0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(run(IsInf{.negative = false}), std::vector<uint8_t>({0, 0, 1, 0, 0, 0}));
  EXPECT_NE(RunLayer(IsNan{}, {x}, {Type::kFloat32}).error, "");
}

template <class T>
std::vector<T> Extremes() {
  using Limits = std::numeric_limits<T>;
  return {Limits::lowest(), T(Limits::lowest() + 1), T(0), T(1), T(5), Limits::max()};
}

template <class T>
void CheckIntegers() {
  const std::vector<T> x = Extremes<T>();
  const Given in = MakeGiven<T>({2, 3}, x);
  std::vector<T> signs;
  for (const T v : x) signs.push_back(static_cast<T>(v > 0 ? 1 : v == 0 ? 0 : -1));
  EXPECT_EQ(RunLayer(Sign{}, {in}, {TypeOf<T>}).template As<T>(), signs);
  std::vector<T> clipped;
  for (const T v : x) clipped.push_back(v < 1 ? T(1) : v > 4 ? T(4) : v);
  EXPECT_EQ(RunLayer(Clip{int64_t{1}, int64_t{4}}, {in}, {TypeOf<T>}).template As<T>(), clipped);
  EXPECT_EQ(RunLayer(Clip{}, {in}, {TypeOf<T>}).template As<T>(), x);
  const Got crossed = RunLayer(Clip{int64_t{4}, int64_t{1}}, {in}, {TypeOf<T>});
  EXPECT_EQ(crossed.template As<T>(), std::vector<T>(x.size(), T(1)));
  EXPECT_NE(RunLayer(Clip{0.5}, {in}, {TypeOf<T>}).error, "");
}

TEST(RealFunctions, SignAndClipOfIntegers) {
  CheckIntegers<int8_t>();
  CheckIntegers<uint8_t>();
  CheckIntegers<int16_t>();
  CheckIntegers<int32_t>();
  CheckIntegers<int64_t>();
  EXPECT_NE(RunLayer(Clip{int64_t{-129}}, {MakeGiven<int8_t>({1}, {0})}, {Type::kInt8}).error, "");
}

// The bits, or one NaN for all.
std::vector<uint32_t> BitsOf(const std::vector<float>& x) {
  std::vector<uint32_t> bits;
  for (const float v : x) {
    uint32_t word = 0;
    std::memcpy(&word, &v, sizeof(word));
    bits.push_back(std::isnan(v) ? 0x7fc00000u : word);
  }
  return bits;
}

TEST(RealFunctions, SignAndClipOfFloats) {
  const Given x = MakeGiven<float>({8}, {kNan, kInfinity, -kInfinity, 0.0f, -0.0f, 7, -7, 1e-45f});
  const auto run = [&](const Operator& op) {
    return BitsOf(RunLayer(op, {x}, {Type::kFloat32}).As<float>());
  };
  EXPECT_EQ(run(Sign{}), BitsOf({kNan, 1, -1, 0, 0, 1, -1, 1}));
  EXPECT_EQ(run(Clip{-6.0, 6.0}), BitsOf({kNan, 6, -6, 0, -0.0f, 6, -6, 1e-45f}));
  EXPECT_EQ(run(Clip{{}, 6.0}), BitsOf({kNan, 6, -kInfinity, 0, -0.0f, 6, -7, 1e-45f}));
  EXPECT_EQ(run(Clip{-6.0}), BitsOf({kNan, kInfinity, -6, 0, -0.0f, 7, -6, 1e-45f}));
  EXPECT_EQ(run(Clip{3.0, -3.0}), BitsOf({kNan, -3, -3, -3, -3, -3, -3, -3}));
  EXPECT_EQ(RunLayer(Clip{-INFINITY, INFINITY}, {x}, {Type::kFloat32}).error, "");
  EXPECT_NE(RunLayer(Clip{0.1}, {x}, {Type::kFloat32}).error, "");  // no float32
  EXPECT_NE(RunLayer(Clip{int64_t{0}}, {x}, {Type::kFloat32}).error, "");
}

}  // namespace
}  // namespace intaglio::nn::test
