// Gemm with pipelines of every kind: composed ones, a user's own stage, and the standard one at its
// boundaries.
#include <gtest/gtest.h>

#include "intaglio/fixedpoint/quantize_multiplier.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {
namespace {

// A stage that the library does not know: x * x / 1024, plus the place, which must be right in each
// lane.
struct SquareAtPlace {
  template <class R>
  typename R::I32 Apply(typename R::I32 x, const Place& at) const {
    int32_t places[R::kLanes];
    for (int i = 0; i < R::kLanes; ++i) {
      places[i] =
          at.along == Axis::kCols ? 1000 * at.row + at.col + i : 1000 * (at.row + i) + at.col;
    }
    return R::Add(R::template ShiftRight<10>(R::Mul(x, x)), R::Load(places));
  }
};

TEST(Pipelines, UsersStageOnEveryPath) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const int m = Uniform(random, 1, 40);
    const int n = Uniform(random, 1, 100);
    const int k = Uniform(random, 1, 30);
    const TestMatrix lhs(random, Type::kInt8, m, k, Order::kRowMajor, 0, 3);
    const TestMatrix rhs(random, Type::kInt8, k, n, Order::kColMajor, 0, 0);
    const Order order = round % 2 == 0 ? Order::kRowMajor : Order::kColMajor;
    TestResult dst(Type::kInt32, m, n, order, round % 3);
    std::vector<int64_t> want = Sums(lhs.ToIntegers(), rhs.ToIntegers());
    for (size_t i = 0; i < want.size(); ++i) {
      const auto row = static_cast<int64_t>(i) / n;
      want[i] = (Wrap(want[i] * want[i]) >> 10) + 1000 * row + static_cast<int64_t>(i) % n;
    }
    dst.Want(StandardPipeline{}, want);
    Context context(1 + round % 4);
    const Pipeline pipeline(SquareAtPlace{}, CastTo<int32_t>{});
    const auto packed =
        Prepack(round % 3 == 1 ? Side::kLhs : Side::kRhs, round % 3 == 1 ? lhs.view() : rhs.view());
    ASSERT_TRUE(packed.ok());
    const Operand left = round % 3 == 1 ? Operand(*packed) : Operand(lhs.view());
    const Operand right = round % 3 == 2 ? Operand(*packed) : Operand(rhs.view());
    ASSERT_TRUE(Gemm(context, left, right, dst.view(), pipeline).ok());
    ASSERT_TRUE(dst.Same()) << dst.Difference() << ", round " << round;
  }
}

// The four ways to say the same thing give the same bits: the standard pipeline in registers, the
// same over tiles, the composition, and the composition by pointer.
TEST(Pipelines, CompositionEqualsStandard) {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    const int m = Uniform(random, 1, 30);
    const int n = Uniform(random, 1, 80);
    const int k = Uniform(random, 1, 100);
    const TestMatrix lhs(random, Type::kInt8, m, k, Order::kRowMajor, 0, -5);
    const TestMatrix rhs(random, Type::kInt8, k, n, Order::kColMajor, 0, 0);
    const Axis axis = round % 2 == 0 ? Axis::kCols : Axis::kRows;
    const int channels = axis == Axis::kCols ? n : m;
    std::vector<int32_t> bias, mantissa, exponent;
    for (int c = 0; c < channels; ++c) {
      bias.push_back(Uniform(random, -20000, 20000));
      mantissa.push_back((1 << 30) + Uniform(random, 0, (1 << 30) - 1));
      exponent.push_back(Uniform(random, -12, -8));
    }
    const Rounding mode = round % 4 < 2 ? Rounding::kDouble : Rounding::kSingle;
    const Pipeline pipeline(AddBias{bias.data(), axis},
                            RequantizeChannels{mantissa.data(), exponent.data(), axis, mode},
                            AddZeroPoint{7}, Clamp{-100, 90}, CastTo<int8_t>{});
    const auto standard = pipeline.Standard();
    ASSERT_TRUE(standard.has_value());
    const std::vector<int64_t> sums = Sums(lhs.ToIntegers(), rhs.ToIntegers());
    Context context(2);
    for (int way = 0; way < 4; ++way) {
      TestResult dst(Type::kInt8, m, n, round % 3 == 0 ? Order::kColMajor : Order::kRowMajor, 0);
      dst.Want(*standard, sums);
      const MutableMatrix out = dst.view();
      const Status status =
          way == 0   ? Gemm(context, lhs.view(), rhs.view(), out, *standard)
          : way == 1 ? Gemm(context, lhs.view(), rhs.view(), out, AsTilePipeline(*standard))
          : way == 2 ? Gemm(context, lhs.view(), rhs.view(), out, pipeline)
                     : Gemm(context, lhs.view(), rhs.view(), out,
                            AsTilePipeline<NativeRegisters>(pipeline));
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_TRUE(dst.Same()) << dst.Difference() << ", way " << way << ", round " << round;
    }
  }
}

