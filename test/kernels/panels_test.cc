// Kernels that take several panels in one call, beside calls of one panel each (tile_test.cc).
#include <array>

#include "intaglio/test/kernels/every_kernel.h"
#include "intaglio/test/kernels/guarded.h"
#include "intaglio/test/kernels/panel_oracle.h"

namespace intaglio::test {
namespace {

class ManyPanels : public EveryKernel {
 protected:
  void SetUp() override {
    EveryKernel::SetUp();
    if (!IsSkipped() && !kernel().takes_panels && !kernel().takes_panels_of_row) {
      GTEST_SKIP() << "it takes one panel at a time";
    }
  }
};

struct PanelsCase {
  const Kernel& kernel;
  int panels;
  int rows;
  int depth;
  Type output;

  int vectors() const { return kernel.panel.vectors; }
  int width() const { return kernel.panel.lanes * vectors(); }
  int groups() const { return kernel.panel.Groups(depth); }
  size_t panel_bytes() const {
    return static_cast<size_t>(groups() * width() * kernel.panel.depth_step);
  }

  // Neighbours are finished in the same way or not.
  std::vector<PanelParams> Params(Random& random) const {
    std::vector<PanelParams> params;
    for (int i = 0; i < panels; ++i) {
      ChannelParams p(width());
      for (int32_t& o : p.offset) o = Uniform(random, -100000, 100000);
      for (int32_t& z : p.negative_zero_point) z = Uniform(random, -255, 255);
      if (output == Type::kFloat32) {
        p.form = ScalingForm::kToFloat;
        for (float& f : p.scale) f = 1e-3f * static_cast<float>(Uniform(random, 1, 100));
      }
      if (SizeOf(output) == 1) {
        p.form = std::array{ScalingForm::kFloatHalfEvenBounded, ScalingForm::kFloatHalfEvenBounded,
                            ScalingForm::kDoubleRounding,
                            ScalingForm::kSingleRoundingBounded}[random() % 4];
        for (int32_t& m : p.mantissa) m = Uniform(random, 1 << 30, INT32_MAX);
        for (float& s : p.scale) s = 1e-5f * static_cast<float>(Uniform(random, 1, 100));
        const int whole = p.form == ScalingForm::kSingleRoundingBounded ? 31 : 0;
        for (int32_t& s : p.right_shift) s = whole + Uniform(random, 8, 12);
      }
      params.push_back(p.InLanes(kernel.panel.lanes, vectors()));
    }
    return params;
  }

  void Check(Random& random, bool has_zero_points) const {
    const ParamsList params(kernel.panel.width(), Params(random));
    const Guarded panel(panel_bytes() * static_cast<size_t>(panels));
    const int stride =
        groups() * kernel.panel.depth_step * static_cast<int>(RowElementBytes(kernel.row_format));
    const Guarded row(static_cast<size_t>(rows) * static_cast<size_t>(stride));
    for (size_t i = 0; i < panel_bytes() * static_cast<size_t>(panels); ++i) {
      panel.data()[i] = static_cast<uint8_t>(random());
    }
    for (int i = 0; i < rows * stride; ++i) row.data()[i] = static_cast<uint8_t>(random());
    std::vector<int32_t> sums;
    for (int r = 0; r < rows; ++r) sums.push_back(Uniform(random, -99999, 99999));

    GuardedRows out(output, rows, panels * width(), 24);
    TileArgs args;
    args.panel = reinterpret_cast<const int8_t*>(panel.data());
    args.vectors = vectors();
    args.panel_count = panels;
    args.panel_has_lowest = true;
    args.fetch_ahead = random() % 2 == 0;
    args.rows = row.data();
    args.row_stride = stride;
    args.row_count = rows;
    args.groups = groups();
    if (has_zero_points) args.row_sums = sums.data();
    args.params = params.At(0);
    // Of int32 results that are as they are nothing is left to do.
    const int32_t zero_point = output == Type::kInt32 && random() % 4 != 0 ? 0 : 3;
    args.epilogue = {output, zero_point, SizeOf(output) == 1 ? LowestOf(output) : INT32_MIN,
                     SizeOf(output) == 1 ? HighestOf(output) : INT32_MAX};
    args.dst = out.dst();
    args.dst_stride = out.stride();
    TileRun(kernel).Tile(args);

    args.panel_count = 1;
    for (int i = 0; i < panels; ++i) {
      args.params = params.At(static_cast<size_t>(i));
      args.dst = static_cast<char*>(out.want(0)) +
                 ptrdiff_t{i} * width() * static_cast<int>(SizeOf(output));
      TileRun(kernel).Tile(args);
      args.panel += panel_bytes();
    }
    ASSERT_TRUE(out.Same()) << panels << " panels, " << rows << " rows, depth " << depth << ", "
                            << NameOf(output) << ": " << out.Difference();
  }
};

TEST_P(ManyPanels, AsOneByOne) {
  Random random(1);
  // All panels of products that take less than their results are done together: the numbers of
  // these are what tiles leave over. 20 and 40 KB of a panel, and 48 of the rows of a block, are
  // where panels and rows begin and end to take turns.
  for (const int depth : {0, 3, 64, 321, 512, 640, 641, 700, 1100, 1536, 1540, 4100}) {
    for (const int rows : {1, 1, 1, 2, 3, 15, 16, 17, 18, 19, 32, 33, 47, 48, 64, 70}) {
      if (rows > 1 && !kernel().takes_panels) continue;
      for (const int panels : {1, 2, 3, 6, 7}) {
        const Type output =
            std::array{Type::kInt8, Type::kUInt8, Type::kInt32, Type::kFloat32}[random() % 4];
        const PanelsCase test{kernel(), panels, rows, depth, output};
        ASSERT_NO_FATAL_FAILURE(test.Check(random, random() % 2 == 1));
      }
    }
  }
}

INTAGLIO_INSTANTIATE_EVERY_ROW(ManyPanels);

}  // namespace
}  // namespace intaglio::test
