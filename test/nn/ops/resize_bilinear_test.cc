// RESIZE_BILINEAR of bytes from and to all small sizes, against TFLite's formulas: some of them by
// weights of few bits, some not, some with columns beyond the image's sides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::test {
namespace {

struct Case {
  int in_height, in_width, out_height, out_width, channels;
  bool align_corners, half_pixel_centers;
};

struct Real {
  int low, high;
  float fraction;
};

Real RealPosition(int in, int out, int at, const Case& c) {
  float scale = static_cast<float>(in) / static_cast<float>(out);
  if (c.align_corners && out > 1) {
    scale = static_cast<float>(in - 1) / static_cast<float>(out - 1);
  }
  const float x = c.half_pixel_centers ? (static_cast<float>(at) + 0.5f) * scale - 0.5f
                                       : static_cast<float>(at) * scale;
  const int low = std::max(static_cast<int>(std::floor(x)), 0);
  const int high = std::min(static_cast<int>(std::ceil(x)), in - 1);
  return {low, high, x - static_cast<float>(low)};
}

uint8_t Want(const std::vector<uint8_t>& in, const Case& c, int oy, int ox, int channel) {
  const Real y = RealPosition(c.in_height, c.out_height, oy, c);
  const Real x = RealPosition(c.in_width, c.out_width, ox, c);
  const auto at = [&](int row, int column) {
    return static_cast<float>(
        in[static_cast<size_t>((row * c.in_width + column) * c.channels + channel)]);
  };
  float sum = at(y.low, x.low) * (1 - y.fraction) * (1 - x.fraction);
  sum += at(y.high, x.low) * y.fraction * (1 - x.fraction);
  sum += at(y.low, x.high) * (1 - y.fraction) * x.fraction;
  sum += at(y.high, x.high) * y.fraction * x.fraction;
  return static_cast<uint8_t>(sum + 0.5f);
}

struct Fixed {
  int low, high;
  int64_t fraction;  // of 1024
};

Fixed FixedPosition(int in, int out, int at, const Case& c) {
  int scale = ((1 << 10) * in + out / 2) / out;
  if (c.align_corners && out > 1) scale = ((1 << 10) * (in - 1) + (out - 1) / 2) / (out - 1);
  int x = at * scale;
  if (c.half_pixel_centers) x += scale / 2 - (1 << 9);
  const int low = std::max(x / 1024, 0);
  return {low, std::min((x + 1023) / 1024, in - 1), x - 1024 * low};
}

int8_t Want(const std::vector<int8_t>& in, const Case& c, int oy, int ox, int channel) {
  const Fixed y = FixedPosition(c.in_height, c.out_height, oy, c);
  const Fixed x = FixedPosition(c.in_width, c.out_width, ox, c);
  const auto at = [&](int row, int column) {
    return int64_t{in[static_cast<size_t>((row * c.in_width + column) * c.channels + channel)]};
  };
  const int64_t sum = at(y.low, x.low) * (1024 - y.fraction) * (1024 - x.fraction) +
                      at(y.high, x.low) * y.fraction * (1024 - x.fraction) +
                      at(y.low, x.high) * (1024 - y.fraction) * x.fraction +
                      at(y.high, x.high) * y.fraction * x.fraction;
  const int64_t half = sum > 0 ? 1 << 19 : -(1 << 19);
  return static_cast<int8_t>((sum + half) / (1 << 20));
}

template <class T>
void Check(const Case& c, std::mt19937& random, int threads = 1) {
  Builder builder;
  const Quantization q = PerTensor(0.5f, 7);
  const Value x = builder.Input("x", TypeOf<T>, {1, c.in_height, c.in_width, c.channels}, q);
  const ResizeBilinear op{c.out_height, c.out_width, c.align_corners, c.half_pixel_centers};
  builder.Output(builder.Layer(op, {x.id}, TypeOf<T>, q), "y");
  auto graph = builder.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  auto model = Model::Prepare(std::move(*graph), {.threads = threads});
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::vector<T> in(static_cast<size_t>(c.in_height * c.in_width * c.channels));
  for (T& number : in) number = static_cast<T>(random());
  std::vector<T> out(static_cast<size_t>(c.out_height * c.out_width * c.channels));
  const InputBuffer inputs[] = {MakeInput<T>(in)};
  const OutputBuffer outputs[] = {MakeOutput<T>(out)};
  ASSERT_TRUE(model->Run(inputs, outputs).ok());
  for (size_t i = 0; i < out.size(); ++i) {
    const int pixel = static_cast<int>(i) / c.channels;
    const T want =
        Want(in, c, pixel / c.out_width, pixel % c.out_width, static_cast<int>(i) % c.channels);
    ASSERT_EQ(int{out[i]}, int{want})
        << c.in_height << " x " << c.in_width << " to " << c.out_height << " x " << c.out_width
        << ", " << c.channels << " channels, aligned " << c.align_corners << ", half pixels "
        << c.half_pixel_centers << ", element " << i;
  }
}

template <class T>
void CheckAll() {
  std::mt19937 random(3);
  for (const int in_height : {1, 2, 3, 5}) {
    for (const int in_width : {1, 2, 3, 5}) {
      for (const int out_height : {1, 2, 3, 4, 6, 8, 9, 17, 33}) {
        for (const int out_width : {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 33}) {
          for (const int how : {0, 1, 2}) {
            constexpr int kChannels[] = {21, 21, 70, 150};  // more and less than vectors hold
            const int channels = kChannels[random() % 4];
            ASSERT_NO_FATAL_FAILURE(
                Check<T>({in_height, in_width, out_height, out_width, channels, how == 1, how == 2},
                         random));
          }
        }
      }
    }
  }
}

TEST(ResizeBilinear, ByTwoThreads) {
  std::mt19937 random(4);
  for (const int side : {257, 200}) {  // by few bits, and not
    Check<uint8_t>({33, 33, side, side, 21, true, false}, random, 2);
    Check<int8_t>({33, 33, side, side, 21, true, false}, random, 2);
  }
}

TEST(ResizeBilinear, OfUInt8) { CheckAll<uint8_t>(); }
TEST(ResizeBilinear, OfInt8) { CheckAll<int8_t>(); }

// Scales that files give are those of the extents. So a model with them keeps its sizes.
TEST(ResizeBilinear, ScalesAreThoseOfTheExtents) {
  const auto prepare = [](float height_scale, float width_scale) {
    Builder builder;
    const Value x = builder.Input("x", Type::kFloat32, {1, 8, 6, 1}, {});
    ResizeBilinear op{16, 12, false, true};
    op.height_scale = height_scale;
    op.width_scale = width_scale;
    builder.Output(builder.Layer(op, {x.id}, Type::kFloat32, {}), "y");
    Result<Graph> graph = builder.Finish();
    return graph.ok() ? Model::Prepare(std::move(*graph), {}) : graph.status();
  };
  Result<Model> model = prepare(2, 2);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const Status resized = model->Resize({{1, 16, 12, 1}});
  EXPECT_NE(resized.message().find("not those of its extents"), std::string::npos)
      << resized.message();
  EXPECT_TRUE(prepare(2.0000002f, 2).ok());
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float wrong : {0.0f, -2.0f, 1.5f, kInfinity, std::nanf("")}) {
    EXPECT_FALSE(prepare(wrong, 2).ok()) << wrong;
    EXPECT_FALSE(prepare(2, wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace intaglio::nn::test