TEST(Pipelines, ResidualAdd) {
  Random random(3);
  const int m = 23;
  const int n = 37;
  const TestMatrix lhs(random, Type::kUInt8, m, 40, Order::kRowMajor, 0, 128);
  const TestMatrix rhs(random, Type::kInt8, 40, n, Order::kRowMajor, 0, 0);
  std::vector<int8_t> residual;
  for (int i = 0; i < m * n; ++i) residual.push_back(static_cast<int8_t>(random()));
  const auto by = QuantizeMultiplier(0.004);
  const auto up = QuantizeMultiplier(1.7);
  ASSERT_TRUE(by.ok() && up.ok());
  const Pipeline pipeline(Requantize{*by}, AddResidual<int8_t>{residual.data(), n, 1, -3, *up},
                          CastTo<int8_t>{});
  EXPECT_FALSE(pipeline.Standard().has_value());
  const std::vector<int64_t> sums = Sums(lhs.ToIntegers(), rhs.ToIntegers());
  std::vector<int64_t> want;
  for (size_t i = 0; i < sums.size(); ++i) {
    const int32_t scaled = DoublyRounded(static_cast<int32_t>(sums[i]), by->mantissa, by->exponent);
    want.push_back(scaled + DoublyRounded(residual[i] + 3, up->mantissa, up->exponent));
  }
  StandardPipeline cast;
  cast.output = Type::kInt8;
  for (const Order order : {Order::kRowMajor, Order::kColMajor}) {
    Context context(3);
    TestResult dst(Type::kInt8, m, n, order, 1);
    dst.Want(cast, want);
    ASSERT_TRUE(Gemm(context, lhs.view(), rhs.view(), dst.view(), pipeline).ok());
    EXPECT_TRUE(dst.Same()) << dst.Difference();
  }
}

// Accumulators around the bound of the cheaper rounding, 2^30: it is used below, not above, and
// both are right. The bias moves the accumulators where they are wanted.
TEST(PipelineBoundaries, BoundedRoundingExactlyWhereItHolds) {
  Random random(4);
  const int m = 5;
  const int n = 67;
  const TestMatrix lhs(random, Type::kUInt8, m, 3, Order::kRowMajor, 0, 0, Values::kExtremes);
  const TestMatrix rhs(random, Type::kInt8, 3, n, Order::kRowMajor, 0, 0, Values::kExtremes);
  const std::vector<int64_t> sums = Sums(lhs.ToIntegers(), rhs.ToIntegers());
  const int64_t reach = 3 * 255 * 128;
  const auto packed = Prepack(Side::kRhs, rhs.view());
  ASSERT_TRUE(packed.ok());
  struct {
    int64_t bias;
    bool bounded;
  } const kCases[] = {
      {0, true}, {(1 << 30) - reach - 2, true}, {1 << 30, false}, {INT32_MAX - reach, false}};
  for (const auto& [magnitude, bounded] : kCases) {
    for (const int sign : {-1, 1}) {
      for (const int exponent : {-31, -30, -24, -8, -1, 0, 1, 5, 30}) {
        for (const auto scaling :
             {Scaling::kDoubleRounding, Scaling::kSingleRounding, Scaling::kFloatHalfEven}) {
          std::vector<int32_t> bias(n, static_cast<int32_t>(sign * magnitude));
          std::vector<int32_t> mantissa, exponents;
          std::vector<float> scale;
          for (int c = 0; c < n; ++c) {
            mantissa.push_back(c % 5 == 0   ? 1 << 30
                               : c % 5 == 1 ? INT32_MAX
                               : c % 5 == 2 ? 0
                                            : (1 << 30) + Uniform(random, 0, (1 << 30) - 1));
            exponents.push_back(exponent);
            scale.push_back(static_cast<float>(std::ldexp(mantissa.back(), exponent - 31)));
          }
          StandardPipeline s;
          s.bias = bias.data();
          s.scaling = scaling;
          s.per_channel = true;
          s.mantissa = mantissa.data();
          s.exponent = exponents.data();
          s.scale = scale.data();
          s.output = Type::kInt32;
          Context context;
          TestResult dst(Type::kInt32, m, n, Order::kRowMajor, 0);
          SCOPED_TRACE("bias " + std::to_string(bias[0]) + ", exponent " +
                       std::to_string(exponent) + ", scaling " +
                       std::to_string(static_cast<int>(scaling)));
          const auto how = DescribeGemm(context, lhs.view(), *packed, dst.view(), s);
          ASSERT_TRUE(how.ok());
          if (scaling == Scaling::kDoubleRounding) {
            EXPECT_EQ(how->bounded_panels, bounded && exponent <= 0 ? how->panels : 0);
          } else if (scaling == Scaling::kSingleRounding) {
            EXPECT_EQ(how->bounded_panels, exponent < 0 ? how->panels : 0);
          } else {
            if (exponent <= -1) {
              EXPECT_EQ(how->bounded_panels, how->panels);
            }
            if (magnitude >= 1 << 30 && exponent >= 5) {
              EXPECT_EQ(how->bounded_panels, 0);
            }
          }
          ASSERT_TRUE(Gemm(context, lhs.view(), *packed, dst.view(), s).ok());
          dst.Want(s, sums);
          ASSERT_TRUE(dst.Same()) << dst.Difference();
        }
      }
    }
  }
}

