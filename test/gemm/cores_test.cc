// Machines whose cores are of two kinds: tasks of one product that take different forms of a
// kernel.
#include "intaglio/gemm/machine/cores.h"

#include <gtest/gtest.h>

#include <atomic>
#include <utility>

#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/plan/product.h"
#include "intaglio/gemm/run/depthwise_product.h"
#include "intaglio/gemm/run/tasks.h"
#include "intaglio/kernels/depthwise/depthwise_args.h"
#include "intaglio/kernels/kernel_table.h"
#include "intaglio/test/gemm/image.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {
namespace {

std::atomic<int> asked = 0;
int current_cpu = 0;

// While one lives, CPU 0 is an in-order core and CPU 1 is none.
class BigAndLittle {
 public:
  explicit BigAndLittle(int (*current)(), KernelList rows = KernelTable())
      : cores_{{true, false}, current, rows}, before_(ReplaceCores(&cores_)) {
    asked = 0;
  }
  ~BigAndLittle() { ReplaceCores(before_); }
  BigAndLittle(const BigAndLittle&) = delete;
  BigAndLittle& operator=(const BigAndLittle&) = delete;

 private:
  MixedCores cores_;
  const MixedCores* before_;
};

// Every other task meets the other core.
int ByTurns() { return asked.fetch_add(1) % 2; }

// A kernel, and as its in-order form the same again; each counts what it is called for.
class CountedForms {
 public:
  explicit CountedForms(const Kernel& kernel) : big_(kernel), little_(kernel) {
    counted_ = &kernel;
    calls_[0] = calls_[1] = 0;
    big_.tile = Tile<0>;
    big_.depthwise = Depthwise<0>;
    big_.needs &= ~uint32_t{kInOrder};  // where the kernel is one for in-order cores
    little_.needs |= kInOrder;
    little_.tile = Tile<1>;
    little_.depthwise = Depthwise<1>;
  }

  const Kernel* kernel() const { return &big_; }
  const Kernel* in_order() const { return &little_; }
  KernelList rows() const { return rows_; }
  static int big() { return calls_[0]; }
  static int little() { return calls_[1]; }

 private:
  template <int kForm>
  static void Tile(const TileArgs& args) {
    ++calls_[kForm];
    counted_->tile(args);
  }
  template <int kForm>
  static void Depthwise(const DepthwiseArgs& args) {
    ++calls_[kForm];
    counted_->depthwise(args);
  }

  static inline const Kernel* counted_;
  static inline std::atomic<int> calls_[2];
  Kernel big_;
  Kernel little_;
  const Kernel* rows_[2] = {&little_, &big_};
};

struct Problem {
  TestMatrix lhs;
  TestMatrix rhs;
  TestPipeline pipeline;
  TestResult dst;

