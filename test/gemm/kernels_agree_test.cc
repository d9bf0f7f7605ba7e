// Every kernel by name, thread counts 1 to 8, several blockings: the same bits, and the kernel that
// was asked for is the one that ran. CTest runs the suite Isa once more for each kernel with
// INTAGLIO_ISA set.
#include <gtest/gtest.h>

#include <set>

#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/kernels/kernel.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {
namespace {

struct Size {
  int m, n, k;
};

// Large enough for several tasks of rows and of panels in most caches, and a few that are not.
const Size kSizes[] = {
    {70, 300, 2048}, {1, 517, 1031}, {517, 1, 1031}, {129, 130, 65}, {13, 70, 33025}};

struct Big {
  TestMatrix lhs, rhs;
  TestPipeline pipeline;
  std::vector<int64_t> sums;

  Big(Random& random, Size s, Type lhs_type, Type rhs_type)
      : lhs(random, lhs_type, s.m, s.k, Order::kRowMajor, 0, lhs_type == Type::kUInt8 ? 0 : 3,
            s.k > 30000 ? Values::kAllHighest : Values::kUniform),
        rhs(random, rhs_type, s.k, s.n, Order::kColMajor, 5,
            s.k > 30000                ? 0
            : rhs_type == Type::kUInt8 ? 128
                                       : -7,
            s.k > 30000 ? Values::kAllHighest : Values::kUniform) {
    pipeline.Randomize(random, Scaling::kDoubleRounding, Type::kInt8, s.n, Axis::kCols,
                       60.0 / 6000 / std::sqrt(s.k));
    sums = Sums(lhs.ToIntegers(), rhs.ToIntegers());
  }
};

TEST(KernelsAgree, EveryKernelThreadCountAndBlocking) {
  Random random(5);
  std::set<std::string> ran;
  bool several_row_tasks = false;
  bool several_panel_tasks = false;
  std::vector<std::unique_ptr<Context>> contexts;
  for (int t = 1; t <= 8; ++t) contexts.push_back(std::make_unique<Context>(t));
  for (const Size& size : kSizes) {
    const Type lhs_type = size.k > 30000 || random() % 2 == 0 ? Type::kUInt8 : Type::kInt8;
    Big big(random, size, lhs_type, size.k > 30000 ? Type::kUInt8 : Type::kInt8);
    for (const std::string& name : KernelNames()) {
      PackOptions options;
      options.kernel = name;
      const auto packed = Prepack(Side::kRhs, big.rhs.view(), options);
      ASSERT_TRUE(packed.ok()) << packed.status().message();
      // One long thread count sweep is enough for the fast kernels; all get the ends.
      for (int threads = 1; threads <= 8; threads += name == "scalar" || name == "sse4.1" ? 7 : 1) {
        SCOPED_TRACE(name + ", " + std::to_string(threads) + " threads, K " +
                     std::to_string(size.k));
        Context& context = *contexts[static_cast<size_t>(threads - 1)];
        TestResult dst(Type::kInt8, size.m, size.n, Order::kRowMajor, 3);
        const auto how =
            DescribeGemm(context, big.lhs.view(), *packed, dst.view(), big.pipeline.standard);
        ASSERT_TRUE(how.ok()) << how.status().message();
        ASSERT_EQ(how->kernel, name);
        ran.insert(how->kernel);
        several_row_tasks |= how->row_tasks > 1;
        several_panel_tasks |= how->panel_tasks > 1;
        ASSERT_TRUE(Gemm(context, big.lhs.view(), *packed, dst.view(), big.pipeline.standard).ok());
        dst.Want(big.pipeline.standard, big.sums);
        ASSERT_TRUE(dst.Same()) << dst.Difference();
      }
    }
  }
  EXPECT_EQ(ran.size(), KernelNames().size());
  EXPECT_TRUE(several_row_tasks);
  EXPECT_TRUE(several_panel_tasks);
}

// Runs blocks on the test's own threads, in the reverse order and unevenly.
TEST(KernelsAgree, CallersParallelFor) {
  Random random(6);
  Big big(random, {65, 140, 100}, Type::kUInt8, Type::kInt8);
  for (int threads = 1; threads <= 8; ++threads) {
    int calls = 0;
    Context context(threads, [&](int count, const std::function<void(int)>& task) {
      ++calls;
      ASSERT_LE(count, threads);
      for (int i = count - 1; i >= 0; --i) task(i);
    });
    TestResult dst(Type::kInt8, 65, 140, Order::kRowMajor, 0);
    ASSERT_TRUE(
        Gemm(context, big.lhs.view(), big.rhs.view(), dst.view(), big.pipeline.standard).ok());
    dst.Want(big.pipeline.standard, big.sums);
    ASSERT_TRUE(dst.Same()) << dst.Difference();
    if (threads > 1) {
      EXPECT_GT(calls, 0);
    }
  }
}

TEST(KernelsAgree, CpuFeaturesAreThoseOfTheCompilersOwnDetection) {
#if defined(__x86_64__)
  EXPECT_EQ((Cpu().features & kSse41) != 0, __builtin_cpu_supports("sse4.1") != 0);
  EXPECT_EQ((Cpu().features & kAvx2) != 0,
            __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ((Cpu().features & kAvx512Bw) != 0, __builtin_cpu_supports("avx512bw") != 0 &&
                                                   __builtin_cpu_supports("avx512dq") != 0 &&
                                                   __builtin_cpu_supports("avx512vl") != 0);
  EXPECT_EQ((Cpu().features & kAvx512Vnni) != 0, __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(Cpu().hints == CpuInfo::Hints::kAlways, __builtin_cpu_is("amd") == 0);
  if (__builtin_cpu_is("znver3")) {
    EXPECT_EQ(Cpu().hints, CpuInfo::Hints::kNever);
  }
#endif
  EXPECT_GE(Cpu().l1_bytes, size_t{8} << 10);
  EXPECT_GE(Cpu().l2_bytes, Cpu().l1_bytes);
}

// What INTAGLIO_ISA says is what runs where nothing was packed before.
TEST(Isa, ForcedKernelRuns) {
  const char* forced = std::getenv("INTAGLIO_ISA");
  const std::string isa = forced == nullptr ? "" : forced;
  Random random(7);
  Context context(3);
  std::string best;
  for (const KernelInfo& info : ListKernels()) {
    if (best.empty() && info.usable) best = info.name;
    if (info.name == isa && !info.usable) GTEST_SKIP() << isa << ": " << info.why_not;
  }
  if (!isa.empty()) {
    ASSERT_EQ(best, isa);
  }
  for (int round = 0; round < 60; ++round) {
    const int m = Uniform(random, 1, 40);
    const int n = Uniform(random, 1, 150);
    const int k = Uniform(random, 0, 200);
    const Type types[] = {Type::kInt8, Type::kUInt8};
    const Type lt = types[round % 2];
    const Type rt = types[round / 2 % 2];
    const TestMatrix lhs(random, lt, m, k, Order::kRowMajor, 0, RandomZeroPoint(random, lt));
    const TestMatrix rhs(random, rt, k, n, Order::kRowMajor, 0, RandomZeroPoint(random, rt));
    TestPipeline pipeline;
    pipeline.Randomize(random, round % 3 == 0 ? Scaling::kSingleRounding : Scaling::kDoubleRounding,
                       Type::kUInt8, n, Axis::kCols, 0.001);
    TestResult dst(Type::kUInt8, m, n, Order::kRowMajor, 0);
    const auto how = DescribeGemm(context, lhs.view(), rhs.view(), dst.view(), pipeline.standard);
    ASSERT_TRUE(how.ok()) << how.status().message();
    ASSERT_EQ(how->kernel, best);
    ASSERT_TRUE(Gemm(context, lhs.view(), rhs.view(), dst.view(), pipeline.standard).ok());
    dst.Want(pipeline.standard, Sums(lhs.ToIntegers(), rhs.ToIntegers()));
    ASSERT_TRUE(dst.Same()) << dst.Difference();
  }
  // The faster rows that were passed over are named, with the reason.
  const TestMatrix one(random, Type::kInt8, 1, 1, Order::kRowMajor, 0, 0);
  TestResult dst(Type::kInt32, 1, 1, Order::kRowMajor, 0);
  const auto how = DescribeGemm(context, one.view(), one.view(), dst.view(), StandardPipeline{});
  ASSERT_TRUE(how.ok());
  size_t faster = 0;
  for (const KernelInfo& info : ListKernels()) {
    if (info.name == best) break;
    ASSERT_LT(faster, how->skipped.size());
    EXPECT_EQ(how->skipped[faster++], info.name + ": " + info.why_not);
  }
  EXPECT_EQ(how->skipped.size(), faster);
}

// A kernel may be named for packing though INTAGLIO_ISA allows less.
TEST(Isa, NamedKernelsStayAvailable) {
  Random random(8);
  Context context(1);
  const TestMatrix lhs(random, Type::kInt8, 9, 40, Order::kRowMajor, 0, 1);
  const TestMatrix rhs(random, Type::kUInt8, 40, 70, Order::kRowMajor, 0, 100);
  for (const std::string& name : KernelNames()) {
    PackOptions options;
    options.kernel = name;
    const auto packed = Prepack(Side::kRhs, rhs.view(), options);
    ASSERT_TRUE(packed.ok());
    TestResult dst(Type::kInt32, 9, 70, Order::kRowMajor, 0);
    const StandardPipeline plain;
    const auto how = DescribeGemm(context, lhs.view(), *packed, dst.view(), plain);
    ASSERT_TRUE(how.ok());
    EXPECT_EQ(how->kernel, name);
    ASSERT_TRUE(Gemm(context, lhs.view(), *packed, dst.view(), plain).ok());
    dst.Want(plain, Sums(lhs.ToIntegers(), rhs.ToIntegers()));
    ASSERT_TRUE(dst.Same()) << dst.Difference();
  }
}

}  // namespace
}  // namespace intaglio::test
