#include "intaglio/tools/image.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace intaglio::tools {
namespace {

using Bytes = std::vector<uint8_t>;

void Put(Bytes& bytes, size_t at, size_t count, uint32_t value) {
  for (size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
}

// An uncompressed BMP with this palette (as blue, green, red, 0) and these rows as they lie in the
// file.
Bytes Bmp(int width, int height, uint32_t bits, const Bytes& palette, const Bytes& rows) {
  Bytes bytes(54);
  bytes[0] = 'B';
  bytes[1] = 'M';
  Put(bytes, 10, 4, static_cast<uint32_t>(54 + palette.size()));
  Put(bytes, 14, 4, 40);
  Put(bytes, 18, 4, static_cast<uint32_t>(width));
  Put(bytes, 22, 4, static_cast<uint32_t>(height));
  Put(bytes, 26, 2, 1);
  Put(bytes, 28, 2, bits);
  Put(bytes, 46, 4, static_cast<uint32_t>(palette.size() / 4));
  for (const uint8_t byte : palette) bytes.push_back(byte);
  for (const uint8_t byte : rows) bytes.push_back(byte);
  return bytes;
}

// 1 x 2, stored bottom row first: (1, 2, 3) above (4, 5, 6) as red, green, blue.
Bytes Bmp24() { return Bmp(1, 2, 24, {}, {6, 5, 4, 0, 3, 2, 1, 0}); }

TEST(Image, ReadsBmpInRgbFromTheTop) {
  const Result<Image> image = ParseImage(Bmp24(), "a.bmp");
  ASSERT_TRUE(image.ok()) << image.status().message();
  EXPECT_EQ(image->width, 1);
  EXPECT_EQ(image->height, 2);
  EXPECT_EQ(image->channels, 3);
  EXPECT_EQ(image->samples, (Bytes{1, 2, 3, 4, 5, 6}));
  const Result<Image> down = ParseImage(Bmp(1, -2, 24, {}, {6, 5, 4, 0, 3, 2, 1, 0}), "a.bmp");
  ASSERT_TRUE(down.ok()) << down.status().message();
  EXPECT_EQ(down->samples, (Bytes{4, 5, 6, 1, 2, 3}));
}

TEST(Image, ReadsPalettes) {
  const Result<Image> grey = ParseImage(Bmp(2, 1, 8, {9, 9, 9, 0, 7, 7, 7, 0}, {1, 0, 0, 0}), "");
  ASSERT_TRUE(grey.ok()) << grey.status().message();
  EXPECT_EQ(grey->channels, 1);
  EXPECT_EQ(grey->samples, (Bytes{7, 9}));
  const Result<Image> color = ParseImage(Bmp(2, 1, 8, {9, 9, 9, 0, 5, 6, 7, 0}, {1, 0, 0, 0}), "");
  ASSERT_TRUE(color.ok()) << color.status().message();
  EXPECT_EQ(color->samples, (Bytes{7, 6, 5, 9, 9, 9}));
}

TEST(Image, ReadsPnm) {
  const std::string pgm = "P5 # grey\n2 1\n255\nab";
  const Result<Image> grey = ParseImage(Bytes(pgm.begin(), pgm.end()), "");
  ASSERT_TRUE(grey.ok()) << grey.status().message();
  EXPECT_EQ(grey->samples, (Bytes{'a', 'b'}));
  const std::string ppm = "P6\n1\n2 255 abcdef";
  const Result<Image> rgb = ParseImage(Bytes(ppm.begin(), ppm.end()), "");
  ASSERT_TRUE(rgb.ok()) << rgb.status().message();
  EXPECT_EQ(rgb->samples, (Bytes{'a', 'b', 'c', 'd', 'e', 'f'}));
}

TEST(Image, SurvivesEveryTruncationAndFlippedBit) {
  for (Bytes bytes : {Bmp24(), Bmp(2, 1, 8, {9, 9, 9, 0, 7, 7, 7, 0}, {1, 0, 0, 0}),
                      Bytes{'P', '5', ' ', '1', ' ', '1', ' ', '2', '5', '5', '\n', 'x'}}) {
    for (size_t length = 0; length < bytes.size(); ++length) {
      const Bytes cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));
      const Result<Image> image = ParseImage(cut, "a.bmp");
      ASSERT_FALSE(image.ok()) << length;
      EXPECT_EQ(image.status().message().find("a.bmp: not an image that can be read"), 0u);
    }
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      const auto mask = static_cast<uint8_t>(1 << (bit % 8));
      bytes[bit / 8] ^= mask;
      (void)ParseImage(bytes, "a.bmp");
      bytes[bit / 8] ^= mask;
    }
  }
}

TEST(Image, ResizesWithHalfPixelCentresAndTruncates) {
  const Image image{2, 1, 1, {0, 101}};
  EXPECT_EQ(Resize(image, 2, 1).samples, image.samples);
  // Centres lie at -0.25, 0.25, 0.75 and 1.25 of the source: 0, 25.25, 75.75, 101.
  EXPECT_EQ(Resize(image, 4, 1).samples, (Bytes{0, 25, 75, 101}));
  EXPECT_EQ(Resize(image, 1, 1).samples, (Bytes{50}));
  const Image tall{1, 2, 1, {0, 101}};
  EXPECT_EQ(Resize(tall, 1, 4).samples, (Bytes{0, 25, 75, 101}));
}

TEST(Image, ConvertsChannels) {
  const Image rgb{1, 1, 3, {255, 0, 0}};
  EXPECT_EQ(WithChannels(rgb, 1).samples, (Bytes{76}));
  EXPECT_EQ(WithChannels({1, 1, 1, {9}}, 3).samples, (Bytes{9, 9, 9}));
}

}  // namespace
}  // namespace intaglio::tools
