// The loops over float32 against plain ones, in every width that this CPU has, for every length of
// a last vector.
#include "intaglio/nn/ops/support/wide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/context.h"
#include "intaglio/gemm/describe.h"
#include "intaglio/nn/ops/linear/float_panels.h"
#include "intaglio/nn/ops/linear/hybrid.h"

namespace intaglio::nn {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr ptrdiff_t kMostElements = 150;

struct Table {
  std::string kernel;
  FloatSums sums;
};

class Wide : public testing::TestWithParam<Table> {
 protected:
  // sum + x w, as the table adds.
  float Add(float x, float w, float sum) const {
    return wide_.sums == FloatSums::kFused ? std::fma(x, w, sum) : sum + x * w;
  }

  const WideRoutines& wide_ = WideRoutinesOf(GetParam().kernel, GetParam().sums);
};

std::vector<Table> UsableTables() {
  std::vector<std::string> kernels = {""};
  for (const KernelInfo& kernel : ListKernels()) {
    if (kernel.usable) kernels.push_back(kernel.name);
  }
  std::vector<Table> tables;
  for (const std::string& kernel : kernels) {
    for (const FloatSums sums : {FloatSums::kUnfused, FloatSums::kFused}) {
      if (WideRoutinesOf(kernel, sums).sums == sums) tables.push_back({kernel, sums});
    }
  }
  return tables;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Wide, testing::ValuesIn(UsableTables()),
                         [](const testing::TestParamInfo<Table>& info) {
                           std::string name =
                               info.param.kernel.empty() ? "none" : info.param.kernel;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name + (info.param.sums == FloatSums::kFused ? "_fused" : "");
                         });

TEST(WideTables, FuseWhereAllCpusOfTheKernelDo) {
#if defined(__x86_64__)
  EXPECT_EQ(WideRoutinesOf("", FloatSums::kFused).sums, FloatSums::kUnfused);
  EXPECT_EQ(WideRoutinesOf("sse4.1", FloatSums::kFused).sums, FloatSums::kUnfused);
  for (const char* const kernel : {"avx2", "avx2-safe-pairs", "avx-vnni", "avx512bw", "amx-int8"}) {
    EXPECT_EQ(WideRoutinesOf(kernel, FloatSums::kFused).sums, FloatSums::kFused) << kernel;
    EXPECT_EQ(WideRoutinesOf(kernel, FloatSums::kUnfused).sums, FloatSums::kUnfused) << kernel;
  }
#elif defined(__aarch64__)
  EXPECT_EQ(WideRoutinesOf("", FloatSums::kFused).sums, FloatSums::kFused);
  EXPECT_EQ(WideRoutinesOf("neon", FloatSums::kUnfused).sums, FloatSums::kUnfused);
#endif
}

std::vector<float> MakeReals(ptrdiff_t count, float most, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-most, most);
  std::vector<float> x(static_cast<size_t>(count));
  for (float& value : x) value = real(random);
  return x;
}

TEST_P(Wide, RangeFindsEveryElement) {
  for (ptrdiff_t count = 0; count <= kMostElements; ++count) {
    std::vector<float> x(static_cast<size_t>(count), 0.5f);
    for (ptrdiff_t at = 0; at < count; ++at) {
      const auto i = static_cast<size_t>(at);
      const auto other = static_cast<size_t>(count - 1 - at);
      x[other] = kNan;
      x[i] = -3;
      float least = 1;
      float greatest = -1;
      wide_.range(x.data(), count, &least, &greatest);
      ASSERT_EQ(least, -3) << count << " " << at;
      x[i] = 7;
      wide_.range(x.data(), count, &least, &greatest);
      ASSERT_EQ(greatest, 7) << count << " " << at;
      ASSERT_EQ(least, 0) << count << " " << at;
      x[i] = x[other] = 0.5f;
    }
  }
}

