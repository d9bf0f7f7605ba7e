// Winograd's convolutions against naive sums, and the proof that they ask for.
#include "intaglio/gemm/winograd.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <limits>

#include "intaglio/gemm/plan/winograd_forms.h"
#include "intaglio/gemm/plan/winograd_groups.h"
#include "intaglio/kernels/winograd/lines.h"
#include "intaglio/test/gemm/image.h"

namespace intaglio::test {
namespace {

// The kernels that convolve so.
std::vector<std::string> WinogradKernels() {
  std::vector<std::string> names;
  for (const std::string& name : KernelNames()) {
    const auto kernel = KernelNamed(name);
    if (kernel.ok() && (*kernel)->winograd != nullptr) names.push_back(name);
  }
  return names;
}

// A shape of filters.
struct Shape {
  int height;
  int width;

  int taps() const { return height * width; }
};
constexpr Shape kSquare = {3, 3};
constexpr Shape kShapes[] = {kSquare, {1, 7}, {7, 1}, {5, 5}, {1, 5}, {5, 1}, {1, 3}, {3, 1}};

// The kernels that have forms for filters of a shape.
std::vector<std::string> KernelsFor(const Shape& shape) {
  std::vector<std::string> names;
  for (const std::string& name : WinogradKernels()) {
    const WinogradForm* const form = WinogradFormOf(shape.height, shape.width);
    if ((*KernelNamed(name))->winograd->of(*form).input != nullptr) names.push_back(name);
  }
  return names;
}

TestImage MakeImage(Random& random, Type type, int batch, int side, int channels,
                    int32_t zero_point, Values values, const Shape& shape = kSquare) {
  TestImage image(random, type, batch, side, side, channels, zero_point, values);
  Im2col& v = image.view();
  v.kernel_height = shape.height;
  v.kernel_width = shape.width;
  v.pad_top = shape.height / 2;
  v.pad_left = shape.width / 2;
  return image;
}

constexpr WinogradWeights kAllWeights[] = {WinogradWeights::kBySize, WinogradWeights::kKept,
                                           WinogradWeights::kPerCall};

const WinogradForm& kForm = *WinogradFormOf(3, 3);
constexpr int64_t kSquareMagnitude = 262143;

// A convolution, and what it has to give.
struct Problem {
  TestImage image;
  TestMatrix filters;
  std::vector<int32_t> zero_points;  // per output, or empty
  TestPipeline pipeline;
  std::vector<int64_t> sums;

  Problem(TestImage of_image, TestMatrix of_filters, std::vector<int32_t> zeros = {})
      : image(std::move(of_image)),
        filters(std::move(of_filters)),
        zero_points(std::move(zeros)),
        sums(Sums(image.ToIntegers(), filters.ToIntegers(zero_points, Axis::kCols))) {}

  int outputs() const { return filters.view().cols; }

  void Run(Context& context, const std::string& kernel, int gap = 0) {
    SCOPED_TRACE(image.Text() + " -> " + std::to_string(outputs()) + ", " + kernel);
    PackOptions options{zero_points, kernel, 1};
    const Im2col& v = image.view();
    ASSERT_EQ(WhyNotWinograd(v, filters.view(), options), nullptr);
    const WinogradFilters shape{v.kernel_height, v.kernel_width, weights};
    const auto packed = PackedWinograd::Pack(filters.view(), options, shape);
    ASSERT_TRUE(packed.ok()) << packed.status().message();
    const size_t kept = MostWinogradBytes(shape, v.channels, outputs());
    EXPECT_TRUE(weights == WinogradWeights::kBySize ||
                (kept > 0) == (weights == WinogradWeights::kKept));
    const size_t panels = RoundUp(static_cast<size_t>(outputs()), kMaxPanelWidth);
    const size_t untransformed = panels * static_cast<size_t>(filters.view().rows + 64);
    EXPECT_LE(packed->bytes(), kept + untransformed);
    if (kept > 0) {
      EXPECT_GT(packed->bytes(), size_t{3} * static_cast<size_t>(filters.view().rows * outputs()));
    }
    const auto bound = BoundPipeline::Bind(*packed, pipeline.standard, v.type, v.zero_point);
    ASSERT_TRUE(bound.ok()) << bound.status().message();
    TestResult dst(pipeline.standard.output, Rows(v), outputs(), Order::kRowMajor, gap);
    dst.Want(pipeline.standard, sums);
    const Status status = Winograd(context, v, *packed, dst.view().data, *bound,
                                   {.dst_stride = outputs() + gap, .most_tiles = most_tiles});
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(dst.Same()) << dst.Difference();
    groups = packed->groups();
  }

