// Learned rounding: never a larger error than the nearest integers, and the same bits each time.
#include "intaglio/nn/quantize/learn_rounding.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/quantize/round_channel.h"
#include "intaglio/test/nn/quantize/network.h"

namespace intaglio::nn::quantize {
namespace {

Reals Random(size_t count, float least, float most, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> real(least, most);
  Reals values(count);
  for (float& value : values) value = real(engine);
  return values;
}

// Inputs far from 0, so that their errors add up.
std::vector<InputBytes> Samples(size_t count, size_t elements, float least = 0, float most = 2) {
  std::vector<InputBytes> samples;
  for (size_t i = 0; i < count; ++i) {
    samples.push_back({ToBytes(Random(elements, least, most, static_cast<unsigned>(i + 7)))});
  }
  return samples;
}

constexpr size_t kImage = 6 * 6 * 4;

// Each kind of product, in the ways that its rows lie in the input.
Graph OneLayer(int kind) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 6, 6, 4});
  const auto weights = [&](const Shape& shape) {
    const size_t count = static_cast<size_t>(*CountElements(shape));
    return b.Const<float>("w", Random(count, -1, 1, 3), shape);
  };
  Value y = x;
  switch (kind) {
    case 0:
      y = b.Conv2D(x, weights({5, 3, 3, 4}), kNoBias, {.padding = Padding::Same()}, {});
      break;
    case 1:
      y = b.Conv2D(x, weights({5, 2, 3, 4}), kNoBias,
                   {.stride = {2, 1}, .dilation = {1, 2}, .padding = Padding::Explicit(1, 0, 2, 1)},
                   {});
      break;
    case 2:  // two groups
      y = b.Conv2D(x, weights({6, 3, 3, 2}), kNoBias, {.padding = Padding::Same()}, {});
      break;
    case 3:
      y = b.DepthwiseConv2D(x, weights({1, 3, 3, 8}), kNoBias,
                            {.stride = {2, 2}, .padding = Padding::Same()}, {});
      break;
    default:
      y = b.FullyConnected(b.Reshape(x, {9, 16}), weights({7, 16}), kNoBias, {}, {});
  }
  b.Output(y, "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::move(*graph) : Graph();
}
constexpr int kKinds = 5;

Rules RulesFor(const Graph& graph, const LayerRule& rule, Form form = Form::kIntegers) {
  Rules rules = {.form = form};
  rules.layers.assign(graph.layers.size(), rule);
  return rules;
}

Quantized QuantizedOf(const Graph& graph, const Rules& rules,
                      const std::vector<InputBytes>& samples) {
  const Result<Calibration> c = Calibrate(graph, From(samples));
  EXPECT_TRUE(c.ok()) << c.status().message();
  Result<Quantized> q = QuantizeGraph(graph, c->ranges, rules);
  EXPECT_TRUE(q.ok()) << q.status().message();
  return q.ok() ? std::move(*q) : Quantized();
}

// The only tensor of integers with this name.
const Tensor& IntegersNamed(const Graph& graph, const std::string& name) {
  const auto found =
      std::find_if(graph.tensors.begin(), graph.tensors.end(), [&](const Tensor& tensor) {
        return tensor.name == name && tensor.constant && tensor.type != Type::kFloat32;
      });
  EXPECT_NE(found, graph.tensors.end());
  return *found;
}

Reals Dequantized(const Tensor& tensor) {
  const Quantization& q = tensor.quantization;
  Reals reals;
  const auto* const data = static_cast<const std::byte*>(tensor.data);
  const size_t last = static_cast<size_t>(tensor.shape.back());
  const size_t inner = q.axis == 0 ? tensor.data_bytes / static_cast<size_t>(tensor.shape[0]) : 1;
  for (size_t i = 0; i < tensor.data_bytes; ++i) {
    const auto byte = static_cast<uint8_t>(data[i]);
    const int integer = tensor.type == Type::kUInt8 ? byte : static_cast<int8_t>(byte);
    const size_t k = q.per_axis() ? (q.axis == 0 ? i / inner : i % last) : 0;
    reals.push_back(q.scales[k] * static_cast<float>(integer - q.zero_points[k]));
  }
  return reals;
}

