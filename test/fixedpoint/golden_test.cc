// The library against the golden vectors, which another program made.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/inverse_sqrt.h"
#include "intaglio/fixedpoint/multiply.h"
#include "intaglio/fixedpoint/quantize_multiplier.h"
#include "intaglio/fixedpoint/registers.h"
#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/fixedpoint/requantize_real64.h"
#include "intaglio/fixedpoint/transcendental.h"

namespace intaglio::test {
namespace {

using Row = std::vector<std::string>;

std::vector<Row> Read(const std::string& name) {
  std::ifstream file(INTAGLIO_SOURCE_DIR "/test/fixedpoint/golden/" + name);
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    Row row;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    rows.push_back(row);
  }
  EXPECT_GT(rows.size(), 50u) << name << " is missing or cut short";
  if (!rows.empty()) rows.erase(rows.begin());  // the header
  return rows;
}

int32_t Int(const std::string& cell) {
  return static_cast<int32_t>(std::strtol(cell.c_str(), nullptr, 10));
}
double Real(const std::string& cell) { return std::strtod(cell.c_str(), nullptr); }

int32_t Multiply(const std::string& operation, int32_t a, int32_t b) {
  if (operation == "high_mul_32") return SaturatingRoundingDoublingHighMul<Scalar>(a, b);
  if (operation == "divide_by_power_of_two") return RoundingDivideByPowerOfTwo<Scalar>(a, b);
  if (operation == "saturating_shift_left") return SaturatingShiftLeft<Scalar>(a, b);
  if (operation == "high_mul_16") {
    return SaturatingRoundingDoublingHighMul16<Scalar>(static_cast<int16_t>(a),
                                                       static_cast<int16_t>(b));
  }
  ADD_FAILURE() << "unknown operation " << operation;
  return 0;
}

TEST(Golden, Multiply) {
  for (const Row& row : Read("multiply.csv")) {
    EXPECT_EQ(Multiply(row[0], Int(row[1]), Int(row[2])), Int(row[3]))
        << row[0] << "(" << row[1] << ", " << row[2] << ")";
  }
}

TEST(Golden, Requantize) {
  for (const Row& row : Read("requantize.csv")) {
    const int32_t acc = Int(row[0]);
    const QuantizedMultiplier m = {Int(row[1]), Int(row[2])};
    EXPECT_EQ(RequantizeScalar(RequantMode::kDoubleRounding, acc, m, 0), Int(row[3]))
        << acc << " * " << m.mantissa << " * 2^" << m.exponent - 31;
    EXPECT_EQ(RequantizeScalar(RequantMode::kSingleRounding, acc, m, 0), Int(row[4]))
        << acc << " * " << m.mantissa << " * 2^" << m.exponent - 31;
  }
}

TEST(Golden, FloatHalfEven) {
  for (const Row& row : Read("float_half_even.csv")) {
    const auto scale = static_cast<float>(Real(row[1]));
    EXPECT_EQ(RequantizeScalar(RequantMode::kFloatHalfEven, Int(row[0]), {}, scale), Int(row[2]))
        << row[0] << " * " << row[1];
  }
}

TEST(Golden, Real64) {
  for (const Row& row : Read("real64.csv")) {
    EXPECT_EQ(RequantizeReal64(Int(row[0]), Real(row[1])), Int(row[2]))
        << row[0] << " * " << row[1];
  }
}

TEST(Golden, QuantizeMultiplier) {
  for (const Row& row : Read("quantize_multiplier.csv")) {
    const auto m = QuantizeMultiplier(Real(row[0]));
    ASSERT_TRUE(m.ok()) << row[0];
    EXPECT_EQ(m->mantissa, Int(row[1])) << row[0];
    EXPECT_EQ(m->exponent, Int(row[2])) << row[0];
  }
}

template <int kIntegers>
int32_t Evaluate(const std::string& function, int32_t raw) {
  const auto a = FixedPoint<Scalar, kIntegers>::FromRaw(raw);
  if (function == "exp_on_negative_values") return ExpOnNegativeValues(a).raw();
  if (function == "logistic") return Logistic(a).raw();
  if (function == "tanh") return Tanh(a).raw();
  if constexpr (kIntegers == 0) {
    if (function == "one_over_one_plus_x") return OneOverOnePlusX(a).raw();
    if (function == "one_minus_x_over_one_plus_x") return OneMinusXOverOnePlusX(a).raw();
  }
  if constexpr (kIntegers == 1) {
    if (function == "one_over_sqrt") return OneOverSqrt(a).raw();
  }
  ADD_FAILURE() << "unknown function " << function << " of " << kIntegers << " integer bits";
  return 0;
}

int32_t Evaluate(const std::string& function, int32_t integer_bits, int32_t raw) {
  switch (integer_bits) {
    case 0:
      return Evaluate<0>(function, raw);
    case 1:
      return Evaluate<1>(function, raw);
    case 2:
      return Evaluate<2>(function, raw);
    case 4:
      return Evaluate<4>(function, raw);
    case 5:
      return Evaluate<5>(function, raw);
    case 8:
      return Evaluate<8>(function, raw);
    case 12:
      return Evaluate<12>(function, raw);
  }
  ADD_FAILURE() << "unknown number of integer bits " << integer_bits;
  return 0;
}

TEST(Golden, Functions) {
  for (const Row& row : Read("functions.csv")) {
    EXPECT_EQ(Evaluate(row[0], Int(row[1]), Int(row[2])), Int(row[3]))
        << row[0] << "<" << row[1] << ">(" << row[2] << ")";
  }
}

TEST(Golden, InverseSqrt) {
  for (const Row& row : Read("inverse_sqrt.csv")) {
    const auto y = InverseSqrt<Scalar>(Int(row[0]));
    EXPECT_EQ(y.mantissa.raw(), Int(row[1])) << row[0];
    EXPECT_EQ(y.exponent, Int(row[2])) << row[0];
    const InverseSqrtMultiplier tflite = TfliteInverseSqrt(Int(row[0]));
    EXPECT_EQ(tflite.multiplier, Int(row[3])) << row[0];
    EXPECT_EQ(tflite.right_shift, Int(row[4])) << row[0];
  }
}

}  // namespace
}  // namespace intaglio::test
