// Functions of float32 against those of the C++ library; and softmax.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "intaglio/test/kernels/float32/every_loops.h"

namespace intaglio::test {
namespace {

class FloatFunctions : public EveryFloatLoops {};
INTAGLIO_INSTANTIATE_EVERY_FLOAT_LOOPS(FloatFunctions);

// TFLite's reference kernel changes its formula at this number and at -9.
constexpr float kLogisticIsOneAbove = 16.619047164916992f;

// The oracle is the library's, so results may be its neighbours. All widths have the same bits.
void CheckLines(const auto& run, const auto& narrow, double (*f)(double)) {
  std::vector<float> x = MakeReals(600, 12, 7);
  size_t at = 0;
  for (const float v : {kNan,
                        INFINITY,
                        -INFINITY,
                        -0.0f,
                        4.0f,
                        -4.0f,
                        9.02f,
                        9.01f,
                        -9.0f,
                        1e-40f,
                        kLogisticIsOneAbove,
                        88.7f,
                        88.8f,
                        89.0f,
                        1e30f,
                        -88.0f,
                        -97.5f,
                        -103.9f,
                        -104.0f,
                        -1e30f}) {
    for (const float neighbour : {v, std::nextafter(v, 1e9f), std::nextafter(v, -1e9f)}) {
      x[at++] = neighbour;
    }
  }
  for (ptrdiff_t count = 0; count <= 600; count += count < 80 ? 1 : 13) {
    std::vector<float> got(static_cast<size_t>(count) + 1, 99);
    run(x.data(), count, got.data());
    ASSERT_EQ(got[static_cast<size_t>(count)], 99);
    std::vector<float> first(static_cast<size_t>(count));
    narrow(x.data(), count, first.data());
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const auto expected = static_cast<float>(f(static_cast<double>(x[i])));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got[i]) && std::isnan(first[i])) << i;
        continue;
      }
      ASSERT_EQ(got[i], first[i]) << x[i];
      ASSERT_EQ(std::signbit(got[i]), std::signbit(expected)) << x[i];
      ASSERT_GE(got[i], std::nextafter(expected, -INFINITY)) << x[i];
      ASSERT_LE(got[i], std::nextafter(expected, INFINITY)) << x[i];
    }
  }
}

TEST_P(FloatFunctions, ErrorFunction) {
  CheckLines(loops_.erf, Scalar().erf, [](double x) { return std::erf(x); });
}

TEST_P(FloatFunctions, HyperbolicTangent) {
  CheckLines(loops_.tanh, Scalar().tanh, [](double x) { return std::tanh(x); });
}

TEST_P(FloatFunctions, Exponential) {
  CheckLines(loops_.exp, Scalar().exp, [](double x) { return std::exp(x); });
}

TEST_P(FloatFunctions, Softplus) {
  CheckLines(loops_.softplus, Scalar().softplus,
             [](double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); });
}

TEST_P(FloatFunctions, Elu) {
  constexpr float kAlpha = 1.7f;
  const auto elu_of = [](const FloatLoops& loops) {
    return
        [&loops](const float* x, ptrdiff_t count, float* to) { loops.elu(kAlpha, x, count, to); };
  };
  CheckLines(elu_of(loops_), elu_of(Scalar()),
             [](double x) { return x < 0 ? double{kAlpha} * std::expm1(x) : x; });
}

// Near 0 a difference of exponentials would lose places.
TEST_P(FloatFunctions, EluOfLittle) {
  for (int exponent = -149; exponent <= 0; ++exponent) {
    for (const float v : {-1.0f, -1.3f, -1.9f}) {
      const float x = std::ldexp(v, exponent);
      float y = 0;
      loops_.elu(1, &x, 1, &y);
      const auto expected = static_cast<float>(std::expm1(static_cast<double>(x)));
      ASSERT_GE(y, std::nextafter(expected, -INFINITY)) << x;
      ASSERT_LE(y, std::nextafter(expected, INFINITY)) << x;
    }
  }
}

