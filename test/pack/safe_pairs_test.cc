#include "intaglio/pack/safe_pairs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace intaglio::test {
namespace {

bool Safe(const std::vector<int8_t>& row) {
  return PairsAreSafe({row.data(), Type::kInt8, 1, static_cast<int>(row.size()),
                       static_cast<int>(row.size()), Order::kRowMajor, 0});
}

TEST(SafePairs, TheLimit) {
  EXPECT_TRUE(Safe({64, 64}));
  EXPECT_FALSE(Safe({64, 65}));
  EXPECT_TRUE(Safe({127, 1}));
  EXPECT_FALSE(Safe({127, 2}));
  EXPECT_TRUE(Safe({-128, 0}));
  EXPECT_FALSE(Safe({-128, -1}));
  EXPECT_TRUE(Safe({-64, -64}));
  EXPECT_FALSE(Safe({-65, -64}));
  EXPECT_TRUE(Safe({127, -128}));       // of opposite signs
  EXPECT_TRUE(Safe({1, 127, 127, 1}));  // neighbours, but no pair
  EXPECT_TRUE(Safe({-128}));            // the padding is 0
  EXPECT_TRUE(Safe({}));
}

// Every pair of values against the extremes of what they are multiplied with.
TEST(SafePairs, IsWhatFitsInt16) {
  for (int v = -128; v <= 127; ++v) {
    for (int w = -128; w <= 127; ++w) {
      bool fits = true;
      for (const int a : {0, 255}) {
        for (const int b : {0, 255}) fits &= a * v + b * w >= -32768 && a * v + b * w <= 32767;
      }
      ASSERT_EQ(Safe({0, 0, static_cast<int8_t>(v), static_cast<int8_t>(w), 0}), fits)
          << v << ", " << w;
    }
  }
}

// An unsafe pair anywhere in a matrix of any order, padding between its rows, and type.
TEST(SafePairs, EveryPlaceOrderAndType) {
  std::mt19937 random(1);
  for (const auto order : {Order::kRowMajor, Order::kColMajor}) {
    for (const auto type : {Type::kInt8, Type::kUInt8}) {
      const int channels = 5;
      const int depth = 11;
      const int stride = 13;
      const uint8_t zero = type == Type::kUInt8 ? 128 : 0;
      for (int c = 0; c < channels; ++c) {
        for (int k = 0; k < depth; ++k) {
          std::vector<uint8_t> data(static_cast<size_t>(stride * depth));
          for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());  // the padding too
          const auto at = [&](int channel, int d) -> uint8_t& {
            return data[static_cast<size_t>(order == Order::kRowMajor ? channel * stride + d
                                                                      : d * stride + channel)];
          };
          for (int i = 0; i < channels; ++i) {
            for (int d = 0; d < depth; ++d) at(i, d) = static_cast<uint8_t>(zero + 64);
          }
          const ConstMatrix matrix{data.data(), type, channels, depth, stride, order, 3};
          ASSERT_TRUE(PairsAreSafe(matrix));
          at(c, k) = static_cast<uint8_t>(zero + 65);
          ASSERT_EQ(PairsAreSafe(matrix), k == depth - 1);  // which has no neighbour
        }
      }
    }
  }
}

}  // namespace
}  // namespace intaglio::test
