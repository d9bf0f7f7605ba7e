// Corrected biases take away the mean errors of rounded weights and activations.
#include "intaglio/nn/quantize/correct_bias.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/test/nn/quantize/network.h"

namespace intaglio::nn::quantize {
namespace {

constexpr int kChannels = 6;

// Weights are 2 and many of 0.45: with 3 bits and one scale, 0.45 becomes 0.67, always too much.
Reals Weights(size_t count) {
  Reals values(count, 0.45f);
  values[0] = 2;
  return values;
}

// A convolution, a depthwise one and a dense layer. Inputs have a mean far from 0.
Graph Network(bool with_bias = true) {
  Builder b;
  const auto bias = [&](const char* name, int count) {
    return with_bias ? b.Const<float>(name, Reals(static_cast<size_t>(count), 0.25f), {count})
                     : kNoBias;
  };
  const Value x = b.Input("x", Type::kFloat32, {1, 4, 4, 3});
  const Value first =
      b.Conv2D(x, b.Const<float>("w0", Weights(kChannels * 27), {kChannels, 3, 3, 3}),
               bias("b0", kChannels), {.padding = Padding::Same()}, {});
  const Value second =
      b.DepthwiseConv2D(first, b.Const<float>("w1", Weights(9 * kChannels), {1, 3, 3, kChannels}),
                        bias("b1", kChannels), {}, {});
  const Value flat = b.Reshape(second, {1, 4 * kChannels});
  const Constant w2 = b.Const<float>("w2", Weights(5 * 4 * kChannels), {5, 4 * kChannels});
  b.Output(first, "y0");
  b.Output(b.FullyConnected(flat, w2, bias("b2", 5), {.activation = Activation::kRelu}, {}), "y1");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::move(*graph) : Graph();
}

std::vector<InputBytes> Samples(size_t count) {
  std::mt19937 engine(4);
  std::uniform_real_distribution<float> real(0, 2);
  std::vector<InputBytes> samples;
  for (size_t i = 0; i < count; ++i) {
    Reals x(48);
    for (float& value : x) value = real(engine);
    samples.push_back({ToBytes(x)});
  }
  return samples;
}

Quantized QuantizedOf(const Graph& graph, const std::vector<InputBytes>& samples, Form form,
                      Type activations = Type::kInt8) {
  Rules rules = {.form = form};
  rules.layers.resize(
      graph.layers.size(),
      LayerRule{.weight_bits = 3, .per_channel = false, .activations = activations});
  const Result<Calibration> c = Calibrate(graph, From(samples));
  EXPECT_TRUE(c.ok()) << c.status().message();
  Result<Quantized> q = QuantizeGraph(graph, c->ranges, rules);
  EXPECT_TRUE(q.ok()) << q.status().message();
  return q.ok() ? std::move(*q) : Quantized();
}

// The greatest mean error of a channel of an output.
double MeanErrorOf(const Graph& exact, const Graph& actual, size_t output, size_t channels,
                   const std::vector<InputBytes>& samples) {
  std::vector<double> sums(channels);
  double count = 0;
  for (const InputBytes& sample : samples) {
    const std::vector<double> x = OutputsOf(exact, sample).at(output);
    const std::vector<double> y = OutputsOf(actual, sample).at(output);
    for (size_t i = 0; i < x.size(); ++i) sums[i % channels] += x[i] - y[i];
    count += static_cast<double>(x.size() / channels);
  }
  double greatest = 0;
  for (const double sum : sums) greatest = std::max(greatest, std::abs(sum) / count);
  return greatest;
}

void ExpectCorrects(const Graph& graph, Form form, Type activations) {
  SCOPED_TRACE(NameOf(activations));
  const std::vector<InputBytes> samples = Samples(24);
  Quantized q = QuantizedOf(graph, samples, form, activations);
  const Graph before = q.graph;
  const Result<Corrected> corrected = CorrectBiases(graph, q, Open(samples));
  ASSERT_TRUE(corrected.ok()) << corrected.status().message();
  EXPECT_EQ(corrected->samples, 24u);
  EXPECT_EQ(corrected->layers, 3u);
  EXPECT_EQ(corrected->changed, 3u);
  EXPECT_TRUE(Validate(q.graph).ok());
  const double error = MeanErrorOf(graph, before, 0, kChannels, samples);
  EXPECT_GT(error, 1);
  EXPECT_LT(MeanErrorOf(graph, q.graph, 0, kChannels, samples), error / 50);
}

TEST(CorrectBiases, TakesTheMeanErrorAway) {
  ExpectCorrects(Network(), Form::kIntegers, Type::kInt8);
  ExpectCorrects(Network(), Form::kIntegers, Type::kUInt8);
  ExpectCorrects(Network(), Form::kIntegers, Type::kInt16);
  ExpectCorrects(Network(), Form::kPairs, Type::kInt8);
}

TEST(CorrectBiases, AddsBiases) {
  Graph graph = Network(false);
  const std::vector<InputBytes> samples = Samples(4);
  Quantized q = QuantizedOf(graph, samples, Form::kIntegers);
  EXPECT_EQ(CorrectBiases(graph, q, Open(samples))->layers, 0u);
  EXPECT_EQ(AddBiases(graph), 3u);
  EXPECT_EQ(AddBiases(graph), 0u);
  ASSERT_TRUE(Validate(graph).ok());
  EXPECT_EQ(OutputsOf(graph, samples[0]), OutputsOf(Network(false), samples[0]));
  ExpectCorrects(graph, Form::kIntegers, Type::kInt8);
}

template <class T>
std::vector<T> ValuesOf(const Tensor& tensor) {
  std::vector<T> values(tensor.data_bytes / sizeof(T));
  std::memcpy(values.data(), tensor.data, tensor.data_bytes);
  return values;
}

// Weights of 2 bits are -1, 0 and 1 times 1: 0.75 becomes 1, and 0.25 becomes 0. The mean of x is
// (2, 4), so the mean errors are (0.75 - 1) * 4 = -1 and 0.25 * 4 = 1, before the activation.
TEST(CorrectBiases, ComputesTheMeanByHand) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 2});
  const Constant w = b.Const<float>("w", {1, 0.75f, -1, 0.25f}, {2, 2});
  const Constant c = b.Const<float>("c", {0, -20}, {2});
  b.Output(b.FullyConnected(x, w, c, {.activation = Activation::kRelu}, {}), "y");
  const Graph graph = *b.Finish();
  Ranges ranges(graph.tensors.size());
  ranges[static_cast<size_t>(graph.inputs[0])] = RealRange{0, 255.0f / 32};
  ranges[static_cast<size_t>(graph.outputs[0])] = RealRange{0, 255};
  Result<Quantized> q =
      QuantizeGraph(graph, ranges, {.interface = Type::kInt8, .layers = {{.weight_bits = 2}}});
  ASSERT_TRUE(q.ok()) << q.status().message();
  const TensorId bias = q->graph.layers[0].inputs[2];
  EXPECT_EQ(ValuesOf<int32_t>(TensorAt(q->graph, bias)), (std::vector<int32_t>{0, -640}));
  const std::vector<InputBytes> samples = {{ToBytes(Reals{1, 3})}, {ToBytes(Reals{3, 5})}};
  ASSERT_TRUE(CorrectBiases(graph, *q, Open(samples)).ok());
  EXPECT_EQ(ValuesOf<int32_t>(TensorAt(q->graph, bias)), (std::vector<int32_t>{-32, -608}));
  // Nothing is left.
  EXPECT_EQ(CorrectBiases(graph, *q, Open(samples))->changed, 0u);
}

