// CONV_2D of float32 by Winograd's algorithm: within the bound of docs/numerics.md of sums in
// float64, with the same bits for every kernel that adds alike, any threads and tiles at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn::test {
namespace {

constexpr char kName[] = "cpu:float32/winograd";
constexpr int kTaps = 9;

struct Sizes {
  int batch;
  int height;
  int width;
  int channels;
  int outputs;
  Padding padding = Padding::Same();
};

struct Numbers {
  std::vector<float> x;
  std::vector<float> w;
  std::vector<float> bias;
};

size_t Count(int a, int b, int c) {
  return static_cast<size_t>(a) * static_cast<size_t>(b) * static_cast<size_t>(c);
}

using Source = std::function<float(size_t)>;

Numbers MakeNumbers(const Sizes& s, const Source& x, const Source& w) {
  Numbers n;
  n.x.resize(Count(s.batch * s.height, s.width, s.channels));
  n.w.resize(Count(s.outputs, kTaps, s.channels));
  n.bias.resize(static_cast<size_t>(s.outputs));
  for (size_t i = 0; i < n.x.size(); ++i) n.x[i] = x(i);
  for (size_t i = 0; i < n.w.size(); ++i) n.w[i] = w(i);
  for (size_t i = 0; i < n.bias.size(); ++i) n.bias[i] = static_cast<float>(i % 7) - 3;
  return n;
}

Source Random(unsigned seed) {
  return [random = std::mt19937(seed)](size_t) mutable {
    return std::uniform_real_distribution<float>(-1, 1)(random);
  };
}
// Whole numbers and a fraction that does not fit beside them; the signs of neighbours differ.
Source Alternating() {
  return [](size_t i) { return (i % 2 == 0 ? 1.0f : -1.0f) * (1000 + 1.0f / 3); };
}
Source All(float value) {
  return [value](size_t) { return value; };
}

Graph MakeGraph(const Sizes& s, const Numbers& n, int stride = 1) {
  Builder b("winograd");
  const Value x = b.Input("x", Type::kFloat32, {s.batch, s.height, s.width, s.channels}, {});
  const auto w = b.Const<float>("w", n.w, {s.outputs, 3, 3, s.channels});
  const auto bias = b.Const<float>("bias", n.bias, {s.outputs});
  b.Output(b.Conv2D(x, w, bias, {.stride = {stride, stride}, .padding = s.padding}, {}), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

// A matrix of absolute values by another, and so on: what the transforms can make of rounding.
template <size_t kRows, size_t kInner, size_t kColumns>
void MultiplyAbsolute(const double (&a)[kRows][kInner], const double (&b)[kInner][kColumns],
                      double (&to)[kRows][kColumns]) {
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kColumns; ++j) {
      to[i][j] = 0;
      for (size_t k = 0; k < kInner; ++k) to[i][j] += std::abs(a[i][k]) * std::abs(b[k][j]);
    }
  }
}
template <size_t kRows, size_t kInner>
void BothAxes(const double (&a)[kRows][kInner], const double (&middle)[kInner][kInner],
              double (&to)[kRows][kRows]) {
  double transposed[kInner][kRows];
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t k = 0; k < kInner; ++k) transposed[k][i] = a[i][k];
  }
  double half[kRows][kInner];
  MultiplyAbsolute(a, middle, half);
  MultiplyAbsolute(half, transposed, to);
}

