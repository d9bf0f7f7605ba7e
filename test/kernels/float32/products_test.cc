// Products of float32 against plain loops, for every length of a last vector.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "intaglio/pack/float_panels.h"
#include "intaglio/test/kernels/float32/every_loops.h"

namespace intaglio::test {
namespace {

class FloatProducts : public EveryFloatLoops {};
INTAGLIO_INSTANTIATE_EVERY_FLOAT_LOOPS(FloatProducts);

// The bits of plain loops, for every number of channels, and rows that fill no tile.
TEST_P(FloatProducts, MultipliesInTheOrderOfTheDepth) {
  constexpr int kDepth = 7;
  constexpr int kRows = 19;
  constexpr int kStride = kDepth + 3;
  const std::vector<float> x = MakeReals(kRows * kStride, 4, 7);
  const std::vector<float> bias = MakeReals(kMostElements, 9, 8);
  for (int channels = 1; channels <= kMostElements; ++channels) {
    const std::vector<float> w = MakeReals(channels * kDepth, 1, 9);
    for (const bool by_channels : {false, true}) {
      const ptrdiff_t row = by_channels ? 1 : channels;
      const ptrdiff_t col = by_channels ? kDepth : 1;
      std::vector<float> panels(FloatPanelElements(channels, kDepth, loops_.lanes));
      PackFloatPanels({w.data(), row, col, channels, kDepth}, loops_.lanes, panels.data());
      for (const int rows : {1, 4, kRows}) {
        const PanelProduct product{
            panels.data(), channels, kDepth, by_channels ? bias.data() : nullptr, -3, 5};
        const int out_stride = channels + 1;
        std::vector<float> got(static_cast<size_t>(rows * out_stride), 99);
        loops_.multiply(product, x.data(), kStride, rows, got.data(), out_stride);
        for (int r = 0; r < rows; ++r) {
          for (int c = 0; c < channels; ++c) {
            float sum = 0;
            for (int k = 0; k < kDepth; ++k) {
              sum = Add(x[static_cast<size_t>(r * kStride + k)],
                        w[static_cast<size_t>(k * row + c * col)], sum);
            }
            if (by_channels) sum += bias[static_cast<size_t>(c)];
            ASSERT_EQ(got[static_cast<size_t>(r * out_stride + c)], std::clamp(sum, -3.0f, 5.0f))
                << channels << " channels, row " << r << ", channel " << c;
          }
          ASSERT_EQ(got[static_cast<size_t>(r * out_stride + channels)], 99);
        }
      }
    }
  }
}

TEST_P(FloatProducts, MultipliesOneRow) {
  constexpr int kDepth = 7;
  constexpr ptrdiff_t kStep = 3;
  const std::vector<float> x = MakeReals(kDepth * kStep, 4, 7);
  for (int channels = 1; channels <= kMostElements; ++channels) {
    const std::vector<float> w = MakeReals(channels * kDepth, 1, 9);
    for (const bool by_channels : {false, true}) {
      const StridedMatrix matrix{w.data(), by_channels ? 1 : channels, by_channels ? kDepth : 1,
                                 channels, kDepth};
      std::vector<float> got(static_cast<size_t>(channels) + 1, 99);
      loops_.multiply_row(matrix, x.data(), kStep, got.data());
      for (int c = 0; c < channels; ++c) {
        float sum = 0;
        for (int k = 0; k < kDepth; ++k) {
          sum = Add(x[static_cast<size_t>(k * kStep)],
                    matrix.data[k * matrix.row + c * matrix.column], sum);
        }
        ASSERT_EQ(got[static_cast<size_t>(c)], sum) << channels << " channels, channel " << c;
      }
      ASSERT_EQ(got[static_cast<size_t>(channels)], 99);
    }
  }
}

TEST_P(FloatProducts, AddsMultiples) {
  const std::vector<float> x = MakeReals(kMostElements, 4, 7);
  const std::vector<float> before = MakeReals(kMostElements, 4, 8);
  for (ptrdiff_t count = 0; count <= kMostElements; ++count) {
    std::vector<float> got = before;
    loops_.add_multiple(.37f, x.data(), count, got.data());
    for (size_t i = 0; i < got.size(); ++i) {
      const bool added = static_cast<ptrdiff_t>(i) < count;
      ASSERT_EQ(got[i], added ? Add(.37f, x[i], before[i]) : before[i]) << count << " " << i;
    }
  }
}

TEST_P(FloatProducts, AddsDotsInEightSums) {
  constexpr ptrdiff_t kRows = 11;
  for (ptrdiff_t depth = 0; depth <= kMostElements; ++depth) {
    const std::vector<float> x = MakeReals(depth, 4, 12);
    const std::vector<float> w = MakeReals(kRows * depth, 1, 13);
    const std::vector<float> before = MakeReals(kRows, 9, 14);
    std::vector<const float*> rows;
    for (ptrdiff_t r = 0; r < kRows; ++r) rows.push_back(w.data() + r * depth);
    for (const ptrdiff_t count : {ptrdiff_t{0}, ptrdiff_t{3}, kRows}) {
      std::vector<float> got = before;
      loops_.add_dots(rows.data(), count, x.data(), depth, got.data());
      for (ptrdiff_t r = 0; r < kRows; ++r) {
        const auto at = static_cast<size_t>(r);
        float s[8] = {};
        for (ptrdiff_t k = 0; k < depth; ++k) {
          s[k % 8] = Add(rows[at][k], x[static_cast<size_t>(k)], s[k % 8]);
        }
        const float sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        ASSERT_EQ(got[at], r < count ? before[at] + sum : before[at]) << depth << " " << r;
      }
    }
  }
}

}  // namespace
}  // namespace intaglio::test