// The mean squared error of the layer's results with the weights of integers, computed by running
// the layer of float32; around the mean of each channel if that is asked for.
double ErrorByRunning(const Graph& graph, const Graph& integers,
                      const std::vector<InputBytes>& samples, bool around_mean = false) {
  Graph other = graph;
  const Reals reals = Dequantized(IntegersNamed(integers, "w"));
  for (Tensor& tensor : other.tensors) {
    if (tensor.name == "w") tensor.data = reals.data();
  }
  const auto channels = static_cast<size_t>(TensorAt(graph, graph.outputs[0]).shape.back());
  std::vector<double> sums(channels);
  std::vector<double> squares(channels);
  double count = 0;
  for (const InputBytes& sample : samples) {
    const std::vector<double> x = OutputsOf(graph, sample)[0];
    const std::vector<double> y = OutputsOf(other, sample)[0];
    for (size_t i = 0; i < x.size(); ++i) {
      sums[i % channels] += x[i] - y[i];
      squares[i % channels] += (x[i] - y[i]) * (x[i] - y[i]);
    }
    count += static_cast<double>(x.size() / channels);
  }
  double error = 0;
  for (size_t c = 0; c < channels; ++c) {
    error += squares[c] / count;
    if (around_mean) error -= sums[c] / count * (sums[c] / count);
  }
  return error / static_cast<double>(channels);
}

void ExpectLearns(const Graph& graph, const Rules& rules, bool biases_follow = false) {
  const std::vector<InputBytes> samples = Samples(12, kImage);
  Quantized q = QuantizedOf(graph, rules, samples);
  const double nearest = ErrorByRunning(graph, q.graph, samples, biases_follow);
  const Result<Rounded> rounded =
      LearnRounding(graph, q, rules, Open(samples), {.biases_follow = biases_follow});
  ASSERT_TRUE(rounded.ok()) << rounded.status().message();
  ASSERT_TRUE(Validate(q.graph).ok());
  ASSERT_EQ(rounded->layers.size(), 1u);
  EXPECT_EQ(rounded->samples, 12u);
  EXPECT_EQ(rounded->passes, 1u);
  const double error = ErrorByRunning(graph, q.graph, samples, biases_follow);
  EXPECT_LE(error, nearest);
  // Around means, errors of independent inputs hardly add up: little is gained.
  if (!biases_follow) {
    EXPECT_LT(error, 0.8 * nearest);
  }
  EXPECT_NEAR(rounded->layers[0].nearest_error, nearest, 1e-3 * nearest);
  EXPECT_NEAR(rounded->layers[0].error, error, 1e-3 * error);
  EXPECT_GT(rounded->layers[0].moved, 0u);
}

TEST(LearnRounding, NeverLosesToTheNearestIntegers) {
  for (int kind = 0; kind < kKinds; ++kind) {
    for (const int bits : {2, 4, 6, 8}) {
      SCOPED_TRACE("kind " + std::to_string(kind) + ", bits " + std::to_string(bits));
      const Graph graph = OneLayer(kind);
      ExpectLearns(graph, RulesFor(graph, {.weight_bits = bits}));
      ExpectLearns(graph, RulesFor(graph, {.weight_bits = bits, .per_channel = false}), true);
    }
  }
}

TEST(LearnRounding, KnowsEveryForm) {
  for (const Type type : {Type::kUInt8, Type::kInt16}) {
    SCOPED_TRACE(NameOf(type));
    const Graph graph = OneLayer(0);
    ExpectLearns(graph, RulesFor(graph, {.weight_bits = 4, .activations = type}));
  }
  const Graph graph = OneLayer(3);
  ExpectLearns(graph, RulesFor(graph, {.weight_bits = 4}, Form::kPairs));
}

// Where all inputs are the same number, only the sum of the weights counts: its error is at most
// half a step.
TEST(LearnRounding, KeepsSumsOfWeights) {
  const Graph graph = OneLayer(4);
  std::vector<InputBytes> samples;
  for (const float x : {0.5f, 1.0f, 3.0f}) samples.push_back({ToBytes(Reals(kImage, x))});
  const Rules rules = RulesFor(graph, {.weight_bits = 3});
  Quantized q = QuantizedOf(graph, rules, samples);
  ASSERT_TRUE(LearnRounding(graph, q, rules, Open(samples)).ok());
  const Tensor& integers = IntegersNamed(q.graph, "w");
  const Reals rounded = Dequantized(integers);
  const Reals exact = Random(7 * 16, -1, 1, 3);
  for (size_t o = 0; o < 7; ++o) {
    double error = 0;
    for (size_t k = 0; k < 16; ++k) {
      const double scale = double{integers.quantization.scales[o]};
      const double one = double{rounded[o * 16 + k]} - double{exact[o * 16 + k]};
      EXPECT_LT(std::abs(one), scale * 1.0001);  // the integer below or above
      error += one / scale;
    }
    EXPECT_LE(std::abs(error), 0.5001) << o;
  }
}