// Two layers that multiply by 1, of which the second reads what the first one rounds. 64.25 becomes
// 64 at the input, whose step is 1, so the first bias grows by 0.25, which is 32 of its steps. Of
// the first result, whose step is 2, 64 is left again, so the second bias grows by 0.25, too.
class RoundedTwice : public testing::Test {
 protected:
  void SetUp() override {
    Builder b;
    const Value x = b.Input("x", Type::kFloat32, {1, 1});
    const auto product = [&](const Value& value, const char* w, const char* c) {
      return b.FullyConnected(value, b.Const<float>(w, {1}, {1, 1}), b.Const<float>(c, {0}, {1}),
                              {}, {});
    };
    const Value first = product(x, "w0", "b0");
    b.Output(first, "y0");
    b.Output(product(first, "w1", "b1"), "y1");
    graph_ = *b.Finish();
    Ranges ranges(graph_.tensors.size());
    ranges[static_cast<size_t>(graph_.inputs[0])] = RealRange{0, 255};
    for (const TensorId id : graph_.outputs) ranges[static_cast<size_t>(id)] = RealRange{0, 510};
    Result<Quantized> q = QuantizeGraph(graph_, ranges, {});
    ASSERT_TRUE(q.ok()) << q.status().message();
    quantized_ = std::move(*q);
  }

