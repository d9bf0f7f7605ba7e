// Every vocabulary gives the bits of Scalar, operation by operation.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/registers.h"
#include "intaglio/test/fixedpoint/isa.h"
#include "intaglio/test/fixedpoint/operations.h"
#include "intaglio/test/fixedpoint/oracle.h"

namespace intaglio::test {
namespace {

std::vector<int32_t> FloatBits(const Domain& domain, unsigned seed) {
  std::vector<int32_t> bits;
  const auto add = [&](float x) {
    const bool within =
        x >= static_cast<float>(domain.lowest) && x <= static_cast<float>(domain.highest);
    if (within) bits.push_back(std::bit_cast<int32_t>(x));
  };
  std::mt19937 random_bits(seed);
  std::uniform_real_distribution<float> mantissa(1, 2);
  for (int exponent = -126; exponent <= 31; ++exponent) {
    for (const float m : {1.0f, 1.25f, 1.5f, std::nextafter(2.0f, 0.0f), mantissa(random_bits)}) {
      add(std::ldexp(m, exponent));
      add(-std::ldexp(m, exponent));
    }
  }
  for (int i = 0; i < 40; ++i) {  // ties
    add(static_cast<float>(i) + 0.5f);
    add(-static_cast<float>(i) - 0.5f);
  }
  for (const float x : {0.0f, -0.0f, 1e-45f, -1e-45f, 1e-40f}) add(x);
  return bits;
}

std::vector<int32_t> ValuesOf(const Domain& domain, unsigned seed) {
  if (domain.kind == Domain::kFloat) return FloatBits(domain, seed);
  return Boundaries(domain.lowest, domain.highest, 40, seed);
}

// Every pair of values of the first two operands, each with some of the others.
struct Inputs {
  explicit Inputs(const Operation& operation) {
    std::vector<int32_t> values[4];
    for (unsigned i = 0; i < 4; ++i) values[i] = ValuesOf(operation.domain[i], i + 1);
    std::mt19937 random_bits(12);
    const auto any = [&](int i) { return values[i][random_bits() % values[i].size()]; };
    const int repeats = values[2].size() > 1 ? 4 : 1;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (const int32_t a : values[0]) {
        for (const int32_t b : values[1]) Add(a, b, any(2), any(3));
      }
    }
    while (column[0].size() % 64 != 0) Add(any(0), any(1), any(2), any(3));
  }
  void Add(int32_t a, int32_t b, int32_t c, int32_t d) {
    column[0].push_back(a);
    column[1].push_back(b);
    column[2].push_back(c);
    column[3].push_back(d);
  }
  std::vector<int32_t> column[4];
};

std::vector<int32_t> RunOn(const Operation& operation, const Inputs& inputs) {
  const int32_t* const in[4] = {inputs.column[0].data(), inputs.column[1].data(),
                                inputs.column[2].data(), inputs.column[3].data()};
  std::vector<int32_t> out(inputs.column[0].size());
  operation.run(in, out.data(), static_cast<int64_t>(out.size()));
  return out;
}

class Vocabulary : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!GetParam().supported()) GTEST_SKIP() << "this CPU lacks " << GetParam().name;
  }
};

TEST_P(Vocabulary, AgreesWithScalar) {
  const OperationTable scalar = ScalarOperations();
  const OperationTable simd = GetParam().operations();
  ASSERT_EQ(scalar.count, simd.count);
  for (int i = 0; i < scalar.count; ++i) {
    const Inputs inputs(scalar.operations[i]);
    const auto expected = RunOn(scalar.operations[i], inputs);
    const auto actual = RunOn(simd.operations[i], inputs);
    for (size_t k = 0; k < expected.size(); ++k) {
      ASSERT_EQ(actual[k], expected[k])
          << scalar.operations[i].name << "(" << inputs.column[0][k] << ", " << inputs.column[1][k]
          << ", " << inputs.column[2][k] << ", " << inputs.column[3][k] << ")";
    }
  }
}

TEST_P(Vocabulary, AgreesWithScalarOnInt16) {
  const OperationTable scalar = ScalarOperations();
  const OperationTable simd = GetParam().operations();
  ASSERT_EQ(scalar.count16, simd.count16);
  std::vector<int16_t> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int16_t>(i);
  std::vector<int16_t> expected(all.size());
  std::vector<int16_t> actual(all.size());
  for (const int32_t b : Boundaries(INT16_MIN, INT16_MAX, 100, 13)) {
    const std::vector<int16_t> same(all.size(), static_cast<int16_t>(b));
    const auto size = static_cast<int64_t>(all.size());
    for (int i = 0; i < scalar.count16; ++i) {
      scalar.operations16[i].run(all.data(), same.data(), expected.data(), size);
      simd.operations16[i].run(all.data(), same.data(), actual.data(), size);
      ASSERT_EQ(expected, actual) << scalar.operations16[i].name << "(all, " << b << ")";
    }
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Vocabulary);  // where there is no SIMD
INSTANTIATE_TEST_SUITE_P(Isas, Vocabulary, testing::ValuesIn(Isas()),
                         [](const auto& info) { return std::string(info.param.name); });

// The definition itself, against wider arithmetic.
TEST(Scalar, WideOperations) {
  const auto values = Boundaries(INT32_MIN, INT32_MAX, 50, 14);
  for (const int32_t a : values) {
    for (const int32_t b : values) {
      const Wide joined = Wide{a} * PowerOfTwo(32) + static_cast<uint32_t>(b);
      ASSERT_EQ(Scalar::JoinWide(a, b), joined);
      ASSERT_EQ(Scalar::MulWide(a, b), Wide{a} * b);
      for (int count = 1; count <= 62; ++count) {
        const auto low = static_cast<uint32_t>(FloorDivide(joined, PowerOfTwo(count)));
        ASSERT_EQ(static_cast<uint32_t>(Scalar::NarrowShift(Scalar::JoinWide(a, b), count)), low);
      }
      ASSERT_EQ(Scalar::NarrowShift<32>(Scalar::JoinWide(a, b)), a);
    }
  }
  for (int count = 0; count <= 62; ++count) {
    ASSERT_EQ(Scalar::PowerOfTwoWide(count), PowerOfTwo(count));
  }
}

TEST(Scalar, Shifts) {
  for (const int32_t a : Boundaries(INT32_MIN, INT32_MAX, 50, 15)) {
    for (int count = 0; count < 32; ++count) {
      ASSERT_EQ(Scalar::ShiftRight(a, count), FloorDivide(a, PowerOfTwo(count)));
      ASSERT_EQ(static_cast<uint32_t>(Scalar::ShiftLeft(a, count)),
                static_cast<uint32_t>(a * PowerOfTwo(count)));
      ASSERT_EQ(static_cast<uint32_t>(Scalar::ShiftRightLogical(a, count)),
                FloorDivide(static_cast<uint32_t>(a), PowerOfTwo(count)));
    }
    ASSERT_EQ(Scalar::ShiftRightLogical(a, 32), 0);
  }
}

}  // namespace
}  // namespace intaglio::test
