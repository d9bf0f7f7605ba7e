// Inputs of hybrid layers, quantized item by item, in every width that this CPU has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/gemm/context.h"
#include "intaglio/nn/ops/linear/hybrid.h"
#include "intaglio/test/kernels/float32/every_loops.h"

namespace intaglio::test {
namespace {

class HybridItems : public EveryFloatLoops {};
INTAGLIO_INSTANTIATE_EVERY_FLOAT_LOOPS(HybridItems);

// TFLite's scales are those of ranges that were subtracted, and rounded, as float32.
TEST_P(HybridItems, RangesAreSubtractedInFloat32) {
  constexpr int64_t kItems = 1000;
  const std::vector<float> x = MakeReals(2 * kItems, 9, 8);
  std::vector<int8_t> values(2 * kItems);
  std::vector<float> scales(kItems);
  std::vector<int32_t> zero_points(kItems);
  Context context;
  nn::QuantizeItems(context, loops_, x.data(), kItems, 2, true,
                    {values.data(), scales.data(), zero_points.data()});
  int others = 0;
  for (size_t i = 0; i < kItems; ++i) {
    const auto [least, most] = std::minmax({x[2 * i], x[2 * i + 1], 0.0f});
    const double range = static_cast<double>(most) - static_cast<double>(least);
    ASSERT_EQ(scales[i], static_cast<float>(static_cast<double>(most - least) / 255)) << i;
    others += scales[i] != static_cast<float>(range / 255) ? 1 : 0;
  }
  EXPECT_GT(others, 0);
}

// Items shared out to threads, and parts of one item.
TEST_P(HybridItems, AreTheSameByAnyNumberOfThreads) {
  constexpr int64_t kElements = 1 << 17;
  const std::vector<float> x = MakeReals(kElements, 9, 6);
  Context alone(1);
  Context together(3);
  for (const int64_t items : {1, 2, 64, 4096}) {
    for (const bool asymmetric : {false, true}) {
      const int64_t size = kElements / items;
      const auto bytes = static_cast<size_t>(kElements + items * 8);
      std::vector<std::byte> expected(bytes);
      std::vector<std::byte> got(bytes);
      nn::QuantizeItems(alone, loops_, x.data(), items, size, asymmetric, expected.data());
      nn::QuantizeItems(together, loops_, x.data(), items, size, asymmetric, got.data());
      ASSERT_EQ(got, expected) << items << " items";
      // And by a plain loop.
      const auto* const scales = reinterpret_cast<const float*>(expected.data());
      const float most = *std::max_element(x.begin(), x.begin() + static_cast<ptrdiff_t>(size));
      const float least = *std::min_element(x.begin(), x.begin() + static_cast<ptrdiff_t>(size));
      const float range = asymmetric ? (most - least) / 255 : std::max(most, -least) / 127;
      EXPECT_FLOAT_EQ(scales[0], range);
    }
  }
}

}  // namespace
}  // namespace intaglio::test