// All roundings of ten weights, tried one by one.
TEST(LearnRounding, ComesNearTheBestRounding) {
  constexpr size_t kTaps = 10;
  double found = 0;
  double best = 0;
  double nearest = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Reals rows = Random(20 * kTaps, -0.5f, 1, seed);
    std::vector<double> matrix(kTaps * kTaps);
    for (size_t i = 0; i < matrix.size(); ++i) {
      for (size_t r = 0; r < 20; ++r) {
        matrix[i] += double{rows[r * kTaps + i / kTaps]} * double{rows[r * kTaps + i % kTaps]};
      }
    }
    const Reals reals = Random(kTaps, -7, 7, seed + 100);
    const std::vector<double> weights(reals.begin(), reals.end());
    const ChannelRounder rounder(matrix, kTaps);
    found += rounder.ErrorOf(weights, rounder.Round(weights, 7));
    nearest += rounder.ErrorOf(weights, NearestOf(weights, 7));
    double least = HUGE_VAL;
    for (unsigned up = 0; up < 1u << kTaps; ++up) {
      std::vector<double> rounded = weights;
      for (size_t i = 0; i < kTaps; ++i) {
        rounded[i] = ((up >> i) & 1) != 0 ? std::ceil(rounded[i]) : std::floor(rounded[i]);
      }
      least = std::min(least, rounder.ErrorOf(weights, rounded));
    }
    best += least;
  }
  EXPECT_LT(found, 1.25 * best);
  EXPECT_GT(nearest, 1.5 * best);
}

// A channel of weights that are all 0, an input channel that is always 0, and one that is constant.
TEST(LearnRounding, TakesDeadChannelsAndConstants) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {4, 3});
  const Constant w = b.Const<float>("w", {0, 0, 0, 0.3f, 1, 0.45f, -0.7f, 0.2f, 0.9f}, {3, 3});
  b.Output(b.FullyConnected(x, w, kNoBias, {}, {}), "y");
  const Graph graph = *b.Finish();
  const Rules rules = RulesFor(graph, {.weight_bits = 3});
  const std::vector<InputBytes> constant = {{ToBytes(Reals{0, 2, 1, 0, 2, 5, 0, 2, 3, 0, 2, 4})},
                                            {ToBytes(Reals{0, 2, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1})}};
  for (const bool biases_follow : {false, true}) {
    Quantized q = QuantizedOf(graph, rules, constant);
    const double nearest = ErrorByRunning(graph, q.graph, constant);
    const Result<Rounded> rounded =
        LearnRounding(graph, q, rules, Open(constant), {.biases_follow = biases_follow});
    ASSERT_TRUE(rounded.ok()) << rounded.status().message();
    const Reals integers = Dequantized(IntegersNamed(q.graph, "w"));
    EXPECT_EQ((Reals{integers[0], integers[1], integers[2]}), (Reals{0, 0, 0}));
    if (!biases_follow) {
      EXPECT_LE(ErrorByRunning(graph, q.graph, constant), nearest);
    }
  }
  // Nothing is known where all inputs are 0: the nearest integers stay.
  const std::vector<InputBytes> zeros = {{ToBytes(Reals(12))}};
  Quantized q = QuantizedOf(graph, rules, zeros);
  const Result<Rounded> rounded = LearnRounding(graph, q, rules, Open(zeros));
  ASSERT_TRUE(rounded.ok()) << rounded.status().message();
  EXPECT_EQ(rounded->layers[0].moved, 0u);
  EXPECT_EQ(rounded->layers[0].error, 0);
}

// Two convolutions, and a layer that reads the weights of the first.
Graph Network() {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 6, 6, 4});
  const Constant w0 = b.Const<float>("w0", Random(8 * 36, -1, 1, 1), {8, 3, 3, 4});
  const Constant w1 = b.Const<float>("w1", Random(4 * 72, -1, 1, 2), {4, 3, 3, 8});
  const Value first = b.Conv2D(x, w0, kNoBias, {.activation = Activation::kRelu}, {});
  b.Output(b.Conv2D(first, w1, kNoBias, {}, {}), "y");
  return *b.Finish();
}

std::vector<std::byte> BytesOf(const Tensor& tensor) {
  const auto* const data = static_cast<const std::byte*>(tensor.data);
  return {data, data + tensor.data_bytes};
}

struct Learned {
  Rounded rounded;
  std::vector<std::byte> first;
  std::vector<std::byte> second;
};