int8_t Quantized(const LineQuantizer& q, float x) {
  const float rounded = std::round(x * q.inverse) + q.zero_point;
  if (std::isnan(rounded)) return static_cast<int8_t>(q.low);
  return static_cast<int8_t>(std::clamp(rounded, q.low, q.high));
}

TEST_P(Wide, QuantizesAsOneElement) {
  std::vector<float> x = {kNan, INFINITY, -INFINITY, -0.0f, 1e30f, -1e30f};
  // Ties, and their neighbours, whose sum with a half would round up to the next integer.
  for (int i = -300; i <= 300; ++i) {
    const float tie = static_cast<float>(i) + 0.5f;
    for (const float v : {tie, std::nextafter(tie, 1e9f), std::nextafter(tie, -1e9f)}) {
      x.push_back(v);
      x.push_back(v * 0.37f);
    }
  }
  x.push_back(std::nextafter(0.5f, 0.0f));
  for (const LineQuantizer& q : {LineQuantizer{1, 0, -127, 127}, LineQuantizer{2.7f, -9, -128, 127},
                                 LineQuantizer{1, 5, -128, 127}, LineQuantizer{1, -128, -128, 127},
                                 LineQuantizer{0, 0, -127, 127}}) {
    std::vector<int8_t> got(x.size());
    wide_.quantize(q, x.data(), static_cast<ptrdiff_t>(x.size()), got.data());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(int{got[i]}, int{Quantized(q, x[i])}) << x[i] << " of scale " << q.inverse;
    }
  }
}

TEST_P(Wide, QuantizesNoMoreThanIsThere) {
  const std::vector<float> x = MakeReals(kMostElements, 200, 1);
  const LineQuantizer q{1, 3, -128, 127};
  for (ptrdiff_t count = 0; count <= kMostElements; ++count) {
    std::vector<int8_t> got(kMostElements + 1, 99);
    wide_.quantize(q, x.data(), count, got.data());
    for (ptrdiff_t i = 0; i <= kMostElements; ++i) {
      const auto at = static_cast<size_t>(i);
      ASSERT_EQ(int{got[at]}, i < count ? int{Quantized(q, x[at])} : 99) << count << " " << i;
    }
  }
}

TEST_P(Wide, MakesRealsAsOneElement) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int32_t> sums(-2000000, 2000000);
  constexpr int kLines = 3;
  std::vector<int32_t> acc(kLines * (kMostElements + 2));
  std::vector<int32_t> weight_sums(kMostElements);
  for (int32_t& value : acc) value = sums(random);
  for (int32_t& value : weight_sums) value = sums(random) / 1000;
  const std::vector<float> scales = MakeReals(kMostElements, 0.01f, 4);
  const std::vector<float> bias = MakeReals(kMostElements, 5, 5);
  constexpr float kMost = std::numeric_limits<float>::max();
  for (const int32_t zero_point : {0, -128, 77}) {
    for (const auto& [high, in_turn] :
         {std::pair(6.0f, false), std::pair(kMost, false), std::pair(kMost, true)}) {
      LinesToReal line;
      line.in_turn = in_turn;
      line.scale = 0.3f;
      line.zero_point = zero_point;
      line.weight_sums = weight_sums.data();
      line.weight_scales = scales.data();
      line.bias = bias.data();
      line.high = high;
      line.lines = kLines;
      line.acc_stride = kMostElements + 2;
      line.to_stride = kMostElements + 1;
      for (ptrdiff_t count = 0; count <= kMostElements; ++count) {
        std::vector<float> got(static_cast<size_t>(kLines * line.to_stride), 99);
        wide_.to_real(line, acc.data(), count, got.data());
        for (int l = 0; l < kLines; ++l) {
          const int32_t* const from = acc.data() + l * line.acc_stride;
          const float* const to = got.data() + l * line.to_stride;
          for (ptrdiff_t i = 0; i < count; ++i) {
            const auto c = static_cast<size_t>(i);
            const auto sum = static_cast<float>(from[i] - zero_point * weight_sums[c]);
            const float scaled = in_turn ? sum * scales[c] * 0.3f : sum * (scales[c] * 0.3f);
            ASSERT_EQ(to[i], std::clamp(scaled + bias[c], 0.0f, high)) << count << " " << i;
          }
          ASSERT_EQ(to[count], 99);
        }
      }
    }
  }
}

