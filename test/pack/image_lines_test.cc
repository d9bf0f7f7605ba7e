// Lines of images laid out for windows, against the naive reading of an im2col matrix.
#include "intaglio/pack/image_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "intaglio/test/gemm/image.h"

namespace intaglio::test {
namespace {

int ElementAt(RowFormat format, const std::byte* p) {
  if (format == RowFormat::kUnsigned8) return std::to_integer<uint8_t>(*p);
  if (format == RowFormat::kSigned8) return static_cast<int8_t>(*p);
  int16_t word;
  std::memcpy(&word, p, 2);
  return word;
}

// Rows [first, first + count) laid out between guards, and read where they begin.
void CheckWindows(TestImage& image, RowFormat format, int first, int count) {
  const Im2col& v = image.view();
  const auto element = static_cast<ptrdiff_t>(RowElementBytes(format));
  const size_t guard = 64;
  const auto bytes = static_cast<size_t>(WindowBytes(v, format, count));
  std::vector<std::byte> memory(bytes + 2 * guard, std::byte{0xa5});
  std::vector<int32_t> begin(static_cast<size_t>(count) + 1, 77);
  std::byte* lines = memory.data() + guard;
  const std::byte* end = PackImageLines(v, format, PackRows, first, count, lines, begin.data());
  ASSERT_EQ(begin.back(), 77);
  ASSERT_EQ((end - lines) % 64, 0);
  ASSERT_LE(end - lines, static_cast<ptrdiff_t>(bytes));
  const auto untouched = [&](auto from, auto to) {
    return std::all_of(from, to, [](std::byte b) { return b == std::byte{0xa5}; });
  };
  ASSERT_TRUE(untouched(memory.begin(), memory.begin() + guard));
  ASSERT_TRUE(untouched(memory.begin() + (end - memory.data()), memory.end()));

  const int moved = RowMove(format, v.type);
  const ptrdiff_t step = WindowLineStep(v, format);
  const int run = v.kernel_width * v.group_channels;
  for (int r = 0; r < count; ++r) {
    const ptrdiff_t at = begin[static_cast<size_t>(r)];
    ASSERT_GE(at, 0);
    // The last depth group of a run may reach beyond it.
    ASSERT_LE(at + (v.kernel_height - 1) * step + run * element + 64, end - lines);
    for (int y = 0; y < v.kernel_height; ++y) {
      for (int k = 0; k < run; ++k) {
        ASSERT_EQ(ElementAt(format, lines + at + y * step + k * element),
                  image.Quantized(first + r, y * run + k) + moved)
            << "row " << first + r << ", kernel row " << y << ", element " << k;
      }
    }
  }
}

constexpr RowFormat kFormats[] = {RowFormat::kUnsigned8, RowFormat::kSigned8,
                                  RowFormat::kWidened16};

// Windows of images, and padding, of any size; those that a line holds lie side by side.
void RandomWindow(Random& random, TestImage& image) {
  image.RandomWindow(random);
  Im2col& v = image.view();
  v.dilation_width = 1;
  v.kernel_height = Uniform(random, 1, 5);
  v.kernel_width = Uniform(random, 1, 5);
  if (random() % 4 == 0) v.pad_top = Uniform(random, 0, 20);
  if (random() % 4 == 0) v.pad_left = Uniform(random, 0, 20);
  if (random() % 8 == 0) v.out_height = 1;
  if (random() % 8 == 0) v.out_width = 1;
}

TEST(Windows, EqualNaiveIm2col) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const Type type = round % 2 == 0 ? Type::kInt8 : Type::kUInt8;
    // One pixel, or none along a side, is an image, too.
    const int least = round % 16 == 3 ? 0 : 1;
    const int channels = Uniform(random, 1, round % 16 == 5 ? 150 : 9);
    TestImage image(random, type, Uniform(random, 1, 4), Uniform(random, least, 8),
                    Uniform(random, least, round % 4 == 1 ? 24 : 8), channels,
                    RandomZeroPoint(random, type));
    RandomWindow(random, image);
    if (round % 3 == 0) {
      const int first = Uniform(random, 0, channels - 1);
      image.Group(first, Uniform(random, least, channels - first));
    }
    SCOPED_TRACE("round " + std::to_string(round) + ": " + image.Text());
    ASSERT_TRUE(Validate(image.view()).ok());
    const int rows = Rows(image.view());
    const int first = Uniform(random, 0, rows - 1);
    for (const RowFormat format : kFormats) {
      ASSERT_NO_FATAL_FAILURE(CheckWindows(image, format, first, Uniform(random, 1, rows - first)));
      ASSERT_NO_FATAL_FAILURE(CheckWindows(image, format, first, 1));
    }
    ASSERT_NO_FATAL_FAILURE(CheckWindows(image, RowFormat::kUnsigned8, 0, rows));
  }
}

// Images whose every window is another line of several images: the most lines for the fewest rows.
TEST(Windows, OneRowOfEachImage) {
  Random random(2);
  TestImage image(random, Type::kInt8, 7, 5, 4, 3, -5);
  Im2col& v = image.view();
  v.kernel_height = 5;
  v.kernel_width = 4;
  v.out_height = v.out_width = 1;
  for (int count = 1; count <= 7; ++count) {
    ASSERT_NO_FATAL_FAILURE(CheckWindows(image, RowFormat::kUnsigned8, 7 - count, count));
  }
}

// Views may be of more bytes than an int64 counts.
TEST(Windows, GiantLines) {
  Im2col v;
  v.height = v.width = 1;
  v.channels = v.group_channels = 24;
  v.kernel_height = v.out_height = v.out_width = 2;
  v.dilation_height = v.stride_height = (1 << 29) - 1;
  v.stride_width = (1 << 30) - 1;
  const int8_t pixel[24] = {};
  v.data = pixel;
  ASSERT_TRUE(Validate(v).ok());
  for (const int count : {1, 2, 4}) {
    EXPECT_GT(WindowBytes(v, RowFormat::kWidened16, count), int64_t{1} << 62);
  }
}

// A view of 3 x 3 windows, one at each place of the image.
Im2col ViewOf(int height, int width, int channels) {
  Im2col v;
  v.height = v.out_height = height;
  v.width = v.out_width = width;
  v.channels = v.group_channels = channels;
  v.kernel_height = v.kernel_width = 3;
  v.pad_top = v.pad_left = 1;
  return v;
}

TEST(Windows, PayWhereLinesAreShorterThanBlocks) {
  EXPECT_TRUE(WindowsPay(ViewOf(480, 640, 3)));
  EXPECT_TRUE(WindowsPay(ViewOf(7, 7, 512)));
  EXPECT_FALSE(WindowsPay(ViewOf(4, 80000, 3)));
  EXPECT_FALSE(WindowsPay(ViewOf(0, 7, 3)));
  Im2col v = ViewOf(56, 56, 64);
  EXPECT_TRUE(WindowsPay(v));
  v.dilation_height = 1 << 20;  // most lines lie between kernel rows
  EXPECT_FALSE(WindowsPay(v));
  v = ViewOf(56, 56, 64);
  v.kernel_height = v.kernel_width = 1;
  EXPECT_FALSE(WindowsPay(v));
}

}  // namespace
}  // namespace intaglio::test