  int most_tiles = 0;
  WinogradWeights weights = WinogradWeights::kBySize;
  int groups = 0;
};

void RunRandom(unsigned seed, Context& context) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const Type types[] = {Type::kInt8, Type::kUInt8};
  const Type type = types[random() % 2];
  const Type filter_type = types[random() % 2];
  const Values values = random() % 3 == 0 ? Values::kExtremes : Values::kUniform;
  const Shape shape = random() % 3 == 0 ? kSquare : kShapes[random() % std::size(kShapes)];
  const auto kernels = KernelsFor(shape);
  if (kernels.empty()) return;
  const int channels = 4 * Uniform(random, 1, random() % 8 == 0 ? 70 : 13);
  TestImage image(random, type, Uniform(random, 1, 3), Uniform(random, 1, 13),
                  Uniform(random, 1, 13), channels, RandomZeroPoint(random, type), values);
  Im2col& v = image.view();
  v.kernel_height = shape.height;
  v.kernel_width = shape.width;
  v.pad_top = Uniform(random, 0, shape.height);
  v.pad_left = Uniform(random, 0, shape.width);
  v.out_height = std::max(1, v.height + Uniform(random, -2, 2));
  v.out_width = std::max(1, v.width + Uniform(random, -2, 2));
  const int outputs = Uniform(random, 1, 50);
  const int32_t middle = filter_type == Type::kInt8 ? 0 : 128;
  const int32_t zero_point = middle + (random() % 2 == 0 ? 0 : Uniform(random, -99, 99));
  std::vector<int32_t> zeros;
  if (random() % 4 == 0) {
    for (int o = 0; o < outputs; ++o) zeros.push_back(middle + Uniform(random, -99, 99));
  }
  Problem problem(std::move(image),
                  TestMatrix(random, filter_type, shape.taps() * channels, outputs,
                             Order::kColMajor, Uniform(random, 0, 3), zero_point, values),
                  zeros);
  const Scaling scalings[] = {Scaling::kDoubleRounding, Scaling::kSingleRounding,
                              Scaling::kFloatHalfEven, Scaling::kNone, Scaling::kToFloat};
  const Scaling scaling = scalings[random() % 5];
  const Type results[] = {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32};
  const Type output = scaling == Scaling::kToFloat ? Type::kFloat32 : results[random() % 4];
  problem.pipeline.Randomize(random, scaling, output, outputs, Axis::kCols,
                             0.01 / std::sqrt(shape.taps() * channels));
  problem.most_tiles = Uniform(random, 0, 9);
  problem.weights = kAllWeights[random() % 3];
  problem.Run(context, OneOf(random, kernels), random() % 2 == 0 ? 0 : Uniform(random, 1, 40));
}

TEST(Winograd, EqualsNaiveSums) {
  if (WinogradKernels().empty()) GTEST_SKIP() << "no kernel has Winograd transforms";
  std::vector<std::unique_ptr<Context>> contexts;
  for (int t = 1; t <= 8; ++t) contexts.push_back(std::make_unique<Context>(t));
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RunRandom(seed, *contexts[seed % 10 < 6 ? 0 : seed % 8]);
    if (HasFatalFailure()) return;
  }
}