  Problem(Random& random, int m, int n, int k)
      : lhs(random, Type::kInt8, m, k, Order::kRowMajor, 0, 3),
        rhs(random, Type::kInt8, k, n, Order::kColMajor, 0, 0),
        dst(Type::kInt8, m, n, Order::kRowMajor, 0) {
    pipeline.Randomize(random, Scaling::kDoubleRounding, Type::kInt8, n, Axis::kCols,
                       0.01 / std::sqrt(k));
    dst.Want(pipeline.standard, Sums(lhs.ToIntegers(), rhs.ToIntegers()));
  }
};

TEST(Cores, FormOfTheCoreAtHand) {
  const CountedForms forms(*KernelTable().back());
  const Kernel& kernel = *forms.kernel();
  const Kernel& form = *forms.in_order();
  const BigAndLittle machine([] { return current_cpu; }, forms.rows());
  EXPECT_EQ(InOrderForm(kernel), &form);
  EXPECT_EQ(InOrderForm(form), nullptr);
  for (const int cpu : {-1, 0, 1, 2, 1000}) {
    current_cpu = cpu;
    EXPECT_EQ(&KernelForThisCore(kernel), cpu == 0 ? &form : &kernel) << cpu;
    EXPECT_EQ(&KernelForThisCore(form), &form);
  }
}

// Where there is no choice the OS is not asked.
TEST(Cores, OneKindOfCore) {
  const CountedForms forms(*KernelTable().back());
  const BigAndLittle machine(ByTurns);
  EXPECT_EQ(&KernelForThisCore(*KernelTable().back()), KernelTable().back());
  const MixedCores one_kind{{}, ByTurns, forms.rows()};
  const MixedCores* mixed = ReplaceCores(&one_kind);
  EXPECT_EQ(InOrderForm(*forms.kernel()), nullptr);
  EXPECT_EQ(&KernelForThisCore(*forms.kernel()), forms.kernel());
  EXPECT_EQ(asked, 0);
  ReplaceCores(mixed);
}

TEST(Cores, TasksOfOneProduct) {
  Random random(1);
  Problem problem(random, 301, 203, 260);
  const StandardPipeline& standard = problem.pipeline.standard;
  for (const int threads : {2, 3, 8}) {
    Context context(threads);
    PreparedProduct prepared;
    const Finish finish{AsTilePipeline(standard), &standard, nullptr};
    ASSERT_TRUE(Prepare(context, problem.lhs.view(), problem.rhs.view(), problem.dst.view(), finish,
                        prepared)
                    .ok());
    const CountedForms forms(*prepared.product.kernel);
    prepared.product.kernel = forms.kernel();
    ASSERT_GE(Block(prepared.product, threads).tasks(), 2);
    const BigAndLittle machine(ByTurns, forms.rows());
    problem.dst.Reset();
    ASSERT_TRUE(Execute(context, prepared.product, Block(prepared.product, threads)).ok());
    ASSERT_TRUE(problem.dst.Same()) << problem.dst.Difference();
    EXPECT_EQ(asked, Block(prepared.product, threads).tasks());
    EXPECT_GT(forms.big(), 0);
    EXPECT_GT(forms.little(), 0);
  }
}

TEST(Cores, LinesOfADepthwiseConvolution) {
  constexpr int kHeight = 90;
  Random random(2);
  TestImage image(random, Type::kInt8, 1, kHeight, 11, 40, 5);
  const Im2col& v = image.view();
  const TestMatrix filters(random, Type::kInt8, 1, 40, Order::kRowMajor, 0, 0);
  TestPipeline pipeline;
  pipeline.Randomize(random, Scaling::kSingleRounding, Type::kInt8, 40, Axis::kCols, 0.01);
  const Kernel& kernel = **BestKernel();
  auto packed = PackDepthwiseFilters(filters.view(), 1, 1, kernel.panel.lanes, kernel.panel.vectors,
                                     kernel.tap_step);
  ASSERT_TRUE(packed.ok());
  std::vector<int64_t> sums;
  for (int pixel = 0; pixel < kHeight * 11; ++pixel) {
    for (int c = 0; c < 40; ++c) {
      sums.push_back(int64_t{image.Quantized(0, pixel / 11, pixel % 11, c) - 5} *
                     filters.Quantized(0, c));
    }
  }
  TestResult dst(Type::kInt8, kHeight * 11, 40, Order::kRowMajor, 0);
  dst.Want(pipeline.standard, sums);
  const CountedForms forms(kernel);
  const PackedDepthwise::Storage storage{forms.kernel(), std::move(*packed)};
  const BigAndLittle machine(ByTurns, forms.rows());
  Context context(2);
  ASSERT_TRUE(ExecuteDepthwise(context, {v, storage, dst.view().data, 40, &pipeline.standard,
                                         AsTilePipeline(pipeline.standard), nullptr})
                  .ok());
  ASSERT_TRUE(dst.Same()) << dst.Difference();
  // Each core is asked for once per task of a few bands.
  EXPECT_GE(asked, kHeight / (storage.filters.lines() * kMaxBands));
  EXPECT_GT(forms.big(), 0);
  EXPECT_GT(forms.little(), 0);
}

// The forms that this build has, side by side.
TEST(Cores, KernelsWithAnInOrderForm) {
  Random random(3);
  int tried = 0;
  for (const std::string& name : KernelNames()) {
    const BigAndLittle machine(ByTurns);
    const Kernel* form = InOrderForm(**KernelNamed(name));
    if (form == nullptr) continue;
    ++tried;
    for (const int depth : {64, 77, 300}) {
      Problem problem(random, 203, 141, depth);
      PackOptions options;
      options.kernel = name;
      const auto packed = Prepack(Side::kRhs, problem.rhs.view(), options);
      ASSERT_TRUE(packed.ok());
      for (const int threads : {1, 2, 5}) {
        Context context(threads);
        problem.dst.Reset();
        ASSERT_TRUE(Gemm(context, problem.lhs.view(), *packed, problem.dst.view(),
                         problem.pipeline.standard)
                        .ok());
        ASSERT_TRUE(problem.dst.Same()) << name << ": " << problem.dst.Difference();
        const auto how = DescribeGemm(context, problem.lhs.view(), *packed, problem.dst.view(),
                                      problem.pipeline.standard);
        ASSERT_TRUE(how.ok());
        EXPECT_EQ(how->kernel, name);
        EXPECT_EQ(how->in_order_form, form->name);
        EXPECT_NE(how->text.find(how->in_order_form + " on in-order cores"), std::string::npos);
      }
    }
  }
  if (tried == 0) GTEST_SKIP() << "no kernel that runs here has an in-order form";
}

}  // namespace
}  // namespace intaglio::test
