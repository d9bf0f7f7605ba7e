// Pipelines of a user's own stages: the registers that they run in, whatever flags this file has,
// and every function that takes such a pipeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "intaglio/gemm/depthwise.h"
#include "intaglio/gemm/describe.h"
#include "intaglio/gemm/gemm_plan.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {
namespace {

// x / 4 for negative x. Its function is not marked to be inlined, because users write it so.
struct Leaky {
  template <class R>
  typename R::I32 Apply(typename R::I32 x, const Place&) const {
    return R::Select(R::Greater(R::Set(0), x), R::template ShiftRight<2>(x), x);
  }
};

std::string RegistersOf(const std::string& kernel) {
  const auto has = [&](const char* word) { return kernel.find(word) != std::string::npos; };
  if (has("amx") || has("avx512")) return "avx512";
  if (has("avx")) return "avx2";
  if (has("sse4.1")) return "sse4.1";
  return has("scalar") ? "scalar" : "neon";
}

// Adds the number of lanes in which it runs.
struct AddLanes {
  template <class R>
  typename R::I32 Apply(typename R::I32 x, const Place&) const {
    return R::Add(x, R::Set(R::kLanes));
  }
};

// The rest of a line also runs in the widest registers that it fills.
TEST(StagesOfALine, RunInTheWidestRegistersThatFit) {
  static_assert(noexcept(StageRegisters()));
  const Pipeline pipeline(AddLanes{}, CastTo<int16_t>{});
  const TilePipeline run = AsTilePipeline(pipeline);
  const std::string registers = run.registers;
  const int widest = registers == "avx512" ? 16 : registers == "avx2" ? 8 : 4;
  for (int length = 0; length <= 40; ++length) {
    const std::vector<int32_t> acc(80, 1000);
    std::vector<int16_t> out(80);
    run.run(run.pipeline,
            {acc.data(), 40, 2, length, Axis::kCols, 0, 0, out.data(), /*line_stride=*/40, 1});
    for (int i = 0; i < length;) {
      int lanes = registers == "scalar" ? 1 : widest;
      while (lanes > length - i) lanes = lanes == 4 ? 1 : lanes / 2;
      for (const int end = i + lanes; i < end; ++i) {
        const auto at = static_cast<size_t>(i);
        EXPECT_EQ(out[at], 1000 + lanes) << i << " of " << length;
        EXPECT_EQ(out[40 + at], 1000 + lanes) << i << " of " << length;
      }
    }
  }
}

class Stages : public testing::Test {
 protected:
  static constexpr int kRows = 37;
  static constexpr int kDepth = 20;
  static constexpr int kCols = 67;

  std::vector<int64_t> Want() const {
    std::vector<int64_t> want = Sums(lhs_.ToIntegers(), rhs_.ToIntegers());
    for (int64_t& x : want) x = x < 0 ? x >> 2 : x;
    return want;
  }

  Random random_{7};
  TestMatrix lhs_{random_, Type::kInt8, kRows, kDepth, Order::kRowMajor, 0, 3};
  TestMatrix rhs_{random_, Type::kInt8, kDepth, kCols, Order::kRowMajor, 0, 0};
  TestResult dst_{Type::kInt32, kRows, kCols, Order::kRowMajor, 0};
  Context context_{2};
  Pipeline<Leaky, CastTo<int32_t>> pipeline_{Leaky{}, CastTo<int32_t>{}};
};

TEST_F(Stages, RunInTheRegistersOfTheFastestKernel) {
  const auto how = DescribeGemm(context_, lhs_.view(), rhs_.view(), dst_.view(), pipeline_);
  ASSERT_TRUE(how.ok()) << how.status().message();
  EXPECT_FALSE(how->in_registers);
  const std::string registers = RegistersOf(how->kernel);
  EXPECT_EQ(how->stage_registers, registers);
  EXPECT_NE(how->text.find("pipeline over tiles, stages by " + registers + ","), std::string::npos)
      << how->text;
#if defined(__x86_64__)
  if (std::getenv("INTAGLIO_ISA") == nullptr && __builtin_cpu_supports("avx2")) {
    const bool has_512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    EXPECT_EQ(how->stage_registers, has_512 ? "avx512" : "avx2");
  }
#endif
}

TEST_F(Stages, StandardCompositionsAreDescribedAsRunInRegisters) {
  const Pipeline pipeline(Clamp{-5, 5}, CastTo<int32_t>{});
  const auto how = DescribeGemm(context_, lhs_.view(), rhs_.view(), dst_.view(), pipeline);
  ASSERT_TRUE(how.ok()) << how.status().message();
  EXPECT_TRUE(how->in_registers);
  EXPECT_EQ(how->stage_registers, "");
}

TEST_F(Stages, GemmTakesThem) {
  dst_.Want(StandardPipeline{}, Want());
  ASSERT_TRUE(Gemm(context_, lhs_.view(), rhs_.view(), dst_.view(), pipeline_).ok());
  EXPECT_TRUE(dst_.Same()) << dst_.Difference();
}

TEST_F(Stages, PlansKeepThem) {
  const auto packed = Prepack(Side::kRhs, rhs_.view());
  ASSERT_TRUE(packed.ok());
  dst_.Want(StandardPipeline{}, Want());
  auto pipeline = std::make_unique<Pipeline<Leaky, CastTo<int32_t>>>(pipeline_);
  const auto plan = GemmPlan::Make(lhs_.view(), *packed, dst_.view(), *pipeline);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  pipeline.reset();
  ASSERT_TRUE(plan->Run(context_, lhs_.view().data, dst_.view().data, dst_.view().stride).ok());
  EXPECT_TRUE(dst_.Same()) << dst_.Difference();
}

TEST_F(Stages, PlansRefuseThemWithoutAPackedOperand) {
  const auto plan = GemmPlan::Make(lhs_.view(), rhs_.view(), dst_.view(), pipeline_);
  EXPECT_EQ(plan.status().message(), "plan: neither operand was packed before");
}

// Multipliers and biases of a standard composition. A composition that holds them itself takes them
// along when it is destroyed.
struct StandardOne {
  std::vector<int32_t> bias;
  QuantizedMultiplier multiplier{1717986918, -7};
  int8_t zero_point = 5;

