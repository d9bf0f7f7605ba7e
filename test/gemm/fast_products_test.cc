// Products that are large enough for kernels with terms of their own (KernelFacts::own_terms), and
// nearly so: all values at their ends, zero points on both sides, rows and channels that leave
// tiles and panels over, several threads.
#include <gtest/gtest.h>

#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/kernels/kernel_table.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {
namespace {

const std::vector<Values> kValues = {Values::kUniform, Values::kExtremes, Values::kAllLowest,
                                     Values::kAllHighest};
const std::vector<Type> kTypes = {Type::kInt8, Type::kUInt8};

void RunProduct(Random& random, const std::string& kernel, Context& context) {
  const int rows = Uniform(random, 20, 70);
  const int channels = Uniform(random, 60, 140);
  const int depth = OneOf<int>(random, {124, 127, 128, 129, 130, 131, 132, 200, 511, 1028});
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(depth) + " x " +
               std::to_string(channels) + ", " + kernel);
  const TestMatrix lhs(random, OneOf(random, kTypes), rows, depth,
                       random() % 3 > 0 ? Order::kRowMajor : Order::kColMajor,
                       Uniform(random, 0, 9), Uniform(random, 0, 127), OneOf(random, kValues));
  const Type type = OneOf(random, kTypes);
  const TestMatrix rhs(random, type, depth, channels, Order::kColMajor, 0,
                       random() % 2 == 0 ? 0 : RandomZeroPoint(random, type),
                       OneOf(random, kValues));
  PackOptions options;
  options.kernel = kernel;
  const bool by_channel = random() % 3 == 0;
  for (int c = 0; by_channel && c < channels; ++c) {
    options.channel_zero_points.push_back(RandomZeroPoint(random, type));
  }
  const auto packed = Prepack(Side::kRhs, rhs.view(), options);
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  TestPipeline pipeline;
  const Type output = OneOf<Type>(random, {Type::kInt8, Type::kUInt8, Type::kInt32});
  const Scaling scaling =
      output == Type::kInt32
          ? Scaling::kNone
          : OneOf<Scaling>(random, {Scaling::kFloatHalfEven, Scaling::kDoubleRounding,
                                    Scaling::kSingleRounding});
  pipeline.Randomize(random, scaling, output, channels, Axis::kCols, 1e-4);
  TestResult dst(output, rows, channels, Order::kRowMajor, Uniform(random, 0, 3));
  ASSERT_TRUE(Gemm(context, lhs.view(), *packed, dst.view(), pipeline.standard).ok());
  dst.Want(pipeline.standard,
           Sums(lhs.ToIntegers(), rhs.ToIntegers(options.channel_zero_points, Axis::kCols)));
  ASSERT_TRUE(dst.Same()) << dst.Difference();
}

TEST(FastProducts, EqualTheDefinition) {
  Context contexts[] = {Context(1), Context(2), Context(3)};
  Random random(1);
  for (const std::string& kernel : KernelNames()) {
    for (int round = 0; round < 60; ++round) {
      ASSERT_NO_FATAL_FAILURE(RunProduct(random, kernel, contexts[round % 3]));
    }
  }
}

// Which sizes they take, and that no CPU gets them where they do not pay.
TEST(FastProducts, AreChosenForLargeProducts) {
  for (const std::string& name : KernelNames()) {
    for (const Kernel* row : CandidatesOf(**KernelNamed(name))) {
      if (row->own_terms == nullptr) continue;
      ProductSize size{48, 64, 64, false, true};
      EXPECT_TRUE(row->serves_product(Type::kInt8, size));
      size.multiplies_are_scarce = false;
      EXPECT_FALSE(row->serves_product(Type::kInt8, size));
      const ProductSize others[] = {{4, 64, 64, false, true},
                                    {48, 16, 64, false, true},
                                    {48, 64, 65, false, true},
                                    {48, 64, 62, false, true},
                                    {48, 64, 2304, false, true}};
      for (const ProductSize& other : others) {
        EXPECT_FALSE(row->serves_product(Type::kInt8, other));
      }
    }
  }
}

}  // namespace
}  // namespace intaglio::test
