// The row side: plain matrices and im2col views, against a naive reading.
#include "intaglio/pack/rows.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "intaglio/test/gemm/image.h"

namespace intaglio::test {
namespace {

// Rows [first, first + count) packed between guards; want(row, k) is the quantized value.
template <class Want>
void CheckRows(const RowSource& source, RowFormat format, int first, int count, int padded,
               const Want& want) {
  const size_t element = RowElementBytes(format);
  const size_t bytes = static_cast<size_t>(count * padded) * element;
  const size_t guard = 32;
  std::vector<uint8_t> got(bytes + 2 * guard, 0xa5);
  std::vector<uint8_t> expected = got;
  PackRows(source, format, first, count, padded, got.data() + guard);
  const bool is_signed = source.type() == Type::kInt8;
  const int moved = format == RowFormat::kUnsigned8 && is_signed  ? 128
                    : format == RowFormat::kSigned8 && !is_signed ? -128
                                                                  : 0;
  std::vector<int64_t> sums(static_cast<size_t>(count), 0);
  for (int r = 0; r < count; ++r) {
    for (int k = 0; k < padded; ++k) {
      const int value = k < source.depth() ? want(first + r, k) + moved : 0;
      sums[static_cast<size_t>(r)] += value;
      PutElement(element == 1 ? Type::kUInt8 : Type::kInt16, expected.data() + guard,
                 r * padded + k, value);
    }
  }
  ASSERT_EQ(got, expected);

  // Sums leave out what follows the depth.
  std::vector<int32_t> got_sums(static_cast<size_t>(count) + 1, 77);
  SumRows(format, got.data() + guard, static_cast<ptrdiff_t>(element) * padded, count,
          source.depth(), got_sums.data());
  for (int r = 0; r < count; ++r)
    ASSERT_EQ(got_sums[static_cast<size_t>(r)], sums[static_cast<size_t>(r)]);
  ASSERT_EQ(got_sums.back(), 77);
}

constexpr RowFormat kFormats[] = {RowFormat::kUnsigned8, RowFormat::kSigned8,
                                  RowFormat::kWidened16};

// Interleaved rows are the bytes of kSigned8, element (r, k) elsewhere.
void CheckInterleaved(const RowSource& source, int first, int count) {
  const int padded = (source.depth() + 7) / 8 * 8;
  std::vector<uint8_t> plain(static_cast<size_t>(count * padded));
  PackRows(source, RowFormat::kSigned8, first, count, padded, plain.data());
  const size_t bytes = PackedRowsBytes(RowFormat::kSigned8By8, count, static_cast<size_t>(padded));
  std::vector<uint8_t> got(bytes + 32, 0xa5);
  PackRows(source, RowFormat::kSigned8By8, first, count, padded, got.data());
  for (int r = 0; r < count; ++r) {
    for (int k = 0; k < padded; ++k) {
      const int at = r / 8 * 8 * padded + k / 8 * 64 + r % 8 * 8 + k % 8;
      ASSERT_EQ(got[static_cast<size_t>(at)], plain[static_cast<size_t>(r * padded + k)])
          << "row " << r << ", depth " << k;
    }
  }
  for (size_t i = bytes; i < got.size(); ++i) ASSERT_EQ(got[i], 0xa5);
  std::vector<int32_t> sums(static_cast<size_t>(count)), want(static_cast<size_t>(count));
  SumRows(RowFormat::kSigned8By8, got.data(), padded, count, source.depth(), sums.data());
  SumRows(RowFormat::kSigned8, plain.data(), padded, count, source.depth(), want.data());
  ASSERT_EQ(sums, want);
}

TEST(Rows, PlainMatrices) {
  Random random(1);
  for (int round = 0; round < 400; ++round) {
    const Type type = round % 2 == 0 ? Type::kInt8 : Type::kUInt8;
    const Order order = round / 2 % 2 == 0 ? Order::kRowMajor : Order::kColMajor;
    const int rows = Uniform(random, 1, 12);
    const int depth = Uniform(random, 0, 40);
    const TestMatrix matrix(random, type, rows, depth, order, Uniform(random, 0, 3),
                            RandomZeroPoint(random, type));
    const RowSource source = RowSource::From(matrix.view());
    EXPECT_EQ(source.rows(), rows);
    EXPECT_EQ(source.depth(), depth);
    const int first = Uniform(random, 0, rows - 1);
    for (const RowFormat format : kFormats) {
      CheckRows(source, format, first, Uniform(random, 1, rows - first),
                depth + Uniform(random, 0, 5),
                [&](int r, int k) { return matrix.Quantized(r, k); });
      if (HasFatalFailure()) return;
    }
    ASSERT_NO_FATAL_FAILURE(CheckInterleaved(source, first, rows - first));
  }
}

TEST(Rows, Im2colViews) {
  Random random(2);
  for (int round = 0; round < 1500; ++round) {
    const Type type = round % 2 == 0 ? Type::kInt8 : Type::kUInt8;
    // Runs of taps of every length class.
    const int channels = Uniform(random, 1, round % 16 == 5 ? 150 : 9);
    TestImage image(random, type, Uniform(random, 1, 3), Uniform(random, 1, 8),
                    Uniform(random, 1, round % 4 == 1 ? 24 : 8), channels,
                    RandomZeroPoint(random, type));
    if (round % 8 != 0) image.RandomWindow(random);
    if (round % 3 == 0) {
      const int first = Uniform(random, 0, channels - 1);
      image.Group(first, Uniform(random, 1, channels - first));
    }
    SCOPED_TRACE("round " + std::to_string(round) + ": " + image.Text());
    ASSERT_TRUE(Validate(image.view()).ok());
    const RowSource source = RowSource::From(image.view());
    const int rows = Rows(image.view());
    ASSERT_EQ(source.rows(), rows);
    ASSERT_EQ(source.depth(), Cols(image.view()));
    const int first = Uniform(random, 0, rows - 1);
    for (const RowFormat format : kFormats) {
      CheckRows(source, format, first, rows - first, source.depth() + Uniform(random, 0, 3),
                [&](int r, int k) { return image.Quantized(r, k); });
      if (HasFatalFailure()) return;
    }
    ASSERT_NO_FATAL_FAILURE(CheckInterleaved(source, first, rows - first));
  }
}

// From before the first column to the last is more than an int counts.
TEST(Rows, Im2colViewsOfTheWidestImage) {
  const uint8_t image[2] = {7, 8};  // all that the first row reads
  Im2col view{.data = image, .type = Type::kUInt8, .zero_point = 3};
  view.height = view.channels = view.group_channels = view.out_height = view.out_width = 1;
  view.width = std::numeric_limits<int>::max();
  view.kernel_width = 3;
  view.pad_left = 1;
  ASSERT_TRUE(Validate(view).ok());
  std::vector<uint8_t> row(4, 9);
  PackRows(RowSource::From(view), RowFormat::kUnsigned8, 0, 1, 4, row.data());
  EXPECT_EQ(row, (std::vector<uint8_t>{3, 7, 8, 0}));
}

// Only a 1x1 window of stride 1 without padding is a matrix; of a group it has the whole image's
// stride.
TEST(Rows, OneByOneConvolutionIsAMatrix) {
  Random random(3);
  TestImage image(random, Type::kUInt8, 2, 3, 4, 8, 9);
  EXPECT_FALSE(RowSource::From(image.view()).is_im2col);
  image.Group(2, 4);
  const RowSource group = RowSource::From(image.view());
  EXPECT_FALSE(group.is_im2col);
  EXPECT_EQ(group.matrix.stride, 8);
  EXPECT_EQ(group.matrix.cols, 4);
  EXPECT_EQ(group.matrix.rows, 24);
  const auto is_window = [&](auto&& change) {
    Im2col view = image.view();
    change(view);
    return RowSource::From(view).is_im2col;
  };
  EXPECT_TRUE(is_window([](Im2col& v) { v.kernel_width = 2; }));
  EXPECT_TRUE(is_window([](Im2col& v) { v.stride_height = 2; }));
  EXPECT_TRUE(is_window([](Im2col& v) { v.pad_left = 1; }));
  EXPECT_TRUE(is_window([](Im2col& v) { v.out_height = 2; }));
  EXPECT_FALSE(is_window([](Im2col& v) { v.dilation_height = 2; }));
}

// Kernels read uint8 rows where they lie, if they are contiguous and need no padding.
TEST(Rows, InPlace) {
  Random random(4);
  const auto serves = [&](Type type, Order order, int depth, RowFormat format, int padded) {
    const TestMatrix matrix(random, type, 5, depth, order, 1, 0);
    return RowSource::From(matrix.view()).ServesInPlace(format, padded);
  };
  EXPECT_TRUE(serves(Type::kUInt8, Order::kRowMajor, 8, RowFormat::kUnsigned8, 8));
  EXPECT_FALSE(serves(Type::kUInt8, Order::kRowMajor, 9, RowFormat::kUnsigned8, 12));
  EXPECT_FALSE(serves(Type::kInt8, Order::kRowMajor, 8, RowFormat::kUnsigned8, 8));
  EXPECT_FALSE(serves(Type::kUInt8, Order::kColMajor, 8, RowFormat::kUnsigned8, 8));
  EXPECT_FALSE(serves(Type::kUInt8, Order::kRowMajor, 8, RowFormat::kWidened16, 8));
  EXPECT_TRUE(serves(Type::kInt8, Order::kRowMajor, 8, RowFormat::kSigned8, 8));
  EXPECT_FALSE(serves(Type::kUInt8, Order::kRowMajor, 8, RowFormat::kSigned8, 8));
  EXPECT_FALSE(serves(Type::kInt8, Order::kRowMajor, 8, RowFormat::kSigned8By8, 8));
  TestImage image(random, Type::kUInt8, 1, 3, 3, 4, 0);
  image.view().kernel_width = 2;
  EXPECT_FALSE(RowSource::From(image.view()).ServesInPlace(RowFormat::kUnsigned8, 8));
}

TEST(Rows, ZeroPointsAndMagnitudes) {
  Random random(5);
  for (const Type type : {Type::kInt8, Type::kUInt8}) {
    const int low = type == Type::kInt8 ? -128 : 0;
    for (int zero = low; zero <= low + 255; ++zero) {
      const TestMatrix matrix(random, type, 1, 1, Order::kRowMajor, 0, zero);
      const RowSource source = RowSource::From(matrix.view());
      EXPECT_EQ(source.ZeroPoint(RowFormat::kWidened16), zero);
      EXPECT_EQ(source.ZeroPoint(RowFormat::kUnsigned8), zero - low);
      EXPECT_EQ(source.ZeroPoint(RowFormat::kSigned8), zero - low - 128);
      EXPECT_EQ(source.ZeroPoint(RowFormat::kSigned8By8), zero - low - 128);
      EXPECT_EQ(source.Magnitude(), std::max(zero - low, low + 255 - zero));
    }
  }
}

}  // namespace
}  // namespace intaglio::test