// Only the last step of the exponential rounds, so one result in 2^10 or less is the neighbour of
// the number that is nearest.
TEST(FloatExponential, RoundsOnce) {
  const std::vector<float> x = MakeReals(1 << 16, 87, 11);
  std::vector<float> got(x.size());
  Scalar().exp(x.data(), static_cast<ptrdiff_t>(x.size()), got.data());
  int differing = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    differing += got[i] != static_cast<float>(std::exp(static_cast<double>(x[i])));
  }
  EXPECT_LE(differing, 1 << 6);
}

TEST_P(FloatFunctions, Sigmoid) {
  CheckLines(loops_.sigmoid, Scalar().sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); });
}

TEST_P(FloatFunctions, LogisticOfTflite) {
  CheckLines(loops_.logistic, Scalar().logistic, [](double x) {
    if (x > static_cast<double>(kLogisticIsOneAbove)) return 1.0;
    return x < -9 ? std::exp(x) : 1 / (1 + std::exp(-x));
  });
}

std::vector<float> SoftmaxOf(const std::vector<float>& x, float beta) {
  float largest = std::numeric_limits<float>::lowest();
  for (const float v : x) largest = v > largest ? v : largest;
  std::vector<float> e(x.size());
  for (size_t i = 0; i < x.size(); ++i) e[i] = (x[i] - largest) * beta;
  Scalar().exp(e.data(), static_cast<ptrdiff_t>(e.size()), e.data());
  float interleaved[32] = {};
  for (size_t i = 0; i < e.size(); ++i) interleaved[i % 32] += e[i];
  std::vector<double> sums(interleaved, interleaved + 32);
  for (size_t half = 16; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  for (float& v : e) v /= static_cast<float>(sums[0]);
  return e;
}

TEST_P(FloatFunctions, SoftmaxDividesByTheSum) {
  for (ptrdiff_t count = 1; count <= kMostElements; ++count) {
    std::vector<float> x = MakeReals(count, 30, static_cast<unsigned>(count));
    if (count % 10 == 7) x[static_cast<size_t>(count / 2)] = -INFINITY;
    if (count % 10 == 9) x[static_cast<size_t>(count / 3)] = kNan;
    const std::vector<float> expected = SoftmaxOf(x, .7f);
    std::vector<float> got(x.size() + 1, 99);
    loops_.softmax(.7f, x.data(), count, got.data());
    ASSERT_EQ(got[x.size()], 99);
    loops_.softmax(.7f, x.data(), count, x.data());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(std::isnan(got[i]), std::isnan(expected[i])) << count;
      if (std::isnan(got[i])) continue;
      ASSERT_EQ(got[i], expected[i]) << count;
      ASSERT_EQ(x[i], expected[i]) << count;
    }
  }
}

TEST_P(FloatFunctions, LogSoftmaxSubtractsTheLogarithm) {
  for (ptrdiff_t count = 1; count <= kMostElements; ++count) {
    std::vector<float> x = MakeReals(count, 30, static_cast<unsigned>(count));
    if (count % 10 == 7) x[static_cast<size_t>(count / 2)] = -INFINITY;
    if (count % 10 == 9) x[static_cast<size_t>(count / 3)] = kNan;
    float largest = std::numeric_limits<float>::lowest();
    double sum = 0;
    for (const float v : x) largest = v > largest ? v : largest;
    for (const float v : x) sum += std::exp(static_cast<double>(v - largest));
    std::vector<float> got(x.size() + 1, 99);
    std::vector<float> first(x.size());
    loops_.log_softmax(x.data(), count, got.data());
    Scalar().log_softmax(x.data(), count, first.data());
    ASSERT_EQ(got[x.size()], 99);
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = static_cast<double>(x[i] - largest) - std::log(sum);
      ASSERT_EQ(std::isnan(got[i]), std::isnan(expected)) << count;
      if (std::isnan(got[i]) || std::isinf(got[i])) continue;
      ASSERT_EQ(got[i], first[i]) << count;
      ASSERT_NEAR(static_cast<double>(got[i]), expected, 1e-6 * (1 + std::fabs(expected))) << count;
    }
  }
}

}  // namespace
}  // namespace intaglio::test