  auto Composed(Axis axis) const {
    return Pipeline(AddBias{bias.data(), axis}, Requantize{multiplier}, AddZeroPoint{zero_point},
                    CastTo<int8_t>{});
  }
};

// This holds whichever side is packed, and whichever axis the channels follow.
TEST_F(Stages, PlansTakeStandardCompositions) {
  for (const Axis axis : {Axis::kRows, Axis::kCols}) {
    for (const Side side : {Side::kLhs, Side::kRhs}) {
      StandardOne one;
      for (int i = 0; i < (axis == Axis::kRows ? kRows : kCols); ++i) one.bias.push_back(9 * i);
      const auto kept = one.Composed(axis);
      TestResult dst(Type::kInt8, kRows, kCols, Order::kRowMajor, 0);
      dst.Want(*kept.Standard(), Sums(lhs_.ToIntegers(), rhs_.ToIntegers()));
      const auto packed = Prepack(side, side == Side::kLhs ? lhs_.view() : rhs_.view());
      ASSERT_TRUE(packed.ok());
      const Operand left = side == Side::kLhs ? Operand(*packed) : Operand(lhs_.view());
      const Operand right = side == Side::kRhs ? Operand(*packed) : Operand(rhs_.view());
      const auto plan = GemmPlan::Make(left, right, dst.view(), one.Composed(axis));
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      const void* data = side == Side::kLhs ? rhs_.view().data : lhs_.view().data;
      ASSERT_TRUE(plan->Run(context_, data, dst.view().data, dst.view().stride).ok());
      EXPECT_TRUE(dst.Same()) << dst.Difference();
    }
  }
}

// The refusal comes before a plan reads as many biases as the packed matrix has channels.
TEST_F(Stages, PlansRefuseShapesThatDoNotFit) {
  const auto packed = Prepack(Side::kRhs, rhs_.view());
  ASSERT_TRUE(packed.ok());
  TestResult narrow(Type::kInt8, kRows, 2, Order::kRowMajor, 0);
  const std::vector<int32_t> bias(2);
  const Pipeline pipeline(AddBias{bias.data()}, CastTo<int8_t>{});
  const auto plan = GemmPlan::Make(lhs_.view(), *packed, narrow.view(), pipeline);
  EXPECT_EQ(plan.status().code(), StatusCode::kInvalidArgument);
}

TEST_F(Stages, BindTakesStandardCompositionsAndKeepsThem) {
  StandardOne one;
  for (int i = 0; i < kCols; ++i) one.bias.push_back(9 * i);
  const auto composed = one.Composed(Axis::kCols);
  TestResult dst(Type::kInt8, kRows, kCols, Order::kRowMajor, 0);
  dst.Want(*composed.Standard(), Sums(lhs_.ToIntegers(), rhs_.ToIntegers()));
  const auto packed = Prepack(Side::kRhs, rhs_.view());
  ASSERT_TRUE(packed.ok());
  const auto bound =
      BoundPipeline::Bind(*packed, one.Composed(Axis::kCols), Type::kInt8, /*zero point=*/3);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  ASSERT_TRUE(Gemm(context_, lhs_.view(), *packed, dst.view(), *bound).ok());
  EXPECT_TRUE(dst.Same()) << dst.Difference();
}

TEST_F(Stages, BindSaysWhatTakesStagesOfOnesOwn) {
  const auto packed = Prepack(Side::kRhs, rhs_.view());
  ASSERT_TRUE(packed.ok());
  const auto bound = BoundPipeline::Bind(*packed, pipeline_, Type::kInt8, 3);
  EXPECT_EQ(bound.status().code(), StatusCode::kUnsupported);
  EXPECT_NE(bound.status().message().find("GemmPlan"), std::string::npos)
      << bound.status().message();
}

TEST_F(Stages, DepthwiseTakesThem) {
  constexpr int kChannels = 19;
  const TestMatrix image(random_, Type::kInt8, 6, kChannels, Order::kRowMajor, 0, 0);
  const std::vector<int8_t> ones(kChannels, 1);
  const auto filters = PackedDepthwise::Pack(MakeConstMatrix(ones.data(), 1, kChannels), 1, 1);
  ASSERT_TRUE(filters.ok());
  Im2col view;
  view.data = image.view().data;
  view.height = view.out_height = 2;
  view.width = view.out_width = 3;
  view.channels = view.group_channels = kChannels;
  const auto* const pixels = static_cast<const int8_t*>(image.view().data);
  std::vector<int32_t> leaky(6 * kChannels);
  std::vector<int32_t> clamped(6 * kChannels);
  ASSERT_TRUE(Depthwise(context_, view, *filters, leaky.data(), pipeline_).ok());
  ASSERT_TRUE(
      Depthwise(context_, view, *filters, clamped.data(), Pipeline(Clamp{-9, 9}, CastTo<int32_t>{}))
          .ok());
  for (size_t i = 0; i < leaky.size(); ++i) {
    EXPECT_EQ(leaky[i], pixels[i] < 0 ? pixels[i] >> 2 : pixels[i]);
    EXPECT_EQ(clamped[i], std::clamp<int32_t>(pixels[i], -9, 9));
  }
}

}  // namespace
}  // namespace intaglio::test
