// Packed panels against the formula of pack/panels.h.
#include "intaglio/pack/panels.h"

#include <gtest/gtest.h>

#include <limits>

#include "intaglio/pack/packed_matrix.h"
#include "intaglio/test/gemm/problem.h"

namespace intaglio::test {
namespace {

const PanelFormat kFormats[] = {{4, 2, 4}, {4, 2, 8}, {4, 2, 16}, {1, 4, 1},  {4, 2, 2},
                                {8, 2, 2}, {8, 2, 4}, {16, 4, 2}, {16, 4, 4}, {16, 1, 8}};

// Panels cover every channel once, in order, with no vector that holds none; all but the last are
// full.
void CheckRanges(const Panels& p, int channels) {
  int next = 0;
  size_t offset = 0;
  for (size_t e = 0; e < p.ranges.size(); ++e) {
    const PanelRange& x = p.ranges[e];
    const int width = p.format.lanes * x.vectors;
    EXPECT_EQ(x.first_channel, next);
    EXPECT_EQ(x.offset, offset);
    EXPECT_LE(x.vectors, p.format.vectors);
    EXPECT_EQ(p.format.vectors % x.vectors, 0);
    EXPECT_LE(x.channels, width);
    EXPECT_GT(x.channels, width - p.format.lanes) << "a vector without channels";
    EXPECT_TRUE(x.channels == width || e + 1 == p.ranges.size());
    next += x.channels;
    offset += static_cast<size_t>(p.format.Groups(p.depth)) *
              static_cast<size_t>(width * p.format.depth_step);
  }
  EXPECT_EQ(next, channels);
  EXPECT_EQ(p.data.bytes(), offset);
}

// Byte by byte: what channel and depth lie where, and zeros in all the rest.
void CheckBytes(const Panels& p, const TestMatrix& matrix, bool channels_are_rows) {
  const int moved = matrix.view().type == Type::kUInt8 ? 128 : 0;
  const PanelFormat& f = p.format;
  for (const PanelRange& x : p.ranges) {
    const int8_t* at = p.Panel(x);
    for (int g = 0; g < f.Groups(p.depth); ++g) {
      for (int j = 0; j < x.vectors; ++j) {
        for (int l = 0; l < f.lanes; ++l) {
          const int within = f.lanes < 4 ? j : (l / 4) * 4 * x.vectors + 4 * j + l % 4;
          for (int s = 0; s < f.depth_step; ++s, ++at) {
            const int k = g * f.depth_step + s;
            const int c = x.first_channel + within;
            int want = 0;
            if (within < x.channels && k < p.depth) {
              want = (channels_are_rows ? matrix.Quantized(c, k) : matrix.Quantized(k, c)) - moved;
            }
            ASSERT_EQ(*at, want) << "channel " << c << ", depth " << k;
          }
        }
      }
    }
  }
}

void CheckTotals(const Panels& p, const TestMatrix& matrix, bool channels_are_rows,
                 const std::vector<int32_t>& zero_points) {
  const int moved = matrix.view().type == Type::kUInt8 ? 128 : 0;
  bool any = false;
  for (const PanelRange& x : p.ranges) {
    int64_t largest = 0;
    for (int i = 0; i < x.channels; ++i) {
      const auto c = static_cast<size_t>(x.first_channel + i);
      const int32_t zero = zero_points.empty() ? matrix.view().zero_point : zero_points[c];
      int64_t sum = 0;
      int64_t magnitude = 0;
      for (int k = 0; k < p.depth; ++k) {
        const int q = channels_are_rows ? matrix.Quantized(static_cast<int>(c), k)
                                        : matrix.Quantized(k, static_cast<int>(c));
        sum += q - moved;
        magnitude += std::abs(q - zero);
      }
      EXPECT_EQ(p.sums[c], sum);
      EXPECT_EQ(p.zero_points[c], zero - moved);
      largest = std::max(largest, magnitude);
      any |= zero != moved;
    }
    EXPECT_EQ(x.magnitude, largest);
  }
  EXPECT_EQ(p.has_zero_points, any);
}

TEST(Panels, LayoutSumsAndZeroPoints) {
  Random random(1);
  for (const PanelFormat& format : kFormats) {
    for (int round = 0; round < 60; ++round) {
      const int channels = Uniform(random, 0, 150);
      const int depth = Uniform(random, 0, 20);
      const Side side = round % 2 == 0 ? Side::kLhs : Side::kRhs;
      const Order order = round / 2 % 2 == 0 ? Order::kRowMajor : Order::kColMajor;
      const Type type = round / 4 % 2 == 0 ? Type::kInt8 : Type::kUInt8;
      const int rows = side == Side::kLhs ? channels : depth;
      const int cols = side == Side::kLhs ? depth : channels;
      const TestMatrix matrix(random, type, rows, cols, order, Uniform(random, 0, 3),
                              RandomZeroPoint(random, type));
      std::vector<int32_t> zero_points;
      if (round % 3 == 0) {
        for (int c = 0; c < channels; ++c) zero_points.push_back(RandomZeroPoint(random, type));
      }
      SCOPED_TRACE(std::to_string(channels) + " channels of " + std::to_string(depth) +
                   ", format " + std::to_string(format.lanes) + " x " +
                   std::to_string(format.vectors) + ", " + std::to_string(format.depth_step) +
                   ", round " + std::to_string(round));
      const auto packed = PackedMatrix::Pack(side, matrix.view(), format, zero_points, {});
      ASSERT_TRUE(packed.ok()) << packed.status().message();
      EXPECT_EQ(packed->side(), side);
      EXPECT_EQ(packed->rows(), rows);
      EXPECT_EQ(packed->cols(), cols);
      CheckRanges(packed->panels(), channels);
      CheckBytes(packed->panels(), matrix, side == Side::kLhs);
      CheckTotals(packed->panels(), matrix, side == Side::kLhs, zero_points);
      if (HasFailure()) return;
    }
  }
}

// Channels that do not fill a panel: the rest is covered by narrower ones where that saves a
// vector.
TEST(Panels, NarrowerPanelsAtTheEnd) {
  const PanelFormat format{16, 4, 4};
  const auto vectors = [&](int channels) {
    std::vector<int> all;
    const auto layout = LayOutPanels(format, channels, 4);
    EXPECT_TRUE(layout.ok());
    for (const PanelRange& x : layout->ranges) all.push_back(x.vectors);
    return all;
  };
  EXPECT_EQ(vectors(0), (std::vector<int>{}));
  EXPECT_EQ(vectors(1), (std::vector<int>{1}));
  EXPECT_EQ(vectors(16), (std::vector<int>{1}));
  EXPECT_EQ(vectors(17), (std::vector<int>{2}));
  EXPECT_EQ(vectors(33), (std::vector<int>{2, 1}));
  EXPECT_EQ(vectors(48), (std::vector<int>{2, 1}));
  EXPECT_EQ(vectors(49), (std::vector<int>{4}));
  EXPECT_EQ(vectors(64), (std::vector<int>{4}));
  EXPECT_EQ(vectors(65), (std::vector<int>{4, 1}));
  EXPECT_EQ(vectors(128 + 40), (std::vector<int>{4, 4, 2, 1}));
}

TEST(Panels, TooLargeForTheAddressSpaceIsAnError) {
  const auto layout = LayOutPanels({16, 4, 4}, 1 << 30, 1 << 30);
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.status().code(), StatusCode::kOutOfMemory);
  const int most = std::numeric_limits<int>::max();
  EXPECT_FALSE(LayOutPanels({16, 4, 4}, most, most).ok());
}

TEST(PackedMatrix, CopiesShareStorageAndOutliveTheSource) {
  Random random(2);
  std::optional<PackedMatrix> kept;
  {
    const TestMatrix matrix(random, Type::kInt8, 50, 30, Order::kRowMajor, 0, 5);
    auto packed = PackedMatrix::Pack(Side::kLhs, matrix.view(), {8, 2, 4}, {}, {});
    ASSERT_TRUE(packed.ok());
    kept = *packed;
    EXPECT_EQ(&kept->panels(), &packed->panels());
    const PackedMatrix moved = std::move(*packed);
    EXPECT_EQ(&kept->panels(), &moved.panels());
  }
  EXPECT_EQ(kept->rows(), 50);
  // 7 vectors of 8 channels, 8 groups of 4; sums and zero points of 50 channels.
  EXPECT_GE(kept->bytes(), size_t{7 * 8 * 8 * 4 + 50 * 8});
  EXPECT_LE(kept->bytes(), size_t{7 * 8 * 8 * 4 + 50 * 16 + 8 * 64});
}

TEST(PackedMatrix, Refusals) {
  const std::vector<int8_t> data(12);
  ConstMatrix m = MakeConstMatrix(data.data(), 3, 4);
  const auto refused = [&](const ConstMatrix& matrix, std::vector<int32_t> zero_points,
                           const char* message) {
    const auto packed = PackedMatrix::Pack(Side::kRhs, matrix, {8, 2, 4}, zero_points, {});
    ASSERT_FALSE(packed.ok()) << message;
    EXPECT_NE(packed.status().message().find(message), std::string::npos)
        << packed.status().message();
  };
  refused(m, {1, 2, 3}, "3 zero points for 4 channels");
  refused(m, {1, 2, 3, 128}, "zero point 128 is no int8");
  m.zero_point = -129;
  refused(m, {}, "zero point -129 is no int8");
  m = MakeConstMatrix(data.data(), 3, 4);
  m.stride = 3;
  refused(m, {}, "stride of only 3");
  m = MakeConstMatrix(data.data(), 3, 4);
  m.type = Type::kInt32;
  refused(m, {}, "int32, not int8 or uint8");
  m = MakeConstMatrix(data.data(), 3, 4);
  m.rows = -3;
  refused(m, {}, "-3 x 4");
}

// Kernels of 16-deep groups add two products in int16 where no byte is -128.
TEST(Panels, TellsWhetherAPanelHoldsTheLowestValue) {
  for (const Type type : {Type::kInt8, Type::kUInt8}) {
    for (const int lowest_at : {-1, 0, 7, 8, 20 * 12 - 1}) {
      const uint8_t lowest = type == Type::kInt8 ? 0x80 : 0;
      std::vector<uint8_t> bytes(20 * 12, lowest + 1);
      if (lowest_at >= 0) bytes[static_cast<size_t>(lowest_at)] = lowest;
      const ConstMatrix matrix{bytes.data(), type, 12, 20, 20, Order::kRowMajor, 0};
      Panels panels;
      ASSERT_TRUE(LayOutPanels({4, 2, 16}, 12, 20, panels).ok());
      PackPanels(matrix, {}, Magnitudes::kExact, {}, 0, static_cast<int>(panels.ranges.size()),
                 panels);
      for (const PanelRange& panel : panels.ranges) {
        const int row = lowest_at / 20;
        const bool holds = lowest_at >= 0 && row >= panel.first_channel &&
                           row < panel.first_channel + panel.channels;
        EXPECT_EQ(panel.has_lowest, holds) << lowest_at;
      }
    }
  }
}

}  // namespace
}  // namespace intaglio::test
