// Smoothed networks compute what they did, and their activations are alike in size.
#include "intaglio/nn/quantize/smooth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/quantize/agreement.h"
#include "intaglio/nn/quantize/quantize.h"
#include "intaglio/test/nn/quantize/network.h"

namespace intaglio::nn::quantize {
namespace {

constexpr int kChannels = 8;

Reals Random(size_t count, unsigned seed, float least = -1, float most = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> real(least, most);
  Reals values(count);
  for (float& value : values) value = real(engine);
  return values;
}

// Channel 2 is 40 times larger than the others.
Reals Outlying(unsigned seed) {
  Reals values = Random(kChannels, seed, 0.5f, 1);
  values[2] *= 40;
  return values;
}

std::vector<InputBytes> Samples(size_t count, size_t elements) {
  std::vector<InputBytes> samples;
  for (size_t i = 0; i < count; ++i) {
    samples.push_back({ToBytes(Random(elements, static_cast<unsigned>(i + 50)))});
  }
  return samples;
}

// Networks of x with 5 rows of 8 channels.
class Maker {
 public:
  Builder b;
  Value x = b.Input("x", Type::kFloat32, {5, kChannels});

  Constant Row(const Reals& values) { return b.Const<float>("row", values, {kChannels}); }
  Value Dense(Value input, int outputs, unsigned seed, Activation activation = Activation::kNone) {
    const auto count = static_cast<size_t>(outputs) * kChannels;
    return b.FullyConnected(
        input, b.Const<float>("w", Random(count, seed), {outputs, kChannels}),
        b.Const<float>("c", Random(static_cast<size_t>(outputs), seed + 1), {outputs}),
        {.activation = activation}, {});
  }
  Value Of(Operator op, const std::vector<TensorId>& inputs) {
    return b.Layer(std::move(op), inputs, Type::kFloat32, {});
  }
  // x times a row with an outlier, plus another row.
  Value Affine(Value value, Activation activation = Activation::kNone) {
    const Value scaled = Of(Mul{}, {value.id, Row(Outlying(1)).id});
    return Of(nn::Add{.activation = activation}, {scaled.id, Row(Outlying(2)).id});
  }
  Graph Finish(std::initializer_list<Value> outputs) {
    int number = 0;
    for (const Value output : outputs) b.Output(output, "y" + std::to_string(number++));
    Result<Graph> graph = b.Finish();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return graph.ok() ? std::move(*graph) : Graph();
  }
};

struct Case {
  const char* name;
  std::function<Graph(Maker&)> make;
  size_t inputs;
  size_t changed;
};

std::vector<Case> Cases() {
  return {
      {"an affine layer", [](Maker& m) { return m.Finish({m.Dense(m.Affine(m.x), 6, 9)}); }, 1, 1},
      {"with RELU",
       [](Maker& m) { return m.Finish({m.Dense(m.Affine(m.x, Activation::kRelu), 6, 9)}); }, 1, 1},
      {"RELU6 does not commute with factors",
       [](Maker& m) { return m.Finish({m.Dense(m.Affine(m.x, Activation::kRelu6), 6, 9)}); }, 1, 0},
      {"several readers",
       [](Maker& m) {
         const Value a = m.Affine(m.x);
         return m.Finish({m.Dense(a, 6, 9), m.Dense(a, 4, 19)});
       },
       1, 1},
      {"a reader that is no product",
       [](Maker& m) {
         const Value a = m.Affine(m.x);
         return m.Finish({m.Dense(a, 6, 9), m.b.Logistic(a)});
       },
       1, 0},
      {"an output of the graph",
       [](Maker& m) {
         const Value a = m.Affine(m.x);
         return m.Finish({m.Dense(a, 6, 9), a});
       },
       1, 0},
      {"an input of the graph", [](Maker& m) { return m.Finish({m.Dense(m.x, 6, 9)}); }, 1, 0},
      {"a normalization",
       [](Maker& m) {
         const Value n =
             m.Of(LayerNormalization{}, {m.x.id, m.Row(Outlying(1)).id, m.Row(Outlying(2)).id});
         return m.Finish({m.Dense(n, 6, 9)});
       },
       1, 1},
      {"a normalization without a scale",
       [](Maker& m) { return m.Finish({m.Dense(m.Of(LayerNormalization{}, {m.x.id}), 6, 9)}); }, 1,
       0},
      {"products one behind the other",
       [](Maker& m) {
         const Value a = m.Dense(m.Affine(m.x), kChannels, 9, Activation::kRelu);
         return m.Finish({m.Dense(m.b.Reshape(a, {1, 5, kChannels}), 4, 19)});
       },
       2, 2},
      {"a residual goes on elsewhere",
       [](Maker& m) {
         const Value a = m.Affine(m.x);
         const Value sum = m.Of(nn::Add{}, {a.id, m.Dense(a, kChannels, 9).id});
         return m.Finish({m.Dense(sum, 4, 19)});
       },
       2, 0},
      {"normalization as .tflite files have it: x m + (b - mean m)",
       [](Maker& m) {
         const Value mean = m.b.Mean(m.x, {.axes = {1}, .keep_dims = true}, {});
         const Value square = m.Of(Mul{}, {mean.id, mean.id});
         const Value factor = m.Of(Mul{}, {square.id, m.Row(Outlying(1)).id});
         const Value first = m.Of(Mul{}, {m.x.id, factor.id});
         const Value offset = m.Of(Mul{}, {mean.id, factor.id});
         const Value second = m.Of(Sub{}, {m.Row(Outlying(2)).id, offset.id});
         return m.Finish({m.Dense(m.Of(nn::Add{}, {first.id, second.id}), 6, 9)});
       },
       1, 1},
      {"a square would be scaled twice",
       [](Maker& m) {
         const Value a = m.Affine(m.x);
         return m.Finish({m.Dense(m.Of(Mul{}, {a.id, a.id}), 6, 9)});
       },
       1, 0},
  };
}

double DifferenceOf(const Graph& a, const Graph& b, const std::vector<InputBytes>& samples) {
  double difference = 0;
  double greatest = 0;
  for (const InputBytes& sample : samples) {
    const std::vector<std::vector<double>> x = OutputsOf(a, sample);
    const std::vector<std::vector<double>> y = OutputsOf(b, sample);
    for (size_t o = 0; o < x.size(); ++o) {
      for (size_t i = 0; i < x[o].size(); ++i) {
        difference = std::max(difference, std::abs(x[o][i] - y[o][i]));
        greatest = std::max(greatest, std::abs(x[o][i]));
      }
    }
  }
  return difference / greatest;
}

TEST(SmoothChannels, KeepsWhatNetworksCompute) {
  const std::vector<InputBytes> samples = Samples(6, 5 * kChannels);
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.name);
    Maker maker;
    const Graph before = one.make(maker);
    Graph after = before;
    const Result<Smoothed> smoothed = SmoothChannels(after, From(samples));
    ASSERT_TRUE(smoothed.ok()) << smoothed.status().message();
    EXPECT_EQ(smoothed->inputs, one.inputs);
    EXPECT_EQ(smoothed->changed, one.changed);
    EXPECT_EQ(smoothed->samples, 6u);
    EXPECT_TRUE(Validate(after).ok());
    const double difference = DifferenceOf(before, after, samples);
    EXPECT_LT(difference, 1e-5);
    EXPECT_EQ(difference > 0, one.changed > 0);
  }
}

