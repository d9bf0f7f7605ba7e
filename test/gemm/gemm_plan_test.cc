// Products planned once: the results of Gemm wherever the data lies, and its refusals.
#include "intaglio/gemm/gemm_plan.h"

#include <gtest/gtest.h>

#include "intaglio/test/gemm/image.h"

namespace intaglio::test {
namespace {

// Weights with a pipeline bound to them.
struct Bound {
  Bound(Random& random, int depth, int channels)
      : weights(random, Type::kInt8, depth, channels, Order::kColMajor, 0, 0) {
    pipeline.Randomize(random, Scaling::kDoubleRounding, Type::kInt8, channels, Axis::kCols,
                       0.01 / std::sqrt(depth));
    packed = *Prepack(Side::kRhs, weights.view());
    bound = *BoundPipeline::Bind(*packed, pipeline.standard, Type::kInt8, 3);
  }

  TestMatrix weights;
  TestPipeline pipeline;
  std::optional<PackedMatrix> packed;
  BoundPipeline bound;
};

TEST(GemmPlan, DataAndStridesMayChangeFromCallToCall) {
  Random random(1);
  for (const int rows : {1, 2, 7, 200}) {
    const Bound b(random, 40, 70);
    const TestMatrix shape(random, Type::kInt8, rows, 40, Order::kRowMajor, 5, 3);
    TestResult like(Type::kInt8, rows, 70, Order::kRowMajor, 0);
    const auto plan = GemmPlan::Make(shape.view(), *b.packed, like.view(), b.bound);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    for (const int threads : {1, 2, 4}) {
      Context context(threads);
      for (const int gap : {0, 1, 30}) {
        const TestMatrix x(random, Type::kInt8, rows, 40, Order::kRowMajor, 5, 3);
        TestResult y(Type::kInt8, rows, 70, Order::kRowMajor, gap);
        y.Want(b.pipeline.standard, Sums(x.ToIntegers(), b.weights.ToIntegers()));
        const MutableMatrix dst = y.view();
        ASSERT_TRUE(plan->Run(context, x.view().data, dst.data, dst.stride).ok());
        ASSERT_TRUE(y.Same()) << rows << " rows, " << threads << " threads: " << y.Difference();
      }
    }
  }
}

TEST(GemmPlan, Convolutions) {
  Random random(2);
  Context context(2);
  for (int round = 0; round < 40; ++round) {
    TestImage image(random, Type::kInt8, 2, 9, 8, 5, 3);
    if (round % 2 == 0) image.RandomWindow(random);  // else 1 x 1, which is a matrix
    if (round % 4 < 2) {
      const int first = Uniform(random, 0, 4);
      image.Group(first, Uniform(random, 1, 5 - first));
    }
    const Im2col& v = image.view();
    const Bound b(random, Cols(v), 20);
    TestResult y(Type::kInt8, Rows(v), 20, Order::kRowMajor, 2);
    y.Want(b.pipeline.standard, Sums(image.ToIntegers(), b.weights.ToIntegers()));
    const MutableMatrix dst = y.view();
    Im2col shape = v;
    shape.data = nullptr;
    const auto plan = GemmPlan::Make(shape, *b.packed, dst, b.bound);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    ASSERT_TRUE(plan->Run(context, v.data, dst.data, dst.stride).ok());
    ASSERT_TRUE(y.Same()) << image.Text() << ": " << y.Difference();
  }
}

// Of pipelines that are not bound, over tiles, with either side packed.
TEST(GemmPlan, AnyPipeline) {
  Random random(6);
  for (int round = 0; round < 60; ++round) {
    const int rows = Uniform(random, 1, 90);
    const int cols = Uniform(random, 1, 90);
    const int depth = Uniform(random, 1, 60);
    const Type type = round % 2 == 0 ? Type::kInt8 : Type::kUInt8;
    const TestMatrix a(random, type, rows, depth, Order::kRowMajor, 0,
                       RandomZeroPoint(random, type));
    const TestMatrix b(random, type, depth, cols, Order::kColMajor, 0,
                       RandomZeroPoint(random, type));
    TestPipeline pipeline;
    pipeline.Randomize(random, Scaling::kDoubleRounding, Type::kInt8, cols, Axis::kCols,
                       0.01 / std::sqrt(depth));
    const bool packs_lhs = round % 3 == 0;
    std::optional<PackedMatrix> packed =
        packs_lhs ? *Prepack(Side::kLhs, a.view()) : *Prepack(Side::kRhs, b.view());
    TestResult y(Type::kInt8, rows, cols, Order::kRowMajor, round % 4);
    y.Want(pipeline.standard, Sums(a.ToIntegers(), b.ToIntegers()));
    const MutableMatrix dst = y.view();
    const TilePipeline tile = AsTilePipeline(pipeline.standard);
    const auto plan = packs_lhs ? GemmPlan::Make(*packed, b.view(), dst, tile)
                                : GemmPlan::Make(a.view(), *packed, dst, tile);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    packed.reset();
    Context context(round % 2 + 1);
    const void* const data = packs_lhs ? b.view().data : a.view().data;
    ASSERT_TRUE(plan->Run(context, data, dst.data, dst.stride).ok());
    ASSERT_TRUE(y.Same()) << y.Difference();
  }
}

TEST(GemmPlan, KeepsWhatItNeeds) {
  Random random(3);
  Bound b(random, 8, 4);
  const TestMatrix x(random, Type::kInt8, 3, 8, Order::kRowMajor, 0, 3);
  TestResult y(Type::kInt8, 3, 4, Order::kRowMajor, 0);
  y.Want(b.pipeline.standard, Sums(x.ToIntegers(), b.weights.ToIntegers()));
  const auto plan = GemmPlan::Make(x.view(), *b.packed, y.view(), b.bound);
  ASSERT_TRUE(plan.ok());
  b.packed.reset();
  b.bound = {};
  Context context;
  ASSERT_TRUE(plan->Run(context, x.view().data, y.view().data, 4).ok());
  EXPECT_TRUE(y.Same()) << y.Difference();
}

TEST(GemmPlan, RefusesWhatGemmRefuses) {
  Random random(4);
  Context context;
  const Bound b(random, 8, 4);
  const TestMatrix x(random, Type::kInt8, 3, 8, Order::kRowMajor, 0, 3);
  TestResult y(Type::kInt8, 3, 4, Order::kRowMajor, 0);
  const auto says = [&](const Status& status, const char* message) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << message;
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
    EXPECT_TRUE(y.Untouched());
  };
  const void* data = x.view().data;
  const MutableMatrix dst = y.view();
  says(GemmPlan().Run(context, data, dst.data, 4), "the plan is of nothing");
  says(GemmPlan::Make(x.view(), *b.packed, dst, BoundPipeline()).status(), "bound to nothing");
  says(GemmPlan::Make(x.view(), b.weights.view(), dst, b.bound).status(), "another packed matrix");
  ConstMatrix wide = x.view();
  wide.cols = 9;
  wide.stride = 9;
  says(GemmPlan::Make(wide, *b.packed, dst, b.bound).status(), "lhs 3 x 9 times rhs 8 x 4");
  ConstMatrix moved = x.view();
  moved.zero_point = 4;
  says(GemmPlan::Make(moved, *b.packed, dst, b.bound).status(), "zero point 3");