  std::vector<int32_t> Biases() const {
    std::vector<int32_t> biases;
    for (const size_t place : quantized_.places) {
      const TensorId bias = quantized_.graph.layers[place].inputs[2];
      biases.push_back(ValuesOf<int32_t>(TensorAt(quantized_.graph, bias))[0]);
    }
    return biases;
  }

  Graph graph_;
  Quantized quantized_;
};

TEST_F(RoundedTwice, TakesErrorsOfActivationsAway) {
  const std::vector<InputBytes> samples = {{ToBytes(Reals{64.25f})}};
  ASSERT_TRUE(CorrectBiases(graph_, quantized_, Open(samples)).ok());
  EXPECT_EQ(Biases(), (std::vector<int32_t>{32, 16}));
}

TEST_F(RoundedTwice, LooksAtSomeSamples) {
  const std::vector<InputBytes> samples = {{ToBytes(Reals{64.25f})},
                                           {ToBytes(Reals{7.5f})},
                                           {ToBytes(Reals{NAN})},
                                           {ToBytes(Reals{64.25f})},
                                           {ToBytes(Reals{9})}};
  const Result<Corrected> corrected =
      CorrectBiases(graph_, quantized_, Open(samples), {.every = 3});
  ASSERT_TRUE(corrected.ok()) << corrected.status().message();
  EXPECT_EQ(corrected->samples, 2u);
  EXPECT_EQ(Biases(), (std::vector<int32_t>{32, 16}));
  EXPECT_EQ(CorrectBiases(graph_, quantized_, Open(samples), {.most_samples = 1})->samples, 1u);
  EXPECT_EQ(CorrectBiases(graph_, quantized_, Open(samples), {.every = 0}).status().message(),
            "every 0th sample");
}

TEST(CorrectBiases, RepeatsItself) {
  const Graph graph = Network();
  const std::vector<InputBytes> samples = Samples(8);
  Quantized a = QuantizedOf(graph, samples, Form::kIntegers);
  Quantized b = QuantizedOf(graph, samples, Form::kIntegers);
  ASSERT_TRUE(CorrectBiases(graph, a, Open(samples)).ok());
  ASSERT_TRUE(CorrectBiases(graph, b, Open(samples), {.threads = 3}).ok());
  for (size_t i = 0; i < a.graph.tensors.size(); ++i) {
    const Tensor& x = a.graph.tensors[i];
    const Tensor& y = b.graph.tensors[i];
    ASSERT_EQ(x.data_bytes, y.data_bytes);
    EXPECT_TRUE(x.data_bytes == 0 || std::memcmp(x.data, y.data, x.data_bytes) == 0) << x.name;
  }
}

TEST(CorrectBiases, NamesWhatIsWrong) {
  const Graph graph = Network();
  const std::vector<InputBytes> samples = Samples(2);
  Quantized q = QuantizedOf(graph, samples, Form::kIntegers);
  const std::vector<InputBytes> none;
  EXPECT_EQ(CorrectBiases(graph, q, Open(none)).status().message(),
            "there is no sample to correct biases with");
  const std::vector<InputBytes> ill = {{ToBytes(Reals(48, NAN))}};
  const std::string message = CorrectBiases(graph, q, Open(ill)).status().message();
  EXPECT_NE(message.find("its mean is not finite"), std::string::npos) << message;
  Quantized other;
  EXPECT_EQ(CorrectBiases(graph, other, Open(samples)).status().message(),
            "the network of integers was made of another one");
}

}  // namespace
}  // namespace intaglio::nn::quantize
