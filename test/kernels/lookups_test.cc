// Kernel::lookups of every row of the table, against loops over single bytes.
#include <algorithm>
#include <random>
#include <vector>

#include "intaglio/gemm/machine/cpu.h"
#include "intaglio/test/kernels/every_kernel.h"

namespace intaglio::test {
namespace {

class EveryKernelLookups : public EveryKernel {
 protected:
  void SetUp() override {
    EveryKernel::SetUp();
    if (kernel().lookups == nullptr || !MayUse(kernel().lookups_need)) {
      GTEST_SKIP() << "the scalar kernel's serve";
    }
  }
  const LookupRoutines& lookups() const { return *kernel().lookups; }

  std::mt19937 random_{1};

  std::vector<uint8_t> RandomBytes(ptrdiff_t count) {
    std::vector<uint8_t> bytes(static_cast<size_t>(count));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_() >> 24);
    return bytes;
  }
};
INTAGLIO_INSTANTIATE_EVERY_KERNEL(EveryKernelLookups);

TEST_P(EveryKernelLookups, Translate) {
  const std::vector<uint8_t> table = RandomBytes(256);
  for (const ptrdiff_t count : {0, 1, 7, 8, 9, 63, 64, 65, 128, 200, 1000}) {
    std::vector<uint8_t> in = RandomBytes(count);
    in.push_back(1);  // behind the end
    std::vector<uint8_t> out(in.size(), 0x55);
    lookups().translate(table.data(), in.data(), out.data(), count);
    for (size_t i = 0; i + 1 < in.size(); ++i) ASSERT_EQ(out[i], table[in[i]]) << i;
    ASSERT_EQ(out.back(), 0x55);
    out.back() = 1;
    lookups().translate(table.data(), in.data(), in.data(), count);
    ASSERT_EQ(in, out) << "in place, " << count;
  }
}

TEST_P(EveryKernelLookups, SumRows) {
  const TermTable terms([](int place) { return (1 << 24) - 1 - place * 65001; });
  for (const uint8_t flip : {uint8_t{0}, uint8_t{0x80}}) {
    for (const ptrdiff_t depth : {1, 2, 21, 31, 32, 33, 63, 64, 65, 127, 128, 197, 1001}) {
      // Some are computed together, in more than one group.
      constexpr ptrdiff_t kRows = 19;
      std::vector<uint8_t> in = RandomBytes(kRows * depth);
      std::fill_n(in.begin(), depth, flip);  // all of a row the least number
      if (depth > 1) in.back() = static_cast<uint8_t>(flip ^ 0xff);
      RowSum sums[kRows];
      lookups().sum_rows(terms, {in.data(), flip, kRows, depth}, sums);
      for (ptrdiff_t r = 0; r < kRows; ++r) {
        const uint8_t* const row = in.data() + r * depth;
        int32_t largest = 0;
        for (ptrdiff_t i = 0; i < depth; ++i) largest = std::max(largest, row[i] ^ flip);
        int64_t sum = 0;
        for (ptrdiff_t i = 0; i < depth; ++i) sum += terms.words[largest - (row[i] ^ flip)];
        ASSERT_EQ(sums[r].largest, largest) << depth;
        ASSERT_EQ(sums[r].sum, sum) << depth;
      }
    }
  }
}

// Of tables whose numbers from `live` on are zero.
TEST_P(EveryKernelLookups, ScaleRows) {
  if (lookups().scale_rows == nullptr) GTEST_SKIP() << "one by one";
  for (const int live : {256, 129, 128, 127, 3}) {
    const ExpTable exps(
        [&](int place) { return place < live ? static_cast<int32_t>(random_() >> 1) : 0; });
    for (const uint8_t flip : {uint8_t{0}, uint8_t{0x80}}) {
      for (const ptrdiff_t depth : {1, 2, 21, 31, 32, 33, 63, 64, 65, 127, 128, 197}) {
        constexpr ptrdiff_t kRows = 5;
        const std::vector<uint8_t> in = RandomBytes(kRows * depth);
        RowScale scales[kRows];
        for (int r = 0; r < kRows; ++r) {
          const auto mantissa = static_cast<int32_t>(random_() >> 2 | 1u << 30);
          const uint8_t* const row = in.data() + r * depth;
          int32_t largest = 0;
          for (ptrdiff_t i = 0; i < depth; ++i) largest = std::max(largest, row[i] ^ flip);
          scales[r] = {largest, {mantissa, -(r == 0 ? 31 : r == 2 ? 0 : 21 + r)}};
        }
        scales[1].scale = {};
        std::vector<uint8_t> out = in;
        lookups().scale_rows(exps, {out.data(), flip, kRows, depth}, scales, out.data());
        for (size_t i = 0; i < in.size(); ++i) {
          const RowScale& row = scales[static_cast<ptrdiff_t>(i) / depth];
          const int32_t scaled =
              RequantizeDoubleRounding<Scalar>(exps.words[row.largest - (in[i] ^ flip)],
                                               row.scale.mantissa, 0, row.scale.right_shift());
          ASSERT_EQ(out[i] ^ flip, std::min(scaled, 255)) << i << ", depth " << depth;
        }
      }
    }
  }
}

}  // namespace
}  // namespace intaglio::test