  const TilePipeline tile = AsTilePipeline(b.pipeline.standard);
  says(GemmPlan::Make(x.view(), b.weights.view(), dst, tile).status(), "neither operand");
  says(GemmPlan::Make(wide, *b.packed, dst, tile).status(), "lhs 3 x 9 times rhs 8 x 4");

  const auto plan = GemmPlan::Make(x.view(), *b.packed, dst, b.bound);
  ASSERT_TRUE(plan.ok());
  says(plan->Run(context, nullptr, dst.data, 4), "null data");
  says(plan->Run(context, data, nullptr, 4), "null data");
  says(plan->Run(context, data, dst.data, 3), "stride of only 3");
  says(plan->Run(context, dst.data, dst.data, 4), "dst overlaps the operand");
}

TEST(GemmPlan, OfNoRowsNeedsNoData) {
  Random random(5);
  Context context;
  const Bound b(random, 8, 4);
  const ConstMatrix none{nullptr, Type::kInt8, 0, 8, 8, Order::kRowMajor, 3};
  const MutableMatrix dst{nullptr, Type::kInt8, 0, 4, 4, Order::kRowMajor};
  const auto plan = GemmPlan::Make(none, *b.packed, dst, b.bound);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_TRUE(plan->Run(context, nullptr, nullptr, 4).ok());
}

}  // namespace
}  // namespace intaglio::test
