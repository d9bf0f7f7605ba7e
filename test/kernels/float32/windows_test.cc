// Depthwise taps and pools of float32 against plain loops, for every number of channels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "intaglio/test/kernels/float32/every_loops.h"

namespace intaglio::test {
namespace {

class FloatWindows : public EveryFloatLoops {};
INTAGLIO_INSTANTIATE_EVERY_FLOAT_LOOPS(FloatWindows);

// Two rows of three pixels, every second one of ten a row.
WindowPixels SpreadPixels(const std::vector<float>& x, int channels) {
  return {2, 3, x.data(), ptrdiff_t{10} * channels, ptrdiff_t{2} * channels, -3, 5};
}

TEST_P(FloatWindows, AddsTapsRowByRow) {
  constexpr int kMostWindows = 11;
  const std::vector<float> bias = MakeReals(kMostElements, 9, 8);
  for (int channels = 1; channels <= kMostElements; ++channels) {
    const std::vector<float> x = MakeReals((20 + 3 * kMostWindows) * channels, 4, 10);
    const std::vector<float> filter = MakeReals(20 * channels, 1, 11);
    WindowTaps w;
    static_cast<WindowPixels&>(w) = SpreadPixels(x, channels);
    w.filter = filter.data();
    w.filter_row = ptrdiff_t{5} * channels;
    w.filter_column = channels;
    w.bias = bias.data();
    w.x_window = ptrdiff_t{3} * channels;
    w.out_window = channels + 1;
    for (const int windows : {1, 2, kMostWindows}) {
      for (const int rows : {2, 0}) {
        w.windows = windows;
        w.rows = rows;
        std::vector<float> got(static_cast<size_t>(windows * w.out_window), 99);
        loops_.add_taps(w, channels, got.data());
        for (int i = 0; i < windows * (channels + 1); ++i) {
          const int c = i % (channels + 1);
          const int window = i / (channels + 1);
          float sum = 0;
          for (int tap = 0; tap < 3 * rows && c < channels; ++tap) {
            const int row = tap / 3;
            const int column = tap % 3;
            sum = Add(x[static_cast<size_t>((row * 10 + column * 2 + window * 3) * channels + c)],
                      filter[static_cast<size_t>((row * 5 + column) * channels + c)], sum);
          }
          const float want =
              c == channels ? 99 : std::clamp(sum + bias[static_cast<size_t>(c)], -3.0f, 5.0f);
          ASSERT_EQ(got[static_cast<size_t>(i)], want) << channels << ", window " << window;
        }
      }
    }
  }
}

// Two rows of every second pixel, for windows two pixels apart.
TEST_P(FloatWindows, AddsTapsOfWindowsThatOverlap) {
  constexpr int kPixels = 40;  // a row
  const std::vector<float> bias = MakeReals(kMostElements, 9, 8);
  for (int channels = 1; channels <= kMostElements; channels += channels < 40 ? 1 : 11) {
    const std::vector<float> x = MakeReals(2 * kPixels * channels, 4, 10);
    const std::vector<float> filter = MakeReals(2 * 5 * channels, 1, 11);
    for (const int columns : {3, 4, 5}) {
      WindowTaps w;
      static_cast<WindowPixels&>(w) = {
          2, columns, x.data(), ptrdiff_t{kPixels} * channels, ptrdiff_t{2} * channels, -3, 5};
      w.filter = filter.data();
      w.filter_row = ptrdiff_t{5} * channels;
      w.filter_column = channels;
      w.bias = bias.data();
      w.x_window = w.x_column;
      w.out_window = channels + 1;
      for (w.windows = 1; w.windows <= 15; ++w.windows) {
        std::vector<float> got(static_cast<size_t>(w.windows * w.out_window), 99);
        loops_.add_taps(w, channels, got.data());
        for (int i = 0; i < w.windows * (channels + 1); ++i) {
          const int c = i % (channels + 1);
          const int window = i / (channels + 1);
          float sum = 0;
          for (int tap = 0; tap < 2 * columns && c < channels; ++tap) {
            const int row = tap / columns;
            const int column = tap % columns;
            sum =
                Add(x[static_cast<size_t>((row * kPixels + (column + window) * 2) * channels + c)],
                    filter[static_cast<size_t>((row * 5 + column) * channels + c)], sum);
          }
          const float want =
              c == channels ? 99 : std::clamp(sum + bias[static_cast<size_t>(c)], -3.0f, 5.0f);
          ASSERT_EQ(got[static_cast<size_t>(i)], want) << channels << ", window " << window;
        }
      }
    }
  }
}

// One row of two pixels.
TEST_P(FloatWindows, AddsTapsOfChannelsThatMakeSeveral) {
  constexpr int kWindows = 9;
  const std::vector<float> bias = MakeReals(kMostElements, 9, 8);
  for (const int multiplier : {2, 3, 8}) {
    for (int inputs = 1; inputs * multiplier <= kMostElements; ++inputs) {
      const int channels = inputs * multiplier;
      const std::vector<float> x = MakeReals((kWindows + 2) * inputs, 4, 10);
      const std::vector<float> filter = MakeReals(2 * channels, 1, 11);
      WindowTaps w;
      static_cast<WindowPixels&>(w) = {1, 2, x.data(), 0, inputs, -3, 5};
      w.multiplier = multiplier;
      w.filter = filter.data();
      w.filter_column = channels;
      w.bias = bias.data();
      w.windows = kWindows;
      w.x_window = inputs;
      w.out_window = channels;
      std::vector<float> got(static_cast<size_t>(kWindows * channels) + 1, 99);
      loops_.add_taps(w, channels, got.data());
      for (int i = 0; i < kWindows * channels; ++i) {
        const int c = i % channels;
        float sum = 0;
        for (int tap = 0; tap < 2; ++tap) {
          sum = Add(x[static_cast<size_t>((i / channels + tap) * inputs + c / multiplier)],
                    filter[static_cast<size_t>(tap * channels + c)], sum);
        }
        ASSERT_EQ(got[static_cast<size_t>(i)],
                  std::clamp(sum + bias[static_cast<size_t>(c)], -3.0f, 5.0f))
            << channels << " channels, " << i;
      }
      ASSERT_EQ(got.back(), 99);
    }
  }
}

TEST_P(FloatWindows, TheLargestOfNegativeZerosIsOne) {
  const std::vector<float> x(40 * 3, -0.0f);
  const WindowPixels w = SpreadPixels(x, 3);
  float got[3];
  loops_.pool(PoolKind::kLargest, w, 3, got);
  for (const float y : got) EXPECT_TRUE(y == 0 && std::signbit(y));
}

TEST_P(FloatWindows, PoolsRowByRow) {
  for (int channels = 1; channels <= kMostElements; ++channels) {
    const std::vector<float> x = MakeReals(40 * channels, 6, 12);
    const WindowPixels w = SpreadPixels(x, channels);
    for (const auto kind : {PoolKind::kAverage, PoolKind::kLargest, PoolKind::kRootMeanSquare}) {
      std::vector<float> got(static_cast<size_t>(channels) + 1, 99);
      loops_.pool(kind, w, channels, got.data());
      for (int c = 0; c < channels; ++c) {
        float sum = 0;
        float squares = 0;
        float largest = std::numeric_limits<float>::lowest();
        for (int row = 0; row < w.rows; ++row) {
          for (int column = 0; column < w.columns; ++column) {
            const float pixel = x[static_cast<size_t>((row * 10 + column * 2) * channels + c)];
            sum += pixel;
            squares += pixel * pixel;
            largest = std::max(largest, pixel);
          }
        }
        const float mean = kind == PoolKind::kAverage ? sum / 6 : std::sqrt(squares / 6);
        const float want = kind == PoolKind::kLargest ? largest : mean;
        ASSERT_EQ(got[static_cast<size_t>(c)], std::clamp(want, -3.0f, 5.0f));
      }
      ASSERT_EQ(got[static_cast<size_t>(channels)], 99);
    }
  }
}

}  // namespace
}  // namespace intaglio::test
