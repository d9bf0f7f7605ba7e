// RESIZE_NEAREST_NEIGHBOR against plain loops: rows and pixels that repeat, of images that threads
// share, whole and as operands of a concatenation, which lie apart.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn::test {
namespace {

const Quantization kQ{{0.1f}, {0}, 0};

std::vector<uint8_t> Resized(const std::vector<uint8_t>& x, const Shape& in, int height,
                             int width) {
  std::vector<uint8_t> y;
  for (int n = 0; n < in[0]; ++n) {
    for (int row = 0; row < height; ++row) {
      for (int column = 0; column < width; ++column) {
        const int pixel = (n * in[1] + row * in[1] / height) * in[2] + column * in[2] / width;
        const auto first = x.begin() + ptrdiff_t{pixel} * in[3];
        y.insert(y.end(), first, first + in[3]);
      }
    }
  }
  return y;
}

// Runs the graph by several numbers of threads.
void Check(const Graph& graph, const RawTensors& inputs, const std::vector<uint8_t>& want) {
  for (const int threads : {1, 2, 3}) {
    Result<Model> model = Model::Prepare(graph, {.threads = threads});
    ASSERT_TRUE(model.ok()) << model.status().message();
    RawTensors outputs;
    ASSERT_EQ(RunRaw(*model, inputs, outputs), "");
    EXPECT_EQ(outputs[0], want) << threads << " threads";
  }
}

TEST(ResizeNearest, RepeatsRowsAndPixels) {
  for (const Shape& in : {Shape{2, 9, 7, 40},
                          {1, 12, 1, 100},
                          {1, 1, 8, 100},
                          {1, 1, 1, 5},
                          {3, 16, 16, 1},
                          {0, 4, 4, 4}}) {
    for (const auto& [height, width] : {std::pair{27, 21}, {9, 7}, {31, 16}, {4, 3}, {1, 1}}) {
      SCOPED_TRACE(ToString(in) + " to " + std::to_string(height) + " x " + std::to_string(width));
      Builder b;
      const Value x = b.Input("x", Type::kInt8, in, kQ);
      b.Output(b.Layer(ResizeNearestNeighbor{height, width}, {x.id}, Type::kInt8, kQ), "y");
      const Result<Graph> graph = b.Finish();
      ASSERT_TRUE(graph.ok()) << graph.status().message();
      const RawTensors inputs = RandomInputs(*graph, 1);
      Check(*graph, inputs, Resized(inputs[0], in, height, width));
    }
  }
}

// Row 4 of nine alone, every second pixel.
TEST(ResizeNearest, TakesTheMiddle) {
  Builder b;
  const Value x = b.Input("x", Type::kInt8, {1, 9, 8, 1}, kQ);
  b.Output(b.Layer(ResizeNearestNeighbor{1, 4, false, true}, {x.id}, Type::kInt8, kQ), "y");
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const RawTensors in = RandomInputs(*graph, 3);
  Check(*graph, in, {in[0][33], in[0][35], in[0][37], in[0][39]});
}

TEST(ResizeNearest, BesideOtherChannels) {
  const Shape in{1, 9, 10, 40};
  Builder b;
  const Value x = b.Input("x", Type::kInt8, in, kQ);
  const Value y = b.Layer(ResizeNearestNeighbor{36, 30}, {x.id}, Type::kInt8, kQ);
  const Value z = b.Layer(ResizeNearestNeighbor{36, 30}, {x.id}, Type::kInt8, kQ);
  const Value both[] = {y, z};
  b.Output(b.Concatenation(both, {3, Activation::kNone}, kQ), "both");
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const RawTensors inputs = RandomInputs(*graph, 2);
  const std::vector<uint8_t> one = Resized(inputs[0], in, 36, 30);
  std::vector<uint8_t> want;
  for (size_t i = 0; i < one.size(); i += 40) {
    for (int twice = 0; twice < 2; ++twice) {
      want.insert(want.end(), one.begin() + static_cast<ptrdiff_t>(i),
                  one.begin() + static_cast<ptrdiff_t>(i) + 40);
    }
  }
  Check(*graph, inputs, want);
}

}  // namespace
}  // namespace intaglio::nn::test