// Sizes at which threads share tiles, and panels.
TEST(Winograd, ThreadsGiveTheSameBits) {
  for (const Shape& shape : {kSquare, Shape{7, 1}, Shape{5, 5}}) {
    for (const std::string& kernel : KernelsFor(shape)) {
      for (const int side : {7, 14, 29}) {
        Random random(static_cast<unsigned>(side));
        Problem problem(
            MakeImage(random, Type::kInt8, 1, side, 32, -3, Values::kUniform, shape),
            TestMatrix(random, Type::kInt8, shape.taps() * 32, 72, Order::kColMajor, 0, 0));
        problem.pipeline.Randomize(random, Scaling::kDoubleRounding, Type::kInt8, 72, Axis::kCols,
                                   0.001);
        for (const int threads : {1, 2, 3, 5, 8}) {
          Context context(threads);
          problem.Run(context, kernel);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Images and filters of the largest numbers of either sign, of many channels, in one group and in
// several.
TEST(Winograd, ExtremeNumbers) {
  constexpr Values kAll[] = {Values::kAllLowest, Values::kAllHighest, Values::kExtremes};
  Context context;
  for (const std::string& kernel : WinogradKernels()) {
    for (const int channels : {224, 256, 512}) {
      for (const Values pixels : kAll) {
        for (const Values weights : kAll) {
          Random random(5);
          const Type type = channels == 256 ? Type::kUInt8 : Type::kInt8;
          Problem problem(
              MakeImage(random, type, 1, 5, channels,
                        channels == 512 ? LowestOf(type) : HighestOf(type), pixels),
              TestMatrix(random, Type::kInt8, 9 * channels, 80, Order::kColMajor, 0, 0, weights));
          problem.pipeline.Randomize(random, Scaling::kNone, Type::kInt32, 80, Axis::kCols, 1);
          for (const WinogradWeights when : {WinogradWeights::kKept, WinogradWeights::kPerCall}) {
            problem.weights = when;
            problem.Run(context, kernel);
            if (HasFatalFailure()) return;
          }
          EXPECT_EQ(problem.groups, (9 * 128 * channels - 1) / kSquareMagnitude + 1);
        }
      }
    }
  }
}

// The alternating signs for which transforms are largest.
TEST(Winograd, LargestTransforms) {
  constexpr int kChannels = 16;
  Context context;
  Random random(3);
  for (const std::string& kernel : WinogradKernels()) {
    for (int pattern = 0; pattern < 16; ++pattern) {
      std::vector<int8_t> pixels(10 * 10 * kChannels);
      for (size_t i = 0; i < pixels.size(); ++i) {
        const size_t x = i / kChannels % 10 + static_cast<size_t>(pattern % 4);
        const size_t y = i / kChannels / 10 + static_cast<size_t>(pattern / 4);
        pixels[i] = (x / 2 + y / 2) % 2 == 0 ? 127 : -128;
      }
      Problem problem(MakeImage(random, Type::kInt8, 1, 10, kChannels, 127, Values::kUniform),
                      TestMatrix(random, Type::kInt8, 9 * kChannels, 16, Order::kColMajor, 0, 0,
                                 pattern % 2 == 0 ? Values::kAllLowest : Values::kExtremes));
      problem.image.Fill(pixels.data());
      problem.sums = Sums(problem.image.ToIntegers(), problem.filters.ToIntegers());
      problem.pipeline.Randomize(random, Scaling::kNone, Type::kInt32, 16, Axis::kCols, 1);
      problem.Run(context, kernel);
      if (HasFatalFailure()) return;
    }
  }
}

// Along lines, all of the lowest and highest numbers, and patterns of signs over pixels and taps.
TEST(Winograd, ExtremesOfLines) {
  constexpr int kChannels = 36;
  Context context;
  Random random(3);
  for (const Shape& shape : kShapes) {
    for (const std::string& kernel : KernelsFor(shape)) {
      for (int pattern = 0; pattern < 12; ++pattern) {
        const int period = pattern % 3 + 1;
        std::vector<int8_t> pixels(9 * 9 * kChannels);
        for (size_t i = 0; i < pixels.size(); ++i) {
          const auto at = static_cast<int>(i / kChannels);
          pixels[i] = (at % 9 / period + at / 9 / period) % 2 == 0 ? 127 : -128;
        }
        const Type filter_type = pattern % 2 == 0 ? Type::kInt8 : Type::kUInt8;
        const int32_t zero_point = filter_type == Type::kInt8 ? 0 : pattern < 6 ? 200 : 28;
        Problem problem(
            MakeImage(random, Type::kInt8, 1, 9, kChannels, 127, Values::kUniform, shape),
            TestMatrix(random, filter_type, shape.taps() * kChannels, 16, Order::kColMajor, 0,
                       zero_point, pattern < 4 ? Values::kAllLowest : Values::kExtremes));
        problem.image.Fill(pixels.data());
        problem.sums = Sums(problem.image.ToIntegers(), problem.filters.ToIntegers());
        problem.pipeline.Randomize(random, Scaling::kNone, Type::kInt32, 16, Axis::kCols, 1);
        problem.Run(context, kernel);
        if (HasFatalFailure()) return;
      }
    }
  }
}

using Square = std::array<std::array<uint32_t, 6>, 6>;

// y = a x a^T, modulo 2^32: `rows` rows of a, which has as many columns as x.
template <class A>
Square Transform(const A& a, const Square& x) {
  constexpr size_t kRows = std::tuple_size_v<A>;
  constexpr size_t kCols = std::tuple_size_v<typename A::value_type>;
  Square half = {};
  Square y = {};
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kCols; ++c) {
      for (size_t k = 0; k < kCols; ++k) half[r][c] += static_cast<uint32_t>(a[r][k]) * x[k][c];
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t c = 0; c < kRows; ++c) {
      for (size_t k = 0; k < kCols; ++k) y[r][c] += half[r][k] * static_cast<uint32_t>(a[c][k]);
    }
  }
  return y;
}

template <size_t kRows, size_t kCols>
using Matrix = std::array<std::array<int, kCols>, kRows>;
constexpr Matrix<6, 6> kB = {{{4, 0, -5, 0, 1, 0},
                              {0, -4, -4, 1, 1, 0},
                              {0, 4, -4, -1, 1, 0},
                              {0, -2, -1, 2, 1, 0},
                              {0, 2, -1, -2, 1, 0},
                              {0, 4, 0, -5, 0, 1}}};
constexpr Matrix<6, 3> kG = {
    {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 6}}};
constexpr Matrix<4, 6> kA = {
    {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 4}}};

// What the arithmetic makes of one group of channels whose pixels are all x, and whose filters are
// those of one output: the accumulator of any pixel of the tile.
int32_t SumOfGroup(int x, const std::vector<int8_t>& filter) {
  const size_t channels = filter.size() / 9;
  Square products = {};
  Square pixels;
  for (auto& line : pixels) line.fill(static_cast<uint32_t>(x));
  const Square v = Transform(kB, pixels);
  for (size_t c = 0; c < channels; ++c) {
    Square weights = {};
    for (size_t t = 0; t < 9; ++t) {
      weights[t / 3][t % 3] = static_cast<uint32_t>(filter[t * channels + c]);
    }
    const Square u = Transform(kG, weights);
    for (size_t i = 0; i < 36; ++i) products[i / 6][i % 6] += v[i / 6][i % 6] * u[i / 6][i % 6];
  }
  const auto scaled = static_cast<int32_t>(Transform(kA, products)[1][2] * 0x38E38E39u);
  return scaled >> 6;
}

// A filter whose |w| add up to `magnitude`, none of them positive.
std::vector<int8_t> FilterOf(int64_t magnitude, int channels, int taps = 9) {
  std::vector<int8_t> filter;
  for (int i = 0; i < taps * channels; ++i) {
    const auto w = std::min<int64_t>(magnitude, 128);
    filter.push_back(static_cast<int8_t>(-w));
    magnitude -= w;
  }
  return filter;
}

// At the bound of the proof one group is right. One step beyond, its arithmetic gives another sum,
// so that there are two.
TEST(Winograd, TheProofIsNecessary) {
  constexpr int kChannels = 232;
  EXPECT_EQ(kForm.most_magnitude, kSquareMagnitude);
  Context context;
  for (const int64_t magnitude : {kSquareMagnitude, kSquareMagnitude + 1}) {
    const bool is_proven = magnitude <= kSquareMagnitude;
    const std::vector<int8_t> filter = FilterOf(magnitude, kChannels);
    EXPECT_EQ(SumOfGroup(-128, filter) == 128 * magnitude, is_proven);
    const ConstMatrix view{
        filter.data(), Type::kInt8, 9 * kChannels, 1, 9 * kChannels, Order::kColMajor, 0};
    const int32_t zero = 0;
    EXPECT_EQ(CountWinogradGroups(view, {&zero, 1}, kForm), is_proven ? 1 : 2);
    Random random(1);
    for (const std::string& kernel : WinogradKernels()) {
      TestMatrix filters(random, Type::kInt8, 9 * kChannels, 1, Order::kColMajor, 0, 0);
      filters.Fill(filter.data());
      Problem problem(MakeImage(random, Type::kInt8, 1, 6, kChannels, 0, Values::kAllLowest),
                      filters);
      problem.pipeline.Randomize(random, Scaling::kNone, Type::kInt32, 1, Axis::kCols, 1);
      problem.Run(context, kernel);
      EXPECT_EQ(problem.groups, is_proven ? 1 : 2);
      EXPECT_EQ(problem.sums[14], 128 * magnitude);
    }
  }
}

// What the arithmetic makes of pixels that are all x and a filter of lines: the accumulator of a
// pixel whose window lies within the image.
template <class L>
int32_t SumOfLines(int x, const std::vector<int8_t>& filter, const WinogradForm& form) {
  const size_t channels = filter.size() / static_cast<size_t>(form.taps());
  uint32_t products[L::kPoints] = {};
  for (int tap = 0; tap < form.taps(); ++tap) {
    uint32_t sum = 0;
    for (size_t c = 0; c < channels; ++c) {
      sum += static_cast<uint32_t>(filter[static_cast<size_t>(tap) * channels + c]);
    }
    for (int f = 0; f < L::kPoints; ++f) {
      uint32_t v = 0;
      for (const int b : L::kB[f]) v += static_cast<uint32_t>(b * x);
      products[f] += v * static_cast<uint32_t>(L::kG[f][tap % form.block_taps()]) * sum;
    }
  }
  uint32_t y = 0;
  for (int f = 0; f < L::kPoints; ++f) y += static_cast<uint32_t>(L::kA[1][f]) * products[f];
  return static_cast<int32_t>(y * InverseOf(L::kScale >> kLineShift)) >> kLineShift;
}

// Lines of several blocks are refused one step beyond the bound, where their arithmetic is wrong.
template <class L>
void TestBoundOfLines(const Shape& shape, int channels) {
  const WinogradForm& form = *WinogradFormOf(shape.height, shape.width);
  EXPECT_EQ(form.most_magnitude, 2097151);
  Context context;
  for (const int64_t magnitude : {form.most_magnitude, form.most_magnitude + 1}) {
    const bool is_proven = magnitude <= form.most_magnitude;
    const std::vector<int8_t> filter = FilterOf(magnitude, channels, shape.taps());
    EXPECT_EQ(SumOfLines<L>(-128, filter, form) == 128 * magnitude, is_proven);
    Random random(1);
    TestMatrix filters(random, Type::kInt8, shape.taps() * channels, 1, Order::kColMajor, 0, 0);
    filters.Fill(filter.data());
    for (const std::string& kernel : KernelsFor(shape)) {
      Problem problem(MakeImage(random, Type::kInt8, 1, 7, channels, 0, Values::kAllLowest, shape),
                      filters);
      problem.pipeline.Randomize(random, Scaling::kNone, Type::kInt32, 1, Axis::kCols, 1);
      EXPECT_EQ(problem.sums[3 * 7 + 3], 128 * magnitude);
      PackOptions options;
      options.kernel = kernel;
      const char* const why_not = WhyNotWinograd(problem.image.view(), filters.view(), options);
      if (is_proven) {
        problem.Run(context, kernel);
      } else {
        EXPECT_STREQ(why_not, "sums of weights are too large");
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Winograd, TheProofOfLinesIsNecessary) {
  TestBoundOfLines<Line6x4>({1, 7}, 2344);
  TestBoundOfLines<Line6x4>({7, 1}, 2344);
  TestBoundOfLines<Line4x5>({5, 5}, 656);
}

// Groups are cut where all outputs are proven, and by zero points, too.
TEST(Winograd, GroupsOfOutputs) {
  constexpr int kChannels = 512;
  std::vector<int8_t> filters(3 * 9 * kChannels, 1);
  const std::vector<int8_t> large = FilterOf(9 * kChannels * 128, kChannels);
  std::copy(large.begin(), large.end(), filters.begin() + 9 * kChannels);
  const ConstMatrix view{
      filters.data(), Type::kInt8, 9 * kChannels, 3, 9 * kChannels, Order::kColMajor, 0};
  const int32_t zero = 0;
  EXPECT_EQ(CountWinogradGroups(view, {&zero, 1}, kForm), 3);
  const int32_t zeros[] = {0, -128, 0};
  EXPECT_EQ(CountWinogradGroups(view, zeros, kForm), 1);
  const int32_t far = -101;
  EXPECT_EQ(CountWinogradGroups(view, {&far, 1}, kForm), 2);
  EXPECT_EQ(LargestWeight(view, {&far, 1}, kForm.most_weight), 102);
}

TEST(Winograd, Refuses) {
  Random random(2);
  const auto kernels = WinogradKernels();
  TestImage image = MakeImage(random, Type::kInt8, 1, 8, 16, 0, Values::kUniform);
  const TestMatrix filters(random, Type::kInt8, 9 * 16, 16, Order::kColMajor, 0, 0,
                           Values::kExtremes);
  const Im2col& v = image.view();
  PackOptions options;
  options.kernel = "scalar";
  EXPECT_STREQ(WhyNotWinograd(v, filters.view(), options), "the kernel has no Winograd transforms");
  EXPECT_FALSE(PackedWinograd::Pack(filters.view(), options).ok());
  if (kernels.empty()) return;
  options.kernel = kernels[0];
  const auto why_not = [&](auto change) {
    Im2col other = v;
    change(other);
    const char* const text = WhyNotWinograd(other, filters.view(), options);
    return std::string(text == nullptr ? "" : text);
  };
  EXPECT_EQ(why_not([](Im2col&) {}), "");
  EXPECT_EQ(why_not([](Im2col& o) { o.stride_width = 2; }), "the stride is not 1");
  EXPECT_EQ(why_not([](Im2col& o) { o.dilation_height = 2; }), "the filters are dilated");
  EXPECT_EQ(why_not([](Im2col& o) { o.kernel_width = 1; }), "the filters have another shape");
  EXPECT_EQ(why_not([](Im2col& o) { o.kernel_width = 2; }),
            "the kernel has no transforms for filters of this shape");
  EXPECT_EQ(why_not([](Im2col& o) { o.channels = 32; }), "the channels are in groups");
  options.channel_zero_points.assign(16, -99);
  EXPECT_EQ(why_not([](Im2col&) {}), "");
  options.channel_zero_points.assign(16, 100);
  EXPECT_EQ(why_not([](Im2col&) {}), "weights lie too far from their zero points");
  EXPECT_FALSE(PackedWinograd::Pack(filters.view(), options).ok());
  options.channel_zero_points.clear();

  const auto packed = PackedWinograd::Pack(filters.view(), options);
  ASSERT_TRUE(packed.ok()) << packed.status().message();
  TestPipeline pipeline;
  pipeline.Randomize(random, Scaling::kNone, Type::kInt32, 16, Axis::kCols, 1);
  const auto bound = BoundPipeline::Bind(*packed, pipeline.standard, Type::kInt8, 0);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  std::vector<int32_t> dst(8 * 8 * 16);
  Context context;
  EXPECT_TRUE(Winograd(context, v, *packed, dst.data(), *bound).ok());
  EXPECT_FALSE(Winograd(context, v, {}, dst.data(), *bound).ok());
  EXPECT_FALSE(Winograd(context, v, *packed, dst.data(), {}).ok());
  EXPECT_FALSE(Winograd(context, v, *packed, nullptr, *bound).ok());
  EXPECT_FALSE(Winograd(context, v, *packed, dst.data(), *bound, {.dst_stride = 15}).ok());
  EXPECT_FALSE(Winograd(context, v, *packed, dst.data(), *bound, {.most_tiles = -1}).ok());
  constexpr int kAll = std::numeric_limits<int>::max();
  EXPECT_TRUE(Winograd(context, v, *packed, dst.data(), *bound, {.most_tiles = kAll}).ok());
  EXPECT_FALSE(Winograd(context, v, *packed, const_cast<void*>(v.data), *bound).ok());
  Im2col other = v;
  other.zero_point = 1;
  EXPECT_FALSE(Winograd(context, other, *packed, dst.data(), *bound).ok());
  other = v;
  other.stride_height = 2;
  EXPECT_FALSE(Winograd(context, other, *packed, dst.data(), *bound).ok());
  pipeline.Randomize(random, Scaling::kReal64, Type::kInt8, 16, Axis::kCols, 0.01);
  EXPECT_FALSE(BoundPipeline::Bind(*packed, pipeline.standard, Type::kInt8, 0).ok());
}

}  // namespace
}  // namespace intaglio::test
