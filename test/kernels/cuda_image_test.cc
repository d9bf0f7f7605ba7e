// Convolutions by the device's kernels, emulated: the rows are read from the image by the kernels
// themselves. Against naive sums over the windows.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "intaglio/test/gemm/image.h"
#include "intaglio/test/kernels/cuda_emulator.h"

namespace intaglio::test {
namespace {

uint8_t ByteOf(const Chunk& chunk, int i) {
  return static_cast<uint8_t>(chunk.word[i / 4] >> (8 * (i % 4)));
}

// An image whose rows are made of whole chunks where `whole`.
TestImage RandomImage(Random& random, bool whole) {
  const int channels = whole ? 16 * Uniform(random, 1, 3) : Uniform(random, 1, 20);
  const Type type = random() % 2 == 0 ? Type::kInt8 : Type::kUInt8;
  TestImage image(random, type, Uniform(random, 1, 2), Uniform(random, 1, 7), Uniform(random, 1, 7),
                  channels, RandomZeroPoint(random, type));
  image.RandomWindow(random);
  if (whole && channels > 16 && random() % 2 == 0) image.Group(16, channels - 16);
  if (!whole && channels > 2) image.Group(1, channels - 2);
  return image;
}

// The image's bytes at a multiple of 16, wherever the allocator puts those of TestImage.
std::vector<Chunk> AlignedBytes(TestImage& image) {
  const Im2col& v = image.view();
  const int bytes = v.batch * v.height * v.width * v.channels;
  std::vector<Chunk> chunks(static_cast<size_t>(DivideUp(bytes, kChunk)));
  std::memcpy(chunks.data(), v.data, static_cast<size_t>(bytes));
  return chunks;
}

TEST(CudaImage, LinesAreTheRowsOfTheView) {
  Random random(10);
  for (int i = 0; i < 200; ++i) {
    TestImage image = RandomImage(random, i % 2 == 0);
    const std::vector<Chunk> bytes = AlignedBytes(image);
    Im2col v = image.view();
    v.data = bytes.data();
    DeviceProduct p;
    p.image = v;
    p.row_count = Rows(v);
    p.depth = Cols(v);
    p.whole_chunks = HasWholeChunks(v);
    ASSERT_TRUE(p.whole_chunks || i % 2 != 0);
    for (int row = 0; row < Rows(v); row += 1 + Uniform(random, 0, 5)) {
      const ImageLines<1> line(p, row, 0);
      for (int at = 0; at < Cols(v); at += kChunk) {
        const Chunk loaded = line.Load(0, at);
        Chunk copied;
        line.Copy(0, at, reinterpret_cast<char*>(&copied));
        for (int k = 0; k < kChunk && at + k < Cols(v); ++k) {
          const auto want = static_cast<uint8_t>(image.Quantized(row, at + k));
          ASSERT_EQ(ByteOf(loaded, k), want) << row << " " << at + k << " " << image.Text();
          ASSERT_EQ(ByteOf(copied, k), want) << row << " " << at + k << " " << image.Text();
        }
      }
    }
  }
}

// int32 results of an image times random channels, split or not.
void CheckConvolution(Random& random, const KernelRow& row, bool whole) {
  TestImage image = RandomImage(random, whole);
  SCOPED_TRACE(image.Text());
  const std::vector<Chunk> bytes = AlignedBytes(image);
  Im2col v = image.view();
  v.data = bytes.data();
  const int channels = Uniform(random, 1, 150);
  DeviceProduct p;
  p.rows_are_signed = v.type == Type::kInt8;
  p.rows_are_image = true;
  p.image = v;
  p.whole_chunks = HasWholeChunks(v);
  p.row_count = Rows(v);
  p.channel_count = channels;
  p.depth = Cols(v);
  p.padded_depth = RoundUp(p.depth, kDepthUnit);
  p.depth_per_split = RoundUp(p.depth, 128);
  std::vector<int8_t> lines(static_cast<size_t>(p.groups() * kChannelGroup * p.padded_depth));
  for (int c = 0; c < channels; ++c) {
    for (int k = 0; k < p.depth; ++k) {
      lines[static_cast<size_t>(LineOfChannel(c) * p.padded_depth + k)] =
          static_cast<int8_t>(Uniform(random, -128, 127));
    }
  }
  p.channels = lines.data();
  std::vector<int32_t> got(static_cast<size_t>(p.row_count * channels), 77);
  p.dst = got.data();
  p.dst_row_stride = channels;
  p.dst_channel_stride = 1;
  const StandardFinish raw{{Type::kInt32, 0, INT32_MIN, INT32_MAX}};
  if (p.depth > 128 && random() % 2 == 0) {
    DeviceProduct parts = p;
    parts.depth_per_split = 128;
    parts.splits = DivideUp(p.depth, 128);
    const int count = parts.splits * p.row_count * p.groups() * kChannelGroup;
    std::vector<WordVector<4>> partials(static_cast<size_t>(count / 4));
    const DeviceProduct into = IntoPartials(parts, reinterpret_cast<int32_t*>(partials.data()));
    Emulate(row.id, into, raw);
    EmulateFinish(p, PartialsOf(into), raw);
  } else {
    Emulate(row.id, p, raw);
  }
  for (int r = 0; r < p.row_count; ++r) {
    for (int c = 0; c < channels; ++c) {
      int32_t want = 0;
      for (int k = 0; k < p.depth; ++k) {
        want += image.Quantized(r, k) *
                lines[static_cast<size_t>(LineOfChannel(c) * p.padded_depth + k)];
      }
      ASSERT_EQ(got[static_cast<size_t>(r * channels + c)], want) << r << " " << c;
    }
  }
}

class CudaConvolutions : public testing::TestWithParam<KernelRow> {};

TEST_P(CudaConvolutions, EqualNaiveSums) {
  const KernelRow& row = GetParam();
  if (row.images == Images::kNone) GTEST_SKIP() << "reads no images";
  Random random(11);
  for (int i = 0; i < 24; ++i) {
    const bool whole = row.images == Images::kWholeChunks || i % 2 == 0;
    ASSERT_NO_FATAL_FAILURE(CheckConvolution(random, row, whole)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CudaConvolutions, testing::ValuesIn(kKernelTable),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace intaglio::test