using LineFunction = decltype(WideRoutines::erf);

// TFLite's reference kernel changes its formula at this number and at -9.
constexpr float kLogisticIsOneAbove = 16.619047164916992f;

// The oracle is the library's, so results may be its neighbours. All widths have the same bits.
void CheckLines(LineFunction run, LineFunction narrow, double (*f)(double)) {
  std::vector<float> x = MakeReals(600, 12, 7);
  size_t at = 0;
  for (const float v : {kNan,
                        INFINITY,
                        -INFINITY,
                        -0.0f,
                        4.0f,
                        -4.0f,
                        9.02f,
                        9.01f,
                        -9.0f,
                        1e-40f,
                        kLogisticIsOneAbove,
                        88.7f,
                        88.8f,
                        89.0f,
                        1e30f,
                        -88.0f,
                        -97.5f,
                        -103.9f,
                        -104.0f,
                        -1e30f}) {
    for (const float neighbour : {v, std::nextafter(v, 1e9f), std::nextafter(v, -1e9f)}) {
      x[at++] = neighbour;
    }
  }
  for (ptrdiff_t count = 0; count <= 600; count += count < 80 ? 1 : 13) {
    std::vector<float> got(static_cast<size_t>(count) + 1, 99);
    run(x.data(), count, got.data());
    ASSERT_EQ(got[static_cast<size_t>(count)], 99);
    std::vector<float> first(static_cast<size_t>(count));
    narrow(x.data(), count, first.data());
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const auto expected = static_cast<float>(f(static_cast<double>(x[i])));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got[i]) && std::isnan(first[i])) << i;
        continue;
      }
      ASSERT_EQ(got[i], first[i]) << x[i];
      ASSERT_EQ(std::signbit(got[i]), std::signbit(expected)) << x[i];
      ASSERT_GE(got[i], std::nextafter(expected, -INFINITY)) << x[i];
      ASSERT_LE(got[i], std::nextafter(expected, INFINITY)) << x[i];
    }
  }
}

TEST_P(Wide, ErrorFunction) {
  CheckLines(wide_.erf, WideRoutinesOf("").erf, [](double x) { return std::erf(x); });
}

TEST_P(Wide, HyperbolicTangent) {
  CheckLines(wide_.tanh, WideRoutinesOf("").tanh, [](double x) { return std::tanh(x); });
}

TEST_P(Wide, Exponential) {
  CheckLines(wide_.exp, WideRoutinesOf("").exp, [](double x) { return std::exp(x); });
}

// Only the last step of the exponential rounds, so one result in 2^10 or less is the neighbour of
// the number that is nearest.
TEST(WideExp, RoundsOnce) {
  const std::vector<float> x = MakeReals(1 << 16, 87, 11);
  std::vector<float> got(x.size());
  WideRoutinesOf("").exp(x.data(), static_cast<ptrdiff_t>(x.size()), got.data());
  int differing = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    differing += got[i] != static_cast<float>(std::exp(static_cast<double>(x[i])));
  }
  EXPECT_LE(differing, 1 << 6);
}

TEST_P(Wide, Sigmoid) {
  CheckLines(wide_.sigmoid, WideRoutinesOf("").sigmoid,
             [](double x) { return 1 / (1 + std::exp(-x)); });
}

TEST_P(Wide, LogisticOfTflite) {
  CheckLines(wide_.logistic, WideRoutinesOf("").logistic, [](double x) {
    if (x > static_cast<double>(kLogisticIsOneAbove)) return 1.0;
    return x < -9 ? std::exp(x) : 1 / (1 + std::exp(-x));
  });
}

