// All 2^32 accumulators: the widest vocabulary against the scalar one, and the bounded forms of
// requantization against the general ones. One multiplier each by default; INTAGLIO_EXHAUSTIVE=1
// takes more of them, and the functions, for longer than CTest's time limit allows.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/test/fixedpoint/isa.h"
#include "intaglio/test/fixedpoint/operations.h"
#include "intaglio/test/fixedpoint/oracle.h"

namespace intaglio::test {
namespace {

constexpr int64_t kBlock = 1 << 14;

// An operation with all operands but the first fixed.
class Bound {
 public:
  Bound(const Operation* operation, int32_t b, int32_t c = 0, int32_t d = 0)
      : operation_(operation), b_(kBlock, b), c_(kBlock, c), d_(kBlock, d), out_(kBlock) {}

  const std::vector<int32_t>& operator()(const std::vector<int32_t>& a) {
    const int32_t* const in[4] = {a.data(), b_.data(), c_.data(), d_.data()};
    operation_->run(in, out_.data(), kBlock);
    return out_;
  }
  const Operation& operation() const { return *operation_; }

 private:
  const Operation* operation_;
  std::vector<int32_t> b_;
  std::vector<int32_t> c_;
  std::vector<int32_t> d_;
  std::vector<int32_t> out_;
};

// Of every int32 from lowest to highest.
void ExpectSame(Bound first, Bound second, int64_t lowest = INT32_MIN,
                int64_t highest = INT32_MAX) {
  std::vector<int32_t> a(kBlock);
  for (int64_t start = lowest; start <= highest; start += kBlock) {
    for (int64_t i = 0; i < kBlock; ++i) {
      a[static_cast<size_t>(i)] = static_cast<int32_t>(std::min(start + i, highest));
    }
    const auto& x = first(a);
    const auto& y = second(a);
    if (x != y) {
      const auto at =
          static_cast<size_t>(std::mismatch(x.begin(), x.end(), y.begin()).first - x.begin());
      FAIL() << first.operation().name << " gives " << x[at] << ", " << second.operation().name
             << " " << y[at] << " at " << a[at];
    }
  }
}

class Exhaustively : public testing::Test {
 protected:
  void SetUp() override {
    if (Isas().empty() || !Isas().front().supported())
      GTEST_SKIP() << "there is only one vocabulary";
  }
  const OperationTable scalar_ = ScalarOperations();
  const OperationTable widest_ = WidestOperations();
};

// Multipliers: an ordinary one, one above 1, one of ties.
struct Multiplier {
  int32_t mantissa;
  int32_t exponent;
};

std::vector<Multiplier> Multipliers() {
  if (!Exhaustive()) return {{1518500250, -8}};
  return {{1518500250, -8}, {1717986918, 3}, {1 << 30, -4},   {INT32_MAX, 0},
          {1 << 30, -31},   {1 << 30, 30},   {1234567891, 0}, {1987654321, -17}};
}

TEST_F(Exhaustively, DoubleRounding) {
  for (const Multiplier m : Multipliers()) {
    const int32_t left = std::max(m.exponent, 0);
    const int32_t right = std::max(-m.exponent, 0);
    const char* name = "RequantizeDoubleRounding";
    ExpectSame({Find(scalar_, name), m.mantissa, left, right},
               {Find(widest_, name), m.mantissa, left, right});
    if (left != 0) continue;
    ExpectSame({Find(widest_, name), m.mantissa, 0, right},
               {Find(widest_, "DoubleRoundingBounded"), m.mantissa, right}, -(1 << 30),
               (1 << 30) - 1);
  }
}

TEST_F(Exhaustively, SingleRounding) {
  for (const Multiplier m : Multipliers()) {
    const int32_t shift = 31 - m.exponent;
    const char* name = "RequantizeSingleRounding";
    ExpectSame({Find(scalar_, name), m.mantissa, shift}, {Find(widest_, name), m.mantissa, shift});
    if (shift < 32) continue;
    ExpectSame({Find(widest_, name), m.mantissa, shift},
               {Find(widest_, "SingleRoundingBounded"), m.mantissa, shift});
  }
}

TEST_F(Exhaustively, FloatHalfEven) {
  for (const Multiplier m : Multipliers()) {
    const auto scale = static_cast<float>(std::ldexp(m.mantissa, m.exponent - 31));
    const auto bits = std::bit_cast<int32_t>(scale);
    const char* name = "RequantizeFloatHalfEven";
    ExpectSame({Find(scalar_, name), bits}, {Find(widest_, name), bits});
    if (scale >= 1) continue;
    ExpectSame({Find(widest_, name), bits},
               {Find(widest_, "RequantizeFloatHalfEvenBounded"), bits});
  }
}

TEST_F(Exhaustively, Functions) {
  if (!Exhaustive()) GTEST_SKIP() << "asked for by INTAGLIO_EXHAUSTIVE=1";
  for (const std::string name :
       {"ExpOnNegativeValues<5>", "Logistic<4>", "Tanh<4>", "OneOverOnePlusX", "OneOverSqrt",
        "InverseSqrt, mantissa", "InverseSqrt, exponent", "SaturatingShiftLeft<5>",
        "RoundingDivideByPowerOfTwo<15>"}) {
    const Operation* operation = Find(scalar_, name);
    ASSERT_NE(operation, nullptr) << name;
    ExpectSame({operation, 0}, {Find(widest_, name), 0}, operation->domain[0].lowest,
               operation->domain[0].highest);
  }
}

}  // namespace
}  // namespace intaglio::test
