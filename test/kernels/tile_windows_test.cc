// TileArgs::windows of every kernel that takes them.
#include <cmath>

#include "intaglio/test/kernels/tile_case.h"

namespace intaglio::test {
namespace {

class TileWindows : public EveryKernel {};

// Rows that overlap, in memory that ends with the last of them.
TEST_P(TileWindows, EveryCutAndForm) {
  if (!kernel().takes_windows) GTEST_SKIP() << kernel().name << " is not given windows";
  Random random(6);
  const ScalingForm forms[] = {ScalingForm::kDoubleRoundingBounded,
                               ScalingForm::kSingleRoundingBounded,
                               ScalingForm::kFloatHalfEvenBounded, ScalingForm::kByVector};
  const int tile = kernel().max_rows;
  for (const int vectors : PanelVectors()) {
    for (int runs = 1; runs <= 4; ++runs) {
      for (const int groups : {1, 2, 3, 4, 5, 6, 7, 8, 9, 70}) {
        for (int rows = tile; rows <= 4 * tile + 1; ++rows) {
          TileCase test(kernel(), vectors, rows, runs * groups * kernel().panel.depth_step);
          test.guarded = true;
          test.with_operands = random() % 2 == 0;
          test.FillRandom(random);
          test.Overlap(random, runs, Uniform(random, 0, 3 * test.depth));
          test.params.form = forms[Uniform(random, 0, kernel().has_fma ? 3 : 2)];
          test.params.not_fitted = ScalingForm::kDoubleRoundingBounded;
          test.epilogue = random() % 2 == 0 ? EpilogueParams{Type::kInt8, 3, -128, 120}
                                            : EpilogueParams{Type::kUInt8, 3, 5, 255};
          // About what spreads the sums over a byte.
          const int shift =
              12 + static_cast<int>(std::log2(std::sqrt(static_cast<double>(test.depth))));
          const bool single = test.params.form == ScalingForm::kSingleRoundingBounded;
          for (size_t c = 0; c < test.params.offset.size(); ++c) {
            test.params.offset[c] = Uniform(random, -100000, 100000);
            test.params.right_shift[c] = shift - Uniform(random, 0, 3) + (single ? 31 : 0) - 1;
            test.params.mantissa[c] = (1 << 30) + Uniform(random, 0, (1 << 30) - 1);
            test.params.scale[c] = std::ldexp(1.0f + static_cast<float>(c) / 64.0f, -shift);
          }
          ASSERT_NO_FATAL_FAILURE(test.Check());
        }
      }
    }
  }
}

INTAGLIO_INSTANTIATE_EVERY_ROW(TileWindows);

}  // namespace
}  // namespace intaglio::test