// The bound counts what the packed values can really reach, panel by panel.
TEST(PipelineBoundaries, BoundIsPerPanel) {
  Random random(5);
  const int k = 20000;
  const int n = 128;
  const TestMatrix lhs(random, Type::kUInt8, 3, k, Order::kRowMajor, 0, 0, Values::kAllHighest);
  TestMatrix rhs(random, Type::kInt8, k, n, Order::kColMajor, 0, 0, Values::kAllHighest);
  auto* data = static_cast<int8_t*>(const_cast<void*>(rhs.view().data));
  std::fill(data, data + ptrdiff_t{k} * 64, int8_t{1});  // the first 64 channels are small
  std::vector<int32_t> mantissa(1, 1518500250), exponent(1, -9);
  StandardPipeline s;
  s.scaling = Scaling::kDoubleRounding;
  s.mantissa = mantissa.data();
  s.exponent = exponent.data();
  // 20000 * 255 * 127 = 647,700,000 < 2^30; twice the bias of the rest is over it.
  std::vector<int32_t> bias(n, 0);
  for (int c = 64; c < n; ++c) bias[static_cast<size_t>(c)] = 500000000;
  s.bias = bias.data();
  Context context;
  TestResult dst(Type::kInt32, 3, n, Order::kRowMajor, 0);
  const auto how = DescribeGemm(context, lhs.view(), rhs.view(), dst.view(), s);
  ASSERT_TRUE(how.ok());
  EXPECT_EQ(how->bounded_panels, how->panels / 2);
  ASSERT_TRUE(Gemm(context, lhs.view(), rhs.view(), dst.view(), s).ok());
  dst.Want(s, Sums(lhs.ToIntegers(), rhs.ToIntegers()));
  EXPECT_TRUE(dst.Same()) << dst.Difference();
}

// Biases at the ends of int32, with sums that they leave room for.
TEST(PipelineBoundaries, BiasExtremes) {
  Context context;
  const std::vector<int8_t> zero(4, 0);
  const int32_t bias[] = {INT32_MIN, INT32_MAX, INT32_MIN + 1, -1};
  for (const auto output : {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32}) {
    for (const auto scaling : {Scaling::kNone, Scaling::kDoubleRounding, Scaling::kSingleRounding,
                               Scaling::kFloatHalfEven, Scaling::kReal64}) {
      for (const int32_t zero_point : {0, 255, -255}) {
        const int32_t mantissa = INT32_MAX;
        const int32_t exponent = 1;
        const float scale = 1.9f;
        const double real = 1.999;
        StandardPipeline s;
        s.bias = bias;
        s.scaling = scaling;
        s.mantissa = &mantissa;
        s.exponent = &exponent;
        s.scale = &scale;
        s.real = &real;
        s.zero_point = zero_point;
        s.output = output;
        TestResult dst(output, 1, 4, Order::kRowMajor, 0);
        dst.Want(s, std::vector<int64_t>(4, 0));
        ASSERT_TRUE(Gemm(context, MakeConstMatrix(zero.data(), 1, 1),
                         MakeConstMatrix(zero.data(), 1, 4), dst.view(), s)
                        .ok());
        ASSERT_TRUE(dst.Same()) << dst.Difference() << ", scaling " << static_cast<int>(scaling)
                                << " to " << NameOf(output) << ", zero point " << zero_point;
      }
    }
  }
}

// One accumulator through every path to the result: in registers, over tiles as a standard
// pipeline.
void ExpectAlike(const StandardPipeline& s, int64_t acc) {
  const std::vector<int8_t> zero(1, 0);
  const auto bias = static_cast<int32_t>(acc);
  StandardPipeline p = s;
  p.bias = &bias;
  Context context;
  for (const bool tiles : {false, true}) {
    TestResult dst(s.output, 1, 1, Order::kRowMajor, 0);
    dst.Want(p, {0});
    const auto one = MakeConstMatrix(zero.data(), 1, 1);
    const Status status = tiles ? Gemm(context, one, one, dst.view(), AsTilePipeline(p))
                                : Gemm(context, one, one, dst.view(), p);
    if (!status.ok()) {
      EXPECT_TRUE(dst.Untouched());
      continue;  // refused: so be it
    }
    ASSERT_TRUE(dst.Same()) << dst.Difference() << (tiles ? ", over tiles" : ", in registers");
  }
}