constexpr double kB[6][6] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
                             {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
constexpr double kG[6][3] = {{1. / 4, 0, 0},
                             {-1. / 6, -1. / 6, -1. / 6},
                             {-1. / 6, 1. / 6, -1. / 6},
                             {1. / 24, 1. / 12, 1. / 6},
                             {1. / 24, -1. / 12, 1. / 6},
                             {0, 0, 1}};
constexpr double kA[4][6] = {
    {1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};

class Oracle {
 public:
  Oracle(const Sizes& s, const Numbers& n) : s_(s), n_(n) {
    const bool same = s.padding.kind == Padding::Kind::kSame;
    pad_ = same ? 1 : 0;
    out_height_ = same ? s.height : s.height - 2;
    out_width_ = same ? s.width : s.width - 2;
  }

  void ExpectWithin(const std::vector<float>& y) const {
    ASSERT_EQ(y.size(), Count(s_.batch * out_height_, out_width_, s_.outputs));
    for (int image = 0; image < s_.batch; ++image) {
      for (int o = 0; o < s_.outputs; ++o) {
        for (int row = 0; row < out_height_; row += 4) {
          for (int col = 0; col < out_width_; col += 4) ExpectTile(y, image, row, col, o);
        }
      }
    }
  }

 private:
  double Pixel(int image, int row, int col, int c) const {
    if (row < 0 || row >= s_.height || col < 0 || col >= s_.width) return 0;
    return n_.x[Count(image * s_.height + row, s_.width, s_.channels) + Count(col, s_.channels, 1) +
                static_cast<size_t>(c)];
  }
  double Weight(int o, int tap, int c) const {
    return n_.w[Count(o * kTaps + tap, s_.channels, 1) + static_cast<size_t>(c)];
  }

  void ExpectTile(const std::vector<float>& y, int image, int row, int col, int o) const {
    double terms[6][6] = {};
    for (int c = 0; c < s_.channels; ++c) {
      double d[6][6];
      double g[3][3];
      for (int i = 0; i < 36; ++i) {
        d[i / 6][i % 6] = Pixel(image, row - pad_ + i / 6, col - pad_ + i % 6, c);
      }
      for (int i = 0; i < kTaps; ++i) g[i / 3][i % 3] = Weight(o, i, c);
      double v[6][6];
      double u[6][6];
      BothAxes(kB, d, v);
      BothAxes(kG, g, u);
      for (int i = 0; i < 36; ++i) terms[i / 6][i % 6] += u[i / 6][i % 6] * v[i / 6][i % 6];
    }
    double sums[4][4];
    BothAxes(kA, terms, sums);
    for (int i = 0; i < 16; ++i) {
      if (row + i / 4 < out_height_ && col + i % 4 < out_width_) {
        ExpectPixel(y, image, row + i / 4, col + i % 4, o, sums[i / 4][i % 4]);
      }
    }
  }

  void ExpectPixel(const std::vector<float>& y, int image, int row, int col, int o,
                   double terms) const {
    double want = n_.bias[static_cast<size_t>(o)];
    for (int tap = 0; tap < kTaps; ++tap) {
      for (int c = 0; c < s_.channels; ++c) {
        want += Pixel(image, row - pad_ + tap / 3, col - pad_ + tap % 3, c) * Weight(o, tap, c);
      }
    }
    const double u = std::ldexp(1, -24);
    const double n = s_.channels + 14;
    const double bound = n * u / (1 - n * u) * terms * (1 + u) + u * std::abs(want);
    const float got = y[Count(image * out_height_ + row, out_width_, s_.outputs) +
                        Count(col, s_.outputs, 1) + static_cast<size_t>(o)];
    ASSERT_LE(std::abs(got - want), bound)
        << "pixel " << row << ", " << col << ", channel " << o << ": " << got << ", not " << want;
  }

  const Sizes& s_;
  const Numbers& n_;
  int pad_ = 0;
  int out_height_ = 0;
  int out_width_ = 0;
};

std::vector<float> RunNamed(const Graph& graph, const Numbers& n, PrepareOptions options,
                            const std::string& routine = kName) {
  options.routines = {{"0", routine}};
  Result<Model> model = Model::Prepare(graph, options);
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message();
    return {};
  }
  EXPECT_EQ(model->layers()[0].routine, routine);
  std::vector<float> y(*CountElements(model->output(0).shape));
  const InputBuffer in[] = {MakeInput(n.x)};
  const OutputBuffer out[] = {MakeOutput(y)};
  const Status status = model->Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

// With every kernel, by 1 and 3 threads: the bits of the first that adds alike.
void ExpectOnAllKernels(const Sizes& s, const Numbers& n) {
  const Graph graph = MakeGraph(s, n);
  std::map<FloatSums, std::vector<float>> found;
  for (const KernelInfo& kernel : ListKernels()) {
    if (!kernel.usable) continue;
    for (const FloatSums asked : {FloatSums::kFused, FloatSums::kUnfused}) {
      for (const int threads : {1, 3}) {
        const PrepareOptions options = {
            .threads = threads, .kernel = kernel.name, .float_sums = asked};
        const Result<Model> model = Model::Prepare(graph, options);
        ASSERT_TRUE(model.ok()) << model.status().message();
        const std::vector<float> y = RunNamed(graph, n, options);
        std::vector<float>& first = found[model->float_sums()];
        if (first.empty()) {
          first = y;
          Oracle(s, n).ExpectWithin(y);
        }
        ASSERT_EQ(y, first) << kernel.name << ", " << threads << " threads";
      }
    }
  }
}

TEST(WinogradFloat, IsWithinItsBound) {
  const Sizes kSizes[] = {{1, 8, 8, 3, 5},    {2, 7, 9, 16, 33},
                          {1, 4, 5, 70, 6},   {1, 1, 1, 5, 17},
                          {3, 13, 6, 9, 64},  {1, 9, 10, 8, 12, Padding::Valid()},
                          {1, 30, 29, 4, 16}, {1, 3, 50, 20, 100}};
  for (const Sizes& s : kSizes) {
    SCOPED_TRACE(std::to_string(s.height) + "x" + std::to_string(s.width) + "x" +
                 std::to_string(s.channels));
    ExpectOnAllKernels(s, MakeNumbers(s, Random(3), Random(4)));
  }
}

TEST(WinogradFloat, IsWithinItsBoundForNumbersThatCancel) {
  const Sizes s = {1, 10, 11, 24, 18};
  ExpectOnAllKernels(s, MakeNumbers(s, Alternating(), All(1 / 3.0f)));
  ExpectOnAllKernels(s, MakeNumbers(s, All(1e6f / 3), Alternating()));
  ExpectOnAllKernels(s, MakeNumbers(s, Alternating(), Alternating()));
  ExpectOnAllKernels(s, MakeNumbers(s, Random(5), All(1e-20f)));
}

// How far results are from sums in float64, on average, beside the plain product.
TEST(WinogradFloat, RoundsLittleMoreThanTheProduct) {
  const Sizes s = {1, 12, 12, 128, 8};
  const Numbers n = MakeNumbers(s, Random(6), Random(7));
  const Graph graph = MakeGraph(s, n);
  const auto error = [&](const std::string& routine) {
    const std::vector<float> y = RunNamed(graph, n, {}, routine);
    double squares = 0;
    for (int pixel = 0; pixel < 100; ++pixel) {  // that have no padding under them
      const int row = 1 + pixel / 10;
      const int col = 1 + pixel % 10;
      for (int o = 0; o < s.outputs; ++o) {
        double want = n.bias[static_cast<size_t>(o)];
        for (int tap = 0; tap < kTaps; ++tap) {
          const size_t at = Count((row - 1 + tap / 3) * 12 + col - 1 + tap % 3, s.channels, 1);
          const size_t w = Count(o * kTaps + tap, s.channels, 1);
          for (size_t c = 0; c < 128; ++c) want += double{n.x[at + c]} * n.w[w + c];
        }
        const double off = y[Count(row * 12 + col, s.outputs, 1) + static_cast<size_t>(o)] - want;
        squares += off * off;
      }
    }
    return std::sqrt(squares / (100.0 * s.outputs));
  };
  const double product = error("cpu:float32/gemm");
  const double winograd = error(kName);
  RecordProperty("ratio", std::to_string(winograd / product));
  EXPECT_LT(winograd, 8 * product);
  EXPECT_GT(winograd, product / 8);
}

TEST(WinogradFloat, TilesChangeNoBit) {
  const Sizes s = {2, 45, 44, 6, 10};
  const Numbers n = MakeNumbers(s, Random(8), Random(9));
  const Graph graph = MakeGraph(s, n);
  const std::vector<float> expected = RunNamed(graph, n, {});
  const Result<Model> model = Model::Prepare(graph);
  ASSERT_TRUE(model.ok()) << model.status().message();
  int tried = 0;
  for (const CandidateInfo& candidate : model->ListRoutines(0)) {
    if (candidate.name != kName) continue;
    EXPECT_EQ(candidate.numeric, NumericClass::kBounded);
    for (const std::string& parameters : candidate.parameters) {
      EXPECT_EQ(RunNamed(graph, n, {.threads = 2}, kName + parameters), expected) << parameters;
      ++tried;
    }
  }
  EXPECT_EQ(tried, 2);
}

TEST(WinogradFloat, HasToBeNamedAndFit) {
  const Sizes s = {1, 8, 8, 4, 4};
  const Numbers n = MakeNumbers(s, Random(1), Random(2));
  const Result<Model> model = Model::Prepare(MakeGraph(s, n));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->layers()[0].routine, "cpu:float32/gemm");
  const PrepareOptions named = {.routines = {{"0", kName}}};
  const Status refused = Model::Prepare(MakeGraph(s, n, 2), named).status();
  EXPECT_NE(refused.message().find("it is not a filter of 3x3 taps with stride 1"),
            std::string::npos)
      << refused.message();
}

// Transformed weights are charged before they are made, and count as constants.
TEST(WinogradFloat, CountsItsMemory) {
  const Sizes s = {1, 8, 8, 128, 128};
  const Numbers n = MakeNumbers(s, Random(1), Random(2));
  const Graph graph = MakeGraph(s, n);
  PrepareOptions options = {.routines = {{"0", kName}}};
  const Result<Model> model = Model::Prepare(graph, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  constexpr size_t kTransformed = size_t{36} * 128 * 128 * sizeof(float);
  EXPECT_GE(model->layers()[0].constant_bytes, kTransformed);
  options.limits.max_bytes = model->taken_bytes() - 1;
  EXPECT_EQ(Model::Prepare(graph, options).status().code(), StatusCode::kOutOfMemory);
  options.routines.clear();
  EXPECT_EQ(Model::Prepare(graph, options).status().message(), "");
}

}  // namespace
}  // namespace intaglio::nn::test
