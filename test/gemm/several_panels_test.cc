// Kernels that take several panels in one call, as AMX's does, on every CPU: the first kernel of
// the table, told to take them, and given one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "intaglio/gemm/plan/dispatch.h"
#include "intaglio/gemm/plan/product.h"
#include "intaglio/gemm/run/tasks.h"
#include "intaglio/kernels/params_list.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {
namespace {

const Kernel* one_by_one = nullptr;
std::atomic<int> most_panels = 0;

void SeveralPanels(const TileArgs& args) {
  ASSERT_GE(args.panel_count, 1);
  most_panels = std::max(most_panels.load(), args.panel_count);
  const PanelFormat& format = one_by_one->panel;
  const int width = format.lanes * args.vectors;
  TileArgs one = args;
  one.panel_count = 1;
  for (int i = 0; i < args.panel_count; ++i) {
    one_by_one->tile(one);
    one.panel += ptrdiff_t{width} * format.depth_step * args.groups;
    one.params = ParamsAt(one.params, 1, ParamsBytes(format.width()));
    one.dst = static_cast<std::byte*>(one.dst) +
              width * static_cast<ptrdiff_t>(SizeOf(args.epilogue.output));
  }
}

TEST(SeveralPanels, GiveWhatOneByOneDoes) {
  Random random(1);
  one_by_one = *BestKernel();
  Kernel several = *one_by_one;
  several.tile = SeveralPanels;
  several.takes_panels = true;
  const int width = several.panel.width();
  for (const int threads : {1, 3}) {
    Context context(threads);
    // Whole panels alone, with a narrower one behind them, and with an odd number of channels.
    for (const int channels : {4 * width, 4 * width + several.panel.lanes, 4 * width + 3, 3}) {
      const TestMatrix lhs(random, Type::kInt8, 97, 40, Order::kRowMajor, 0, 3);
      const TestMatrix rhs(random, Type::kInt8, 40, channels, Order::kColMajor, 0, 0);
      TestPipeline pipeline;
      pipeline.Randomize(random, Scaling::kDoubleRounding, Type::kInt8, channels, Axis::kCols,
                         0.002);
      TestResult dst(Type::kInt8, 97, channels, Order::kRowMajor, 0);
      dst.Want(pipeline.standard, Sums(lhs.ToIntegers(), rhs.ToIntegers()));
      const auto packed = Prepack(Side::kRhs, rhs.view(), {{}, one_by_one->name});
      ASSERT_TRUE(packed.ok());
      PreparedProduct prepared;
      const Finish finish{AsTilePipeline(pipeline.standard), &pipeline.standard, nullptr};
      ASSERT_TRUE(Prepare(context, lhs.view(), *packed, dst.view(), finish, prepared).ok());
      prepared.product.kernel = &several;
      most_panels = 0;
      ASSERT_TRUE(Execute(context, prepared.product, Block(prepared.product, threads)).ok());
      ASSERT_TRUE(dst.Same()) << channels << " channels: " << dst.Difference();
      if (threads == 1) {
        EXPECT_EQ(most_panels > 1, channels >= 4 * width) << channels;
      }
    }
  }
}

}  // namespace
}  // namespace intaglio::test
