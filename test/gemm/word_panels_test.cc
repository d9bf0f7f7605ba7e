// Whole products by panels for int32 results, whose kernel runs with emulated tile registers.
#include "intaglio/gemm/word_panels.h"

#include <gtest/gtest.h>

#include "intaglio/gemm/plan/product.h"
#include "intaglio/gemm/run/tasks.h"
#include "intaglio/test/gemm/problem.h"
#include "intaglio/test/kernels/every_kernel.h"

namespace intaglio::test {
namespace {

const Kernel* EmulatedWords() {
#if defined(__x86_64__)
  for (const Kernel* kernel : EveryRowAndEmulated()) {
    if (kernel->serves_words != nullptr && (kernel->needs & kAmxInt8) == 0) return kernel;
  }
#endif
  return nullptr;
}

struct Case {
  int rows, depth, channels;
  Type lhs, rhs, output;
};

void Check(Random& random, const Kernel& kernel, const Case& c, int threads) {
  SCOPED_TRACE(std::to_string(c.rows) + " x " + std::to_string(c.channels) + " x " +
               std::to_string(c.depth) + ", " + NameOf(c.lhs) + " by " + NameOf(c.rhs) + " to " +
               NameOf(c.output) + ", " + std::to_string(threads) + " threads");
  const auto order = [&] { return OneOf<Order>(random, {Order::kRowMajor, Order::kColMajor}); };
  const auto zero_point = [&](Type type) {
    return random() % 2 == 0 ? 0 : RandomZeroPoint(random, type);
  };
  const TestMatrix lhs(random, c.lhs, c.rows, c.depth, order(), Uniform(random, 0, 3),
                       zero_point(c.lhs));
  const TestMatrix rhs(random, c.rhs, c.depth, c.channels, order(), 0, zero_point(c.rhs));
  std::vector<int32_t> zero_points;
  if (random() % 4 == 0) {
    for (int i = 0; i < c.channels; ++i) zero_points.push_back(RandomZeroPoint(random, c.rhs));
  }
  TestPipeline pipeline;
  if (c.output != Type::kInt32) {
    const Scaling scaling =
        c.output == Type::kFloat32
            ? Scaling::kToFloat
            : OneOf<Scaling>(random, {Scaling::kFloatHalfEven, Scaling::kDoubleRounding});
    pipeline.Randomize(random, scaling, c.output, c.channels, Axis::kCols, 1e-3);
  } else if (random() % 4 == 0) {
    pipeline.Randomize(random, Scaling::kNone, c.output, c.channels, Axis::kCols, 1e-3);
  } else if (random() % 2 == 0) {
    for (int i = 0; i < c.channels; ++i) pipeline.bias.push_back(Uniform(random, -9999, 9999));
    pipeline.standard.bias = pipeline.bias.data();
  }
  TestResult dst(c.output, c.rows, c.channels, random() % 4 == 0 ? order() : Order::kRowMajor,
                 Uniform(random, 0, 2));
  dst.Want(pipeline.standard, Sums(lhs.ToIntegers(), rhs.ToIntegers(zero_points, Axis::kCols)));

  const auto packed =
      PackedMatrix::Pack(Side::kRhs, rhs.view(), kernel.panel, zero_points, kernel.pack);
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  Product product;
  product.Take(packed->panels());
  product.rows = RowSource::From(lhs.view());
  product.WriteTo(dst.view(), Side::kRhs);
  product.tile = AsTilePipeline(pipeline.standard);
  product.standard = &pipeline.standard;
  product.epilogue = MakeEpilogue(product.standard);
  product.kernel = &kernel;
  Context context(threads);
  ASSERT_TRUE(Execute(context, product, Block(product, threads)).ok());
  ASSERT_TRUE(dst.Same()) << dst.Difference();
}

TEST(WordPanels, GiveWhatIsDefined) {
  const Kernel* const kernel = EmulatedWords();
  if (kernel == nullptr || !MayUse(kernel->needs)) GTEST_SKIP() << "no AVX512-VNNI";
  Random random(1);
  for (const int threads : {1, 3}) {
    for (int i = 0; i < 150; ++i) {
      const auto bytes = [&] { return OneOf<Type>(random, {Type::kInt8, Type::kUInt8}); };
      const Type other =
          OneOf<Type>(random, {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kFloat32});
      const Case c{Uniform(random, 1, 150),
                   Uniform(random, 1, 200),
                   Uniform(random, 1, 150),
                   bytes(),
                   bytes(),
                   i % 3 == 0 ? other : Type::kInt32};
      ASSERT_NO_FATAL_FAILURE(Check(random, *kernel, c, threads));
    }
    // Whole tiles alone; several tasks; depths of whole steps, and with something left over.
    for (const int depth : {64, 128, 256, 260, 1100}) {
      for (const Type output : {Type::kInt32, Type::kFloat32}) {
        const Case c{192, depth, 192, Type::kUInt8, Type::kInt8, output};
        ASSERT_NO_FATAL_FAILURE(Check(random, *kernel, c, threads));
      }
    }
  }
}

// Every kernel takes the call, and gives the same bits whether or not it has such panels.
TEST(WordPanels, ArePackedWhereAKernelHasThem) {
  Random random(2);
  for (const std::string& name : KernelNames()) {
    const TestMatrix lhs(random, Type::kUInt8, 70, 100, Order::kRowMajor, 0, 3);
    const TestMatrix rhs(random, Type::kInt8, 100, 130, Order::kRowMajor, 0, 0);
    TestResult dst(Type::kInt32, 70, 130, Order::kRowMajor, 1);
    dst.Want(StandardPipeline(), Sums(lhs.ToIntegers(), rhs.ToIntegers()));
    const auto packed = PrepackForWords(Side::kRhs, rhs.view(), {{}, name});
    ASSERT_TRUE(packed.ok()) << packed.status().message();
    Context context(2);
    ASSERT_TRUE(Gemm(context, lhs.view(), *packed, dst.view(), StandardPipeline()).ok());
    EXPECT_TRUE(dst.Same()) << name << ": " << dst.Difference();

    const bool has = WhyNoWordPanels(name) == nullptr;
    EXPECT_EQ(has, packed->panels().format != (*KernelNamed(name))->panel) << name;
    EXPECT_EQ(WhyNotWordPanels(name, 784, 256, 128) == nullptr, has) << name;
    EXPECT_NE(WhyNotWordPanels(name, 784, 256, 4096), nullptr) << name;
  }
  EXPECT_FALSE(PrepackForWords(Side::kRhs, ConstMatrix{}, {{}, "none"}).ok());
  EXPECT_NE(WhyNoWordPanels("none"), nullptr);
}

}  // namespace
}  // namespace intaglio::test
