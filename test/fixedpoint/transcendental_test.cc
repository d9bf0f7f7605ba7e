// How far the functions are from the real ones, in units in the last place of the result; and what
// must hold exactly. INTAGLIO_EXHAUSTIVE=1 looks at every input, and prints the worst.
#include "intaglio/fixedpoint/transcendental.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/inverse_sqrt.h"
#include "intaglio/fixedpoint/logarithm.h"
#include "intaglio/fixedpoint/registers.h"
#include "intaglio/test/fixedpoint/isa.h"
#include "intaglio/test/fixedpoint/operations.h"
#include "intaglio/test/fixedpoint/oracle.h"

namespace intaglio::test {
namespace {

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }
double OneOverOnePlus(double x) { return 1 / (1 + x); }
double OneMinusOverOnePlus(double x) { return (1 - x) / (1 + x); }
double OneOverSqrt(double x) { return 1 / std::sqrt(x); }
double Exp(double x) { return std::exp(x); }
double Tanh(double x) { return std::tanh(x); }

struct Function {
  const char* operation;
  int integer_bits;  // of the argument
  int result_bits;   // integer bits of the result
  double (*exact)(double);
  double
      bound;  // on the error, in units in the last place; the measured one is in docs/numerics.md
};

const Function kFunctions[] = {
    {"ExpOnNegativeValues<0>", 0, 0, Exp, 492.4},
    {"ExpOnNegativeValues<2>", 2, 0, Exp, 492.3},
    {"ExpOnNegativeValues<5>", 5, 0, Exp, 492.3},
    {"ExpOnNegativeValues<12>", 12, 0, Exp, 492.2},
    {"Logistic<0>", 0, 0, Logistic, 153.8},
    {"Logistic<2>", 2, 0, Logistic, 153.7},
    {"Logistic<4>", 4, 0, Logistic, 153.6},
    {"Logistic<8>", 8, 0, Logistic, 153.3},
    {"Tanh<0>", 0, 0, Tanh, 307.5},
    {"Tanh<2>", 2, 0, Tanh, 307.3},
    {"Tanh<4>", 4, 0, Tanh, 307.2},
    {"Tanh<8>", 8, 0, Tanh, 306.5},
    {"OneOverOnePlusX", 0, 0, OneOverOnePlus, 6.9},
    {"OneMinusXOverOnePlusX", 0, 0, OneMinusOverOnePlus, 13.7},
    {"OneOverSqrt", 1, 1, OneOverSqrt, 2.6},
};

struct Worst {
  double error = 0;
  int32_t at = 0;
};

void Measure(const Function& function, const int32_t* in, const int32_t* out, int64_t size,
             Worst* worst) {
  const double in_unit = std::ldexp(1, function.integer_bits - 31);
  const double out_units = std::ldexp(1, 31 - function.result_bits);
  for (int64_t i = 0; i < size; ++i) {
    const double error = std::abs(out[i] - function.exact(in[i] * in_unit) * out_units);
    if (error > worst->error) *worst = {error, in[i]};
  }
}

Worst MeasureAll(const Function& function, const Operation& operation, int64_t stride) {
  constexpr int64_t kBlock = 4096;
  std::vector<int32_t> in(kBlock);
  std::vector<int32_t> out(kBlock);
  const int32_t* const operands[4] = {in.data(), in.data(), in.data(), in.data()};
  Worst worst;
  const Domain domain = operation.domain[0];
  for (int64_t first = domain.lowest; first <= domain.highest; first += stride * kBlock) {
    for (int64_t i = 0; i < kBlock; ++i) {
      in[static_cast<size_t>(i)] =
          static_cast<int32_t>(std::min<int64_t>(first + i * stride, domain.highest));
    }
    operation.run(operands, out.data(), kBlock);
    Measure(function, in.data(), out.data(), kBlock, &worst);
  }
  return worst;
}

TEST(Transcendental, ErrorIsWithinItsBound) {
  const OperationTable table = WidestOperations();
  for (const Function& function : kFunctions) {
    const Operation* operation = Find(table, function.operation);
    ASSERT_NE(operation, nullptr) << function.operation;
    const Worst worst = MeasureAll(function, *operation, Exhaustive() ? 1 : 4099);
    EXPECT_LE(worst.error, function.bound) << function.operation << " at " << worst.at;
    if (Exhaustive()) {
      std::printf("%s: at most %.2f units, at %d\n", function.operation, worst.error, worst.at);
      std::fflush(stdout);
    }
  }
}

TEST(Transcendental, LogarithmIsWithinItsBound) {
  using In = FixedPoint<Scalar, 12>;
  constexpr double kOne = 1 << In::kFractionBits;
  for (uint32_t raw = 1 << In::kFractionBits; raw < uint32_t{1} << 31; raw += 10007) {
    const double y = LogOfOneOrMore<5>(In::FromRaw(static_cast<int32_t>(raw))).raw();
    ASSERT_NEAR(y, std::ldexp(std::log(raw / kOne), 26), 3.1) << raw;
  }
}

}  // namespace
}  // namespace intaglio::test