TEST(SmoothChannels, HelpsWhereAChannelIsLarge) {
  const std::vector<InputBytes> samples = Samples(30, 5 * kChannels);
  const OpenSamples open = [&]() -> Result<NextSample> { return From(samples); };
  const auto sqnr = [&](bool smooth) {
    Maker maker;
    Options options;
    options.smooth = smooth;
    const Result<Network> network =
        Quantize(maker.Finish({maker.Dense(maker.Affine(maker.x), 6, 9)}), open, options);
    EXPECT_TRUE(network.ok()) << network.status().message();
    EXPECT_EQ(network->smoothed.has_value(), smooth);
    return AgreementOf(*network, Graph(network->quantized.graph), open, options)
        ->outputs[0]
        .similarity.Sqnr();
  };
  EXPECT_GT(sqnr(true), sqnr(false) + 0.5);
}

TEST(SmoothChannels, TakesConvolutionsAndSharedConstants) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 5, 5, 3});
  const Constant w = b.Const<float>("w", Random(3 * 27, 1), {3, 3, 3, 3});
  const auto conv = [&](Value value) {
    return b.Conv2D(value, w, kNoBias,
                    {.padding = Padding::Same(), .activation = Activation::kRelu}, {});
  };
  const Value second = conv(conv(x));
  const Value third = b.DepthwiseConv2D(second, b.Const<float>("v", Random(9 * 6, 2), {1, 3, 3, 6}),
                                        kNoBias, {}, {});
  b.Output(third, "y");
  const Graph before = *b.Finish();
  Graph after = before;
  const std::vector<InputBytes> samples = Samples(4, 75);
  const Result<Smoothed> smoothed = SmoothChannels(after, From(samples));
  ASSERT_TRUE(smoothed.ok()) << smoothed.status().message();
  EXPECT_EQ(smoothed->inputs, 3u);
  EXPECT_EQ(smoothed->changed, 2u);
  EXPECT_LT(DifferenceOf(before, after, samples), 1e-5);
  const TensorId first = after.layers[0].inputs[1];
  EXPECT_NE(first, after.layers[1].inputs[1]);
}