std::vector<float> SoftmaxOf(const std::vector<float>& x, float beta) {
  float largest = std::numeric_limits<float>::lowest();
  for (const float v : x) largest = v > largest ? v : largest;
  std::vector<float> e(x.size());
  for (size_t i = 0; i < x.size(); ++i) e[i] = (x[i] - largest) * beta;
  WideRoutinesOf("").exp(e.data(), static_cast<ptrdiff_t>(e.size()), e.data());
  float interleaved[32] = {};
  for (size_t i = 0; i < e.size(); ++i) interleaved[i % 32] += e[i];
  std::vector<double> sums(interleaved, interleaved + 32);
  for (size_t half = 16; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  for (float& v : e) v /= static_cast<float>(sums[0]);
  return e;
}

TEST_P(Wide, SoftmaxDividesByTheSum) {
  for (ptrdiff_t count = 1; count <= kMostElements; ++count) {
    std::vector<float> x = MakeReals(count, 30, static_cast<unsigned>(count));
    if (count % 10 == 7) x[static_cast<size_t>(count / 2)] = -INFINITY;
    if (count % 10 == 9) x[static_cast<size_t>(count / 3)] = kNan;
    const std::vector<float> expected = SoftmaxOf(x, .7f);
    std::vector<float> got(x.size() + 1, 99);
    wide_.softmax(.7f, x.data(), count, got.data());
    ASSERT_EQ(got[x.size()], 99);
    wide_.softmax(.7f, x.data(), count, x.data());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(std::isnan(got[i]), std::isnan(expected[i])) << count;
      if (std::isnan(got[i])) continue;
      ASSERT_EQ(got[i], expected[i]) << count;
      ASSERT_EQ(x[i], expected[i]) << count;
    }
  }
}

// The operands are numbers of 9 bits, so that the products are exact in float64.
TEST_P(Wide, AddsScaledAsFusedOperationsDo) {
  std::mt19937 random(17);
  std::uniform_int_distribution<int> byte(-255, 255);
  const ScaledSum sum{.scale_a = .0371f, .scale_b = 1.7f, .offset = -3.14f};
  for (ptrdiff_t count = 0; count <= kMostElements; ++count) {
    std::vector<float> a(static_cast<size_t>(count));
    std::vector<float> b(a.size());
    for (float& v : a) v = static_cast<float>(byte(random));
    for (float& v : b) v = static_cast<float>(byte(random));
    std::vector<float> got = a;
    wide_.add_scaled(sum, b.data(), count, got.data());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(got[i], std::fma(a[i], sum.scale_a, std::fma(b[i], sum.scale_b, sum.offset)));
    }
  }
}

// The bits of plain loops, for every number of channels, and rows that fill no tile.
TEST_P(Wide, MultipliesInTheOrderOfTheDepth) {
  constexpr int kDepth = 7;
  constexpr int kRows = 19;
  constexpr int kStride = kDepth + 3;
  const std::vector<float> x = MakeReals(kRows * kStride, 4, 7);
  const std::vector<float> bias = MakeReals(kMostElements, 9, 8);
  for (int channels = 1; channels <= kMostElements; ++channels) {
    const std::vector<float> w = MakeReals(channels * kDepth, 1, 9);
    for (const bool by_channels : {false, true}) {
      const ptrdiff_t row = by_channels ? 1 : channels;
      const ptrdiff_t col = by_channels ? kDepth : 1;
      std::vector<float> panels(PanelElements(channels, kDepth, wide_));
      PackPanels(w.data(), row, col, channels, kDepth, wide_, panels.data());
      for (const int rows : {1, 4, kRows}) {
        const PanelProduct product{
            panels.data(), channels, kDepth, by_channels ? bias.data() : nullptr, -3, 5};
        const int out_stride = channels + 1;
        std::vector<float> got(static_cast<size_t>(rows * out_stride), 99);
        wide_.multiply(product, x.data(), kStride, rows, got.data(), out_stride);
        for (int r = 0; r < rows; ++r) {
          for (int c = 0; c < channels; ++c) {
            float sum = 0;
            for (int k = 0; k < kDepth; ++k) {
              sum = Add(x[static_cast<size_t>(r * kStride + k)],
                        w[static_cast<size_t>(k * row + c * col)], sum);
            }
            if (by_channels) sum += bias[static_cast<size_t>(c)];
            ASSERT_EQ(got[static_cast<size_t>(r * out_stride + c)], std::clamp(sum, -3.0f, 5.0f))
                << channels << " channels, row " << r << ", channel " << c;
          }
          ASSERT_EQ(got[static_cast<size_t>(r * out_stride + channels)], 99);
        }
      }
    }
  }
}