Learned Learn(const std::vector<InputBytes>& samples, const RoundingOptions& options) {
  const Graph graph = Network();
  const Rules rules = RulesFor(graph, {.weight_bits = 4});
  Quantized q = QuantizedOf(graph, rules, samples);
  const Result<Rounded> rounded = LearnRounding(graph, q, rules, Open(samples), options);
  EXPECT_TRUE(rounded.ok()) << rounded.status().message();
  return {*rounded, BytesOf(IntegersNamed(q.graph, "w0")), BytesOf(IntegersNamed(q.graph, "w1"))};
}

TEST(LearnRounding, RepeatsItself) {
  const std::vector<InputBytes> samples = Samples(6, kImage);
  const Learned a = Learn(samples, {});
  // A pass for each layer.
  const Learned b = Learn(samples, {.threads = 3, .most_bytes = 72 * 73 * sizeof(double)});
  EXPECT_EQ(a.rounded.passes, 1u);
  EXPECT_EQ(b.rounded.passes, 2u);
  EXPECT_EQ(a.first, b.first);
  EXPECT_EQ(a.second, b.second);
  // The seed says which places are looked at, where not all are.
  const auto drawn = [&](uint64_t seed) {
    return Learn(samples, {.most_places = 3, .seed = seed}).first;
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(100));
  EXPECT_NE(drawn(1), a.first);
}

TEST(LearnRounding, SaysWhatItLeavesOut) {
  const std::vector<InputBytes> samples = Samples(2, kImage);
  const Graph graph = Network();
  const Rules rules = RulesFor(graph, {.weight_bits = 4});
  Quantized q = QuantizedOf(graph, rules, samples);
  const Result<Rounded> rounded =
      LearnRounding(graph, q, rules, Open(samples), {.most_bytes = 36 * 37 * sizeof(double)});
  ASSERT_TRUE(rounded.ok()) << rounded.status().message();
  EXPECT_EQ(rounded->layers.size(), 1u);
  EXPECT_EQ(q.layers[0].note, "");
  EXPECT_EQ(
      q.layers[1].note,
      "its weights are the nearest integers, because the matrix of its 72 inputs is too large");
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 6, 6, 4});
  const Constant w = b.Const<float>("w", Random(4 * 36, -1, 1, 1), {4, 3, 3, 4});
  const Value first = b.Conv2D(x, w, kNoBias, {.padding = Padding::Same()}, {});
  const Value second = b.Conv2D(first, w, kNoBias, {.padding = Padding::Same()}, {});
  b.Output(second, "y");
  Graph shared = *b.Finish();
  Tensor z = TensorAt(shared, shared.outputs[0]);
  z.name = "z";
  z.shape = {1, 8, 8, 4};
  shared.tensors.push_back(z);
  const auto last = static_cast<TensorId>(shared.tensors.size()) - 1;
  shared.layers.push_back({TransposeConv{.shape = z.shape},
                           {shared.outputs[0], shared.layers[0].inputs[1]},
                           {last},
                           ""});
  shared.outputs = {last};
  ASSERT_TRUE(Validate(shared).ok());
  q = QuantizedOf(shared, RulesFor(shared, {}), samples);
  const Result<Rounded> none = LearnRounding(shared, q, RulesFor(shared, {}), Open(samples));
  ASSERT_TRUE(none.ok()) << none.status().message();
  EXPECT_TRUE(none->layers.empty());
  EXPECT_NE(q.layers[0].note.find("other layers have the same"), std::string::npos);
  EXPECT_NE(q.layers[2].note.find("different weights at different places"), std::string::npos);
}

TEST(LearnRounding, NamesWhatIsWrong) {
  const Graph graph = OneLayer(0);
  const std::vector<InputBytes> samples = Samples(2, kImage);
  const Rules rules = RulesFor(graph, {});
  Quantized q = QuantizedOf(graph, rules, samples);
  const std::vector<InputBytes> none;
  EXPECT_EQ(LearnRounding(graph, q, rules, Open(none)).status().message(),
            "there is no sample to learn rounding from");
  const std::vector<InputBytes> ill = {{ToBytes(Reals(kImage, NAN))}};
  const std::string message = LearnRounding(graph, q, rules, Open(ill)).status().message();
  EXPECT_NE(message.find("the squares of its inputs are not finite"), std::string::npos) << message;
  EXPECT_EQ(LearnRounding(graph, q, rules, Open(samples), {.most_places = 0}).status().message(),
            "most_places is 0");
  Quantized other;
  EXPECT_EQ(LearnRounding(graph, other, rules, Open(samples)).status().message(),
            "the network of integers was made of another one");
}

}  // namespace
}  // namespace intaglio::nn::quantize