// Dead channels: of weights 0, and of activations 0. A constant activation.
TEST(SmoothChannels, TakesDeadChannels) {
  Maker m;
  Reals weights = Random(4 * kChannels, 3);
  for (size_t o = 0; o < 4; ++o) weights[o * kChannels + 5] = 0;
  Reals scale = Outlying(1);
  scale[5] = 1000;
  scale[6] = 0;
  Reals offset(kChannels, 0);
  const Value scaled = m.Of(Mul{}, {m.x.id, m.Row(scale).id});
  const Value a = m.Of(nn::Add{}, {scaled.id, m.Row(offset).id});
  const Constant w = m.b.Const<float>("w", weights, {4, kChannels});
  const Graph before = m.Finish({m.b.FullyConnected(a, w, kNoBias, {}, {})});
  Graph after = before;
  const std::vector<InputBytes> samples = Samples(4, 5 * kChannels);
  ASSERT_EQ(SmoothChannels(after, From(samples))->changed, 1u);
  EXPECT_LT(DifferenceOf(before, after, samples), 1e-5);
  // The channel without weights does not make the range wide any more.
  const Reals after_scale = FromBytes<float>([&] {
    const Tensor& tensor = TensorAt(after, after.layers[0].inputs[1]);
    const auto* const data = static_cast<const std::byte*>(tensor.data);
    return std::vector<std::byte>(data, data + tensor.data_bytes);
  }());
  EXPECT_LT(after_scale[5], 1000.0f / 20);
  EXPECT_EQ(after_scale[6], 0);
  const std::vector<InputBytes> zeros = {{ToBytes(Reals(5 * kChannels))}};
  Graph still = before;
  EXPECT_EQ(SmoothChannels(still, From(zeros))->changed, 0u);
}

TEST(SmoothChannels, NamesWhatIsWrong) {
  Maker m;
  Graph graph = m.Finish({m.Dense(m.Affine(m.x), 6, 9)});
  const std::vector<InputBytes> none;
  EXPECT_EQ(SmoothChannels(graph, From(none)).status().message(),
            "there is no sample to smooth channels with");
  std::vector<InputBytes> ill = Samples(2, 5 * kChannels);
  ill[1] = {ToBytes(Reals(5 * kChannels, NAN))};
  const std::string message = SmoothChannels(graph, From(ill)).status().message();
  EXPECT_NE(message.find("sample 1: tensor '"), std::string::npos) << message;
  EXPECT_NE(message.find("is not finite in element 0"), std::string::npos) << message;
}

}  // namespace
}  // namespace intaglio::nn::quantize