TEST_P(Wide, MultipliesOneRow) {
  constexpr int kDepth = 7;
  constexpr ptrdiff_t kStep = 3;
  const std::vector<float> x = MakeReals(kDepth * kStep, 4, 7);
  for (int channels = 1; channels <= kMostElements; ++channels) {
    const std::vector<float> w = MakeReals(channels * kDepth, 1, 9);
    for (const bool by_channels : {false, true}) {
      const StridedMatrix matrix{w.data(), by_channels ? 1 : channels, by_channels ? kDepth : 1,
                                 channels, kDepth};
      std::vector<float> got(static_cast<size_t>(channels) + 1, 99);
      wide_.multiply_row(matrix, x.data(), kStep, got.data());
      for (int c = 0; c < channels; ++c) {
        float sum = 0;
        for (int k = 0; k < kDepth; ++k) {
          sum = Add(x[static_cast<size_t>(k * kStep)],
                    matrix.data[k * matrix.row + c * matrix.column], sum);
        }
        ASSERT_EQ(got[static_cast<size_t>(c)], sum) << channels << " channels, channel " << c;
      }
      ASSERT_EQ(got[static_cast<size_t>(channels)], 99);
    }
  }
}

TEST_P(Wide, AddsMultiples) {
  const std::vector<float> x = MakeReals(kMostElements, 4, 7);
  const std::vector<float> before = MakeReals(kMostElements, 4, 8);
  for (ptrdiff_t count = 0; count <= kMostElements; ++count) {
    std::vector<float> got = before;
    wide_.add_multiple(.37f, x.data(), count, got.data());
    for (size_t i = 0; i < got.size(); ++i) {
      const bool added = static_cast<ptrdiff_t>(i) < count;
      ASSERT_EQ(got[i], added ? Add(.37f, x[i], before[i]) : before[i]) << count << " " << i;
    }
  }
}

// Two rows of three pixels, every second one of ten a row.
WindowPixels SpreadPixels(const std::vector<float>& x, int channels) {
  return {2, 3, x.data(), ptrdiff_t{10} * channels, ptrdiff_t{2} * channels, -3, 5};
}

