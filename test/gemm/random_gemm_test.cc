// Gemm over randomized shapes, types, layouts, zero points, pipelines, threads and kernels, against
// sums in int64.
#include <gtest/gtest.h>

#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/gemm_plan.h"
#include "intaglio/test/gemm/problem.h"
#include "intaglio/test/rounds.h"

namespace intaglio::test {
namespace {

// One product, drawn from a seed.
struct Draw {
  int m, n, k;
  Type lhs_type, rhs_type, output;
  Scaling scaling;
  Axis axis;
  int packed;  // 0 neither side, 1 lhs, 2 rhs
  std::string kernel;
  int threads;

  std::string Text(unsigned seed) const {
    return "seed " + std::to_string(seed) + ": " + std::to_string(m) + " x " + std::to_string(k) +
           " x " + std::to_string(n) + ", " + NameOf(lhs_type) + " x " + NameOf(rhs_type) + " -> " +
           NameOf(output) + ", scaling " + std::to_string(static_cast<int>(scaling)) + ", packed " +
           std::to_string(packed) + ", kernel " + kernel + ", " + std::to_string(threads) +
           " threads";
  }
};

// Extents that hurt: around tiles, panels and powers of two.
int Extent(Random& random) {
  static const std::vector<int> kSome = {1,  2,  3,  4,  5,  6,  7,  8,   9,   10, 12,
                                         13, 15, 16, 17, 24, 31, 32, 33,  47,  48, 49,
                                         63, 64, 65, 79, 80, 96, 97, 127, 128, 129};
  return OneOf(random, kSome);
}

Draw Drawn(Random& random) {
  static const std::vector<Type> kBytes = {Type::kInt8, Type::kUInt8};
  static const std::vector<Scaling> kScalings = {Scaling::kNone,           Scaling::kDoubleRounding,
                                                 Scaling::kDoubleRounding, Scaling::kSingleRounding,
                                                 Scaling::kFloatHalfEven,  Scaling::kReal64,
                                                 Scaling::kToFloat};
  static const std::vector<Type> kOutputs = {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32};
  Draw d{};
  d.m = Extent(random);
  d.n = Extent(random);
  d.k = Extent(random);
  switch (Uniform(random, 0, 7)) {
    case 0:
      d.m = 1;
      break;
    case 1:
      d.n = 1;
      break;
    case 2:
      d.k = Uniform(random, 300, 3000);
      d.m = std::min(d.m, 17);
      d.n = std::min(d.n, 33);
      break;
    case 3:
      d.k = Uniform(random, 0, 3);
      break;
    default:
      break;
  }
  d.lhs_type = OneOf(random, kBytes);
  d.rhs_type = OneOf(random, kBytes);
  d.scaling = OneOf(random, kScalings);
  d.output = d.scaling == Scaling::kToFloat ? Type::kFloat32 : OneOf(random, kOutputs);
  d.axis = random() % 3 == 0 ? Axis::kRows : Axis::kCols;
  d.packed = Uniform(random, 0, 2);
  static const std::vector<std::string> kKernels = KernelNames();
  if (d.packed != 0 && random() % 2 == 0) d.kernel = OneOf(random, kKernels);
  d.threads = random() % 10 != 0 ? 1 : Uniform(random, 2, 8);  // waking threads is slow
  return d;
}

// About one over the spread of the accumulators, times the numbers of the output.
double Gain(const Draw& d) {
  const double spread = 6000.0 * std::sqrt(static_cast<double>(std::max(1, d.k)));
  return (d.output == Type::kInt32   ? 3.0
          : d.output == Type::kInt16 ? 6000.0 / spread
                                     : 60.0 / spread);
}

void RunDraw(unsigned seed, const std::vector<std::unique_ptr<Context>>& contexts) {
  Random random(seed);
  const Draw d = Drawn(random);
  SCOPED_TRACE(d.Text(seed));
  const auto order = [&] { return random() % 2 == 0 ? Order::kRowMajor : Order::kColMajor; };
  const auto gap = [&] { return random() % 2 == 0 ? 0 : Uniform(random, 1, 9); };
  const Values values = random() % 3 == 0 ? Values::kExtremes : Values::kUniform;
  const TestMatrix lhs(random, d.lhs_type, d.m, d.k, order(), gap(),
                       RandomZeroPoint(random, d.lhs_type), values);
  const TestMatrix rhs(random, d.rhs_type, d.k, d.n, order(), gap(),
                       RandomZeroPoint(random, d.rhs_type), values);
  TestResult dst(d.output, d.m, d.n, order(), gap());
  TestPipeline pipeline;
  pipeline.Randomize(random, d.scaling, d.output, d.axis == Axis::kRows ? d.m : d.n, d.axis,
                     Gain(d));

  PackOptions options;
  options.kernel = d.kernel;
  if (d.packed != 0 && random() % 2 == 0) {
    const Type type = d.packed == 1 ? d.lhs_type : d.rhs_type;
    const int channels = d.packed == 1 ? d.m : d.n;
    for (int c = 0; c < channels; ++c)
      options.channel_zero_points.push_back(RandomZeroPoint(random, type));
  }
  const Side side = d.packed == 1 ? Side::kLhs : Side::kRhs;
  std::optional<PackedMatrix> packed;
  if (d.packed != 0) {
    auto made = Prepack(side, d.packed == 1 ? lhs.view() : rhs.view(), options);
    ASSERT_TRUE(made.ok()) << made.status().message();
    packed = *made;
  }
  const Operand left = d.packed == 1 ? Operand(*packed) : Operand(lhs.view());
  const Operand right = d.packed == 2 ? Operand(*packed) : Operand(rhs.view());
  Context& context = *contexts[static_cast<size_t>(d.threads - 1)];

  const auto description = DescribeGemm(context, left, right, dst.view(), pipeline.standard);
  ASSERT_TRUE(description.ok()) << description.status().message();
  if (!d.kernel.empty()) {
    const bool for_safe_pairs = description->kernel == d.kernel + "-safe-pairs";
    ASSERT_TRUE(description->kernel == d.kernel || for_safe_pairs) << description->kernel;
  }
  if (d.packed != 0) {
    ASSERT_EQ(description->transposed, d.packed == 1);
    ASSERT_FALSE(description->packs_panels);
  }
  if (d.scaling == Scaling::kReal64) {
    ASSERT_FALSE(description->in_registers);
  }

  const Status status = Gemm(context, left, right, dst.view(), pipeline.standard);
  ASSERT_TRUE(status.ok()) << status.message();
  const std::vector<int32_t> none;
  const std::vector<int32_t>& zero_points = options.channel_zero_points;
  dst.Want(pipeline.standard,
           Sums(lhs.ToIntegers(d.packed == 1 ? zero_points : none, Axis::kRows),
                rhs.ToIntegers(d.packed == 2 ? zero_points : none, Axis::kCols)));
  ASSERT_TRUE(dst.Same()) << dst.Difference() << "\n" << description->text;

  // Once more with the pipeline bound to the packed side, where its channels are that side's.
  const bool along = (d.axis == Axis::kRows) == (d.packed == 1);
  const bool per_channel = pipeline.standard.bias != nullptr || pipeline.standard.per_channel;
  if (d.packed == 0 || (per_channel && !along)) return;
  const ConstMatrix other = d.packed == 1 ? rhs.view() : lhs.view();
  const auto bound = BoundPipeline::Bind(*packed, pipeline.standard, other.type, other.zero_point);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  dst.Reset();
  const Status again = Gemm(context, left, right, dst.view(), *bound);
  ASSERT_TRUE(again.ok()) << again.message();
  ASSERT_TRUE(dst.Same()) << dst.Difference() << ", bound";

  // And planned.
  dst.Reset();
  const MutableMatrix view = dst.view();
  const auto plan = GemmPlan::Make(left, right, view, *bound);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_TRUE(plan->Run(context, other.data, view.data, view.stride).ok());
  ASSERT_TRUE(dst.Same()) << dst.Difference() << ", planned";
}

class RandomGemm : public testing::TestWithParam<int> {};

TEST_P(RandomGemm, EqualsSumsInInt64) {
  std::vector<std::unique_ptr<Context>> contexts;
  for (int t = 1; t <= 8; ++t) contexts.push_back(std::make_unique<Context>(t));
  for (int seed = 0; seed < Rounds(1000); ++seed) {
    RunDraw(static_cast<unsigned>(GetParam() * 1000 + seed), contexts);
    if (HasFatalFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomGemm, testing::Range(0, 8));

}  // namespace
}  // namespace intaglio::test
