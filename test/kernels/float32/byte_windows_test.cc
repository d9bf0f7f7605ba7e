// Means of windows of bytes against plain loops, for every number of channels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "intaglio/test/kernels/float32/every_loops.h"

namespace intaglio::test {
namespace {

class ByteWindows : public EveryFloatLoops {};
INTAGLIO_INSTANTIATE_EVERY_FLOAT_LOOPS(ByteWindows);

constexpr uint8_t kUntouched = 99;

int ValueOf(uint8_t byte, bool is_signed) { return is_signed ? static_cast<int8_t>(byte) : byte; }

// One operation at a time.
uint8_t Average(const WindowOfBytes& w, ptrdiff_t channel) {
  float sum = 0;
  for (int row = 0; row < w.rows; ++row) {
    for (int column = 0; column < w.columns; ++column) {
      const int x = ValueOf(w.x[row * w.x_row + column * w.x_column + channel], w.is_signed);
      const float real = static_cast<float>(x - w.zero_point) * w.scale;
      sum = sum + real;
    }
  }
  constexpr float kMost = std::numeric_limits<float>::max();
  const float mean = std::clamp(sum / w.divisor, -kMost, kMost);
  const float steps = mean / w.to.scale;
  const float rounded = std::nearbyint(steps + static_cast<float>(w.to.zero_point));
  const float low = static_cast<float>(w.to.low);
  const float high = static_cast<float>(w.to.high);
  return static_cast<uint8_t>(static_cast<int>(std::clamp(rounded, low, high)));
}

WindowOfBytes SpreadPixels(const std::vector<uint8_t>& x, ptrdiff_t channels, bool is_signed) {
  WindowOfBytes w;
  w.rows = 2;
  w.columns = 3;
  w.x = x.data();
  w.x_row = 10 * channels;
  w.x_column = 2 * channels;
  w.is_signed = is_signed;
  w.zero_point = is_signed ? -9 : 119;
  w.scale = 0.037f;
  w.divisor = 6;
  w.to = {0.011f, is_signed ? 3 : 130, is_signed ? -128 : 0, is_signed ? 127 : 255};
  return w;
}

void ExpectAverages(const FloatLoops& loops, const WindowOfBytes& w, ptrdiff_t channels) {
  std::vector<uint8_t> got(static_cast<size_t>(channels) + 1, kUntouched);
  loops.average_bytes(w, channels, got.data());
  for (ptrdiff_t c = 0; c < channels; ++c) {
    ASSERT_EQ(int{got[static_cast<size_t>(c)]}, int{Average(w, c)}) << c << " of " << channels;
  }
  ASSERT_EQ(got.back(), kUntouched) << channels;
}

std::vector<uint8_t> MakeBytes(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

TEST_P(ByteWindows, AveragesRowByRow) {
  for (const bool is_signed : {true, false}) {
    for (ptrdiff_t channels = 1; channels <= kMostElements; ++channels) {
      const std::vector<uint8_t> x = MakeBytes(static_cast<size_t>(20 * channels), 3);
      ExpectAverages(loops_, SpreadPixels(x, channels, is_signed), channels);
    }
  }
}

// Where scales are powers of two, every second mean of two is a tie, and the zero point's parity
// decides to which side it goes.
TEST_P(ByteWindows, RoundsTiesToEvenBehindTheZeroPoint) {
  constexpr ptrdiff_t kChannels = 70;
  const std::vector<uint8_t> x = MakeBytes(20 * kChannels, 4);
  for (const int zero_point : {130, 131}) {
    WindowOfBytes w = SpreadPixels(x, kChannels, false);
    w.rows = 1;
    w.columns = 2;
    w.scale = w.to.scale = 0.5f;
    w.divisor = 2;
    w.to.zero_point = zero_point;
    ExpectAverages(loops_, w, kChannels);
  }
}

TEST_P(ByteWindows, MeansFarOutsideSaturate) {
  constexpr ptrdiff_t kChannels = 70;
  const std::vector<uint8_t> x = MakeBytes(20 * kChannels, 5);
  WindowOfBytes w = SpreadPixels(x, kChannels, false);
  w.to.low = 7;
  w.to.high = 190;
  ExpectAverages(loops_, w, kChannels);
  w.scale = 1e35f;
  w.to.scale = 1e-35f;
  ExpectAverages(loops_, w, kChannels);
  // Sums beyond float32 count as its greatest number, which is 34 steps here.
  w.zero_point = w.to.zero_point = 0;
  w.scale = w.to.scale = 1e37f;
  ExpectAverages(loops_, w, kChannels);
}

TEST_P(ByteWindows, NoTapsMakeTheZeroPoint) {
  WindowOfBytes w = SpreadPixels({}, 5, true);
  w.rows = 0;
  std::vector<uint8_t> got(6, kUntouched);
  loops_.average_bytes(w, 5, got.data());
  EXPECT_EQ(got, (std::vector<uint8_t>{3, 3, 3, 3, 3, kUntouched}));
}

}  // namespace
}  // namespace intaglio::test