// A range of clamping that lies outside of the output's own saturates to its end.
TEST(PipelineBoundaries, ClampOutsideOfTheType) {
  for (const auto output : {Type::kInt8, Type::kUInt8, Type::kInt16}) {
    for (const auto& [low, high] :
         {std::pair{-70000, -60000}, std::pair{60000, 70000}, std::pair{-70000, 70000}}) {
      SCOPED_TRACE(std::string(NameOf(output)) + " clamped to " + std::to_string(low) + " .. " +
                   std::to_string(high));
      StandardPipeline s;
      s.output = output;
      s.clamp_min = low;
      s.clamp_max = high;
      for (const int acc : {-100000, 0, 100000}) ASSERT_NO_FATAL_FAILURE(ExpectAlike(s, acc));
    }
  }
}

// Zero points of any size for int16 and int32, as far as the pipeline is not refused.
TEST(PipelineBoundaries, LargeZeroPoints) {
  for (const auto output : {Type::kInt16, Type::kInt32}) {
    for (const int32_t zero_point : {INT32_MIN, INT32_MIN + 1, -40000, -5, 5, 40000, INT32_MAX}) {
      for (const auto& [low, high] :
           {std::pair{INT32_MIN, INT32_MAX}, std::pair{-100, -50}, std::pair{5, 700}}) {
        SCOPED_TRACE(std::string(NameOf(output)) + ", zero point " + std::to_string(zero_point) +
                     ", clamped to " + std::to_string(low) + " .. " + std::to_string(high));
        StandardPipeline s;
        s.output = output;
        s.zero_point = zero_point;
        s.clamp_min = low;
        s.clamp_max = high;
        for (const int64_t acc :
             {int64_t{INT32_MIN}, int64_t{-1}, int64_t{0}, int64_t{60}, int64_t{INT32_MAX}}) {
          ASSERT_NO_FATAL_FAILURE(ExpectAlike(s, acc));
        }
      }
    }
  }
}

// Corrections by zero points may leave int32 as long as the true sum does not.
TEST(PipelineBoundaries, SumsThatFitThoughTheirPartsDoNot) {
  const int k = 33025;
  Random random(6);
  Context context(2);
  for (const std::string& name : KernelNames()) {
    for (const int zero : {0, 255}) {
      // Every product is 255 * 255, or 0, or -255 * 255: 2,147,450,625 at most.
      const TestMatrix lhs(random, Type::kUInt8, 7, k, Order::kRowMajor, 0, zero,
                           Values::kAllHighest);
      const TestMatrix low(random, Type::kUInt8, 7, k, Order::kRowMajor, 0, zero,
                           Values::kAllLowest);
      const TestMatrix rhs(random, Type::kInt8, k, 5, Order::kColMajor, 0, 127, Values::kAllLowest);
      PackOptions options;
      options.kernel = name;
      const auto packed = Prepack(Side::kRhs, rhs.view(), options);
      ASSERT_TRUE(packed.ok());
      for (const TestMatrix* left : {&lhs, &low}) {
        TestResult dst(Type::kInt32, 7, 5, Order::kRowMajor, 0);
        ASSERT_TRUE(Gemm(context, left->view(), *packed, dst.view(), StandardPipeline{}).ok());
        dst.Want(StandardPipeline{}, Sums(left->ToIntegers(), rhs.ToIntegers()));
        ASSERT_TRUE(dst.Same()) << dst.Difference() << ", " << name;
      }
    }
  }
}

// Sums of raw values may leave int32 by far where the zero point is what most values are.
TEST(PipelineBoundaries, DepthFarOverTheBoundOfRawSums) {
  const int k = (1 << 24) + 3;
  std::vector<int8_t> weights(static_cast<size_t>(k), -128);
  weights[5] = 100;
  const std::vector<uint8_t> ones(static_cast<size_t>(k), 255);
  PackOptions options;
  options.kernel = "scalar";
  const auto packed =
      Prepack(Side::kRhs, MakeConstMatrix(weights.data(), k, 1, Order::kColMajor, -128), options);
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  Context context;
  int32_t result = 0;
  const Status status = Gemm(context, MakeConstMatrix(ones.data(), 1, k, Order::kRowMajor, 3),
                             *packed, MakeMatrix(&result, 1, 1), StandardPipeline{});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(result, 252 * 228);
}

}  // namespace
}  // namespace intaglio::test
