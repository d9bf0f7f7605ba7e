// Gemm with a convolution's input on the left-hand side.
#include <gtest/gtest.h>

#include "intaglio/test/gemm/image.h"

namespace intaglio::test {
namespace {

void RunConvolution(unsigned seed, Context& context) {
  Random random(seed);
  const Type types[] = {Type::kInt8, Type::kUInt8};
  const Type type = types[random() % 2];
  const Type filter_type = types[random() % 2];
  const int channels = Uniform(random, 1, 20);
  TestImage image(random, type, Uniform(random, 1, 3), Uniform(random, 1, 9), Uniform(random, 1, 9),
                  channels, RandomZeroPoint(random, type));
  if (random() % 6 != 0) image.RandomWindow(random);
  if (random() % 2 == 0) {
    const int first = Uniform(random, 0, channels - 1);
    image.Group(first, Uniform(random, 1, channels - first));
  }
  const Im2col& v = image.view();
  const Integers lhs = image.ToIntegers();
  const int n = Uniform(random, 1, 70);
  const TestMatrix filters(random, filter_type, lhs.cols, n, Order::kColMajor,
                           Uniform(random, 0, 3), RandomZeroPoint(random, filter_type));
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + image.Text() + " -> " + std::to_string(n));

  const Scaling scalings[] = {Scaling::kDoubleRounding, Scaling::kSingleRounding, Scaling::kReal64,
                              Scaling::kNone};
  const Scaling scaling = scalings[random() % 4];
  TestPipeline pipeline;
  const Axis axis = random() % 4 == 0 ? Axis::kRows : Axis::kCols;
  pipeline.Randomize(random, scaling, scaling == Scaling::kNone ? Type::kInt32 : Type::kInt8,
                     axis == Axis::kCols ? n : lhs.rows, axis, 0.01 / std::sqrt(lhs.cols));
  TestResult dst(pipeline.standard.output, lhs.rows, n,
                 random() % 4 == 0 ? Order::kColMajor : Order::kRowMajor, Uniform(random, 0, 2));
  dst.Want(pipeline.standard, Sums(lhs, filters.ToIntegers()));

  if (random() % 2 == 0) {
    ASSERT_TRUE(Gemm(context, v, filters.view(), dst.view(), pipeline.standard).ok());
  } else {
    PackOptions options;
    const auto names = KernelNames();
    options.kernel = OneOf(random, names);
    SCOPED_TRACE(options.kernel);
    const auto packed = Prepack(Side::kRhs, filters.view(), options);
    ASSERT_TRUE(packed.ok());
    ASSERT_TRUE(Gemm(context, v, *packed, dst.view(), pipeline.standard).ok());
  }
  ASSERT_TRUE(dst.Same()) << dst.Difference();
}

TEST(Convolution, EqualsNaiveIm2col) {
  std::vector<std::unique_ptr<Context>> contexts;
  for (int t = 1; t <= 4; ++t) contexts.push_back(std::make_unique<Context>(t));
  for (unsigned seed = 0; seed < 1500; ++seed) {
    RunConvolution(seed, *contexts[seed % 10 < 8 ? 0 : seed % 4]);
    if (HasFatalFailure()) return;
  }
}

// A 1x1 convolution is a plain matrix, and of uint8 with whole depth groups it is read where it
// lies.
TEST(Convolution, OneByOneIsReadInPlaceWhereItCanBe) {
  Random random(1);
  Context context;
  TestImage image(random, Type::kUInt8, 2, 5, 6, 16, 7);
  const TestMatrix filters(random, Type::kInt8, 16, 24, Order::kColMajor, 0, 0);
  TestResult dst(Type::kInt32, 60, 24, Order::kRowMajor, 0);
  const auto how =
      DescribeGemm(context, image.view(), filters.view(), dst.view(), StandardPipeline{});
  ASSERT_TRUE(how.ok());
  const bool reads_bytes =
      how->kernel == "amx-int8" || how->kernel == "avx512-vnni" || how->kernel == "avx-vnni";
  EXPECT_EQ(how->rows_in_place, reads_bytes) << how->text;
  image.view().pad_top = 1;
  EXPECT_FALSE(DescribeGemm(context, image.view(), filters.view(), dst.view(), StandardPipeline{})
                   ->rows_in_place);
}

TEST(Convolution, WhollyOutsideTheImageIsTheZeroPoint) {
  Random random(2);
  Context context;
  TestImage image(random, Type::kInt8, 1, 2, 2, 3, -128);
  image.view().pad_top = 50;
  const TestMatrix filters(random, Type::kInt8, 3, 10, Order::kColMajor, 0, 0);
  TestResult dst(Type::kInt32, 4, 10, Order::kRowMajor, 0);
  ASSERT_TRUE(Gemm(context, image.view(), filters.view(), dst.view(), StandardPipeline{}).ok());
  dst.Want(StandardPipeline{}, std::vector<int64_t>(40, 0));
  EXPECT_TRUE(dst.Same()) << dst.Difference();
}

}  // namespace
}  // namespace intaglio::test
