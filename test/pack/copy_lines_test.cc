#include "intaglio/pack/copy_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace intaglio {
namespace {

constexpr ptrdiff_t kLines = 21;
constexpr ptrdiff_t kGap = 3;
constexpr std::byte kUntouched{255};

std::vector<std::byte> Numbers(ptrdiff_t count) {
  std::vector<std::byte> numbers;
  for (ptrdiff_t i = 0; i < count; ++i) numbers.push_back(static_cast<std::byte>(i * 7 % 251));
  return numbers;
}

// Every byte of the lines arrives, in either order of lines, and none between them changes.
TEST(CopyLines, OfEveryLength) {
  for (ptrdiff_t bytes = 0; bytes <= 150; ++bytes) {
    for (const bool backwards : {false, true}) {
      const ptrdiff_t in_stride = bytes + 1;
      const ptrdiff_t out_stride = bytes + kGap;
      const std::vector<std::byte> in = Numbers(kLines * in_stride);
      std::vector<std::byte> out(static_cast<size_t>(kLines * out_stride), kUntouched);
      std::vector<std::byte> expected = out;
      for (ptrdiff_t i = 0; i < kLines; ++i) {
        const ptrdiff_t to = backwards ? kLines - 1 - i : i;
        std::copy_n(in.begin() + i * in_stride, bytes, expected.begin() + to * out_stride);
      }
      if (backwards) {
        CopyLines({in.data(), in_stride, out.data() + (kLines - 1) * out_stride, -out_stride, bytes,
                   kLines});
      } else {
        CopyLines({in.data(), in_stride, out.data(), out_stride, bytes, kLines});
      }
      EXPECT_EQ(out, expected) << bytes << (backwards ? " backwards" : "");
    }
  }
}

TEST(CopyLines, RepeatsAnInput) {
  const std::vector<std::byte> in = Numbers(5);
  std::vector<std::byte> out(15, kUntouched);
  CopyLines({in.data(), 0, out.data(), 5, 5, 3});
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], in[i % 5]) << i;
}

// More than is fetched ahead of.
TEST(CopyLines, OfManyBytes) {
  for (const ptrdiff_t bytes : {100, 1024, 1025, 5000}) {
    const std::vector<std::byte> in = Numbers(bytes * 40);
    std::vector<std::byte> out(in.size(), kUntouched);
    CopyLines({in.data(), bytes, out.data(), bytes, bytes, 40});
    EXPECT_EQ(out, in) << bytes;
  }
}

TEST(CopyLinePairs, OfEveryLengths) {
  for (ptrdiff_t left = 0; left <= 40; ++left) {
    for (ptrdiff_t right = 0; right <= 40; ++right) {
      const ptrdiff_t stride = left + right + kGap;
      const std::vector<std::byte> in = Numbers(kLines * (left + right + 1));
      const std::byte* const second = in.data() + kLines * left;
      std::vector<std::byte> out(static_cast<size_t>(kLines * stride), kUntouched);
      std::vector<std::byte> expected = out;
      for (ptrdiff_t i = 0; i < kLines; ++i) {
        const auto to = expected.begin() + i * stride;
        std::copy_n(second + i * (right + 1), right, std::copy_n(in.data() + i * left, left, to));
      }
      CopyLinePairs({in.data(), left, out.data(), stride, left, kLines},
                    {second, right + 1, out.data() + left, stride, right, kLines});
      ASSERT_EQ(out, expected) << left << " and " << right;
    }
  }
}

}  // namespace
}  // namespace intaglio
