// Pools of float32 against a plain loop, for every part of a block of channels, by any number of
// threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn::test {
namespace {

constexpr int kBatch = 2;
constexpr int kSide = 23;
constexpr int kFilter = 3;

// What a pool makes of the taps of each window, which are those inside the image.
using Pool = std::function<float(const std::vector<float>&)>;

std::vector<float> Pooled(const std::vector<float>& x, int channels, int stride, const Pool& pool) {
  const int out = (kSide - 1) / stride + 1;
  const int pad = ((out - 1) * stride + kFilter - kSide) / 2;
  std::vector<float> y;
  for (int n = 0; n < kBatch; ++n) {
    for (int at = 0; at < out * out * channels; ++at) {
      const int top = at / channels / out * stride - pad;
      const int left = at / channels % out * stride - pad;
      std::vector<float> taps;
      for (int row = std::max(top, 0); row < std::min(top + kFilter, kSide); ++row) {
        for (int col = std::max(left, 0); col < std::min(left + kFilter, kSide); ++col) {
          const int pixel = (n * kSide + row) * kSide + col;
          taps.push_back(x[static_cast<size_t>(pixel * channels + at % channels)]);
        }
      }
      y.push_back(pool(taps));
    }
  }
  return y;
}

float Mean(const std::vector<float>& taps) {
  float sum = 0;
  for (const float x : taps) sum += x;
  return sum / static_cast<float>(taps.size());
}
float Largest(const std::vector<float>& taps) {
  return *std::max_element(taps.begin(), taps.end());
}
float RootMeanSquare(const std::vector<float>& taps) {
  float sum = 0;
  for (const float x : taps) sum += x * x;
  return std::sqrt(sum / static_cast<float>(taps.size()));
}

template <class Op>
void Check(const Pool& pool) {
  for (const int channels : {1, 33, 64, 70, 131}) {
    for (const int stride : {1, 2}) {
      Op op;
      op.filter = {kFilter, kFilter};
      op.stride = {stride, stride};
      op.padding = Padding::Same();
      Builder builder;
      const Value in = builder.Input("x", Type::kFloat32, {kBatch, kSide, kSide, channels}, {});
      builder.Output(builder.Layer(op, {in.id}, Type::kFloat32, {}), "y");
      const Result<Graph> graph = builder.Finish();
      ASSERT_TRUE(graph.ok()) << graph.status().message();
      const RawTensors inputs = RandomInputs(*graph, static_cast<unsigned>(channels));
      std::vector<float> x(inputs[0].size() / sizeof(float));
      std::memcpy(x.data(), inputs[0].data(), inputs[0].size());
      const std::vector<float> want = Pooled(x, channels, stride, pool);
      for (const int threads : {1, 2, 3}) {
        SCOPED_TRACE(std::to_string(channels) + " channels, stride " + std::to_string(stride) +
                     ", " + std::to_string(threads) + " threads");
        Result<Model> model = Model::Prepare(*graph, {.threads = threads});
        ASSERT_TRUE(model.ok()) << model.status().message();
        RawTensors outputs;
        ASSERT_EQ(RunRaw(*model, inputs, outputs), "");
        std::vector<float> got(outputs[0].size() / sizeof(float));
        std::memcpy(got.data(), outputs[0].data(), outputs[0].size());
        ASSERT_EQ(got, want);
      }
    }
  }
}

TEST(PoolFloat, Average) { Check<AveragePool2D>(Mean); }
TEST(PoolFloat, Max) { Check<MaxPool2D>(Largest); }
TEST(PoolFloat, L2) { Check<L2Pool2D>(RootMeanSquare); }

}  // namespace
}  // namespace intaglio::nn::test