TEST_P(Wide, AddsTapsRowByRow) {
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
        wide_.add_taps(w, channels, got.data());
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
TEST_P(Wide, AddsTapsOfWindowsThatOverlap) {
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
        wide_.add_taps(w, channels, got.data());
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
TEST_P(Wide, AddsTapsOfChannelsThatMakeSeveral) {
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
      wide_.add_taps(w, channels, got.data());
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

TEST_P(Wide, TheLargestOfNegativeZerosIsOne) {
  const std::vector<float> x(40 * 3, -0.0f);
  const WindowPixels w = SpreadPixels(x, 3);
  float got[3];
  wide_.pool(PoolKind::kLargest, w, 3, got);
  for (const float y : got) EXPECT_TRUE(y == 0 && std::signbit(y));
}

TEST_P(Wide, PoolsRowByRow) {
  for (int channels = 1; channels <= kMostElements; ++channels) {
    const std::vector<float> x = MakeReals(40 * channels, 6, 12);
    const WindowPixels w = SpreadPixels(x, channels);
    for (const auto kind : {PoolKind::kAverage, PoolKind::kLargest, PoolKind::kRootMeanSquare}) {
      std::vector<float> got(static_cast<size_t>(channels) + 1, 99);
      wide_.pool(kind, w, channels, got.data());
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

TEST_P(Wide, AddsDotsInEightSums) {
  constexpr ptrdiff_t kRows = 11;
  for (ptrdiff_t depth = 0; depth <= kMostElements; ++depth) {
    const std::vector<float> x = MakeReals(depth, 4, 12);
    const std::vector<float> w = MakeReals(kRows * depth, 1, 13);
    const std::vector<float> before = MakeReals(kRows, 9, 14);
    std::vector<const float*> rows;
    for (ptrdiff_t r = 0; r < kRows; ++r) rows.push_back(w.data() + r * depth);
    for (const ptrdiff_t count : {ptrdiff_t{0}, ptrdiff_t{3}, kRows}) {
      std::vector<float> got = before;
      wide_.add_dots(rows.data(), count, x.data(), depth, got.data());
      for (ptrdiff_t r = 0; r < kRows; ++r) {
        const auto at = static_cast<size_t>(r);
        float s[8] = {};
        for (ptrdiff_t k = 0; k < depth; ++k) {
          s[k % 8] = Add(rows[at][k], x[static_cast<size_t>(k)], s[k % 8]);
        }
        const float sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        ASSERT_EQ(got[at], r < count ? before[at] + sum : before[at]) << depth << " " << r;
      }
    }
  }
}

// TFLite's scales are those of ranges that were subtracted, and rounded, as float32.
TEST_P(Wide, RangesAreSubtractedInFloat32) {
  constexpr int64_t kItems = 1000;
  const std::vector<float> x = MakeReals(2 * kItems, 9, 8);
  std::vector<int8_t> values(2 * kItems);
  std::vector<float> scales(kItems);
  std::vector<int32_t> zero_points(kItems);
  Context context;
  QuantizeItems(context, wide_, x.data(), kItems, 2, true,
                {values.data(), scales.data(), zero_points.data()});
  int others = 0;
  for (size_t i = 0; i < kItems; ++i) {
    const auto [least, most] = std::minmax({x[2 * i], x[2 * i + 1], 0.0f});
    const double range = static_cast<double>(most) - static_cast<double>(least);
    ASSERT_EQ(scales[i], static_cast<float>(static_cast<double>(most - least) / 255)) << i;
    others += scales[i] != static_cast<float>(range / 255) ? 1 : 0;
  }
  EXPECT_GT(others, 0);
}

// Items shared out to threads, and parts of one item.
TEST_P(Wide, ItemsAreTheSameByAnyNumberOfThreads) {
  constexpr int64_t kElements = 1 << 17;
  const std::vector<float> x = MakeReals(kElements, 9, 6);
  Context alone(1);
  Context together(3);
  for (const int64_t items : {1, 2, 64, 4096}) {
    for (const bool asymmetric : {false, true}) {
      const int64_t size = kElements / items;
      const auto bytes = static_cast<size_t>(kElements + items * 8);
      std::vector<std::byte> expected(bytes);
      std::vector<std::byte> got(bytes);
      QuantizeItems(alone, wide_, x.data(), items, size, asymmetric, expected.data());
      QuantizeItems(together, wide_, x.data(), items, size, asymmetric, got.data());
      ASSERT_EQ(got, expected) << items << " items";
      // And by a plain loop.
      const auto* const scales = reinterpret_cast<const float*>(expected.data());
      const float most = *std::max_element(x.begin(), x.begin() + static_cast<ptrdiff_t>(size));
      const float least = *std::min_element(x.begin(), x.begin() + static_cast<ptrdiff_t>(size));
      const float range = asymmetric ? (most - least) / 255 : std::max(most, -least) / 127;
      EXPECT_FLOAT_EQ(scales[0], range);
    }
  }
}

}  // namespace
}  // namespace intaglio::nn
