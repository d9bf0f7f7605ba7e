// Equalized networks compute what they did, and their weights are alike in size.
#include "intaglio/nn/quantize/equalize.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/quantize/agreement.h"
#include "intaglio/nn/quantize/constants.h"
#include "intaglio/test/nn/quantize/network.h"

namespace intaglio::nn::quantize {
namespace {

Reals Random(std::mt19937& engine, size_t count) {
  std::uniform_real_distribution<float> real(-1, 1);
  Reals values(count);
  for (float& x : values) x = real(engine);
  return values;
}

// Channels of `inner` elements, or of every `channels`-th one, whose sizes differ up to 9 times.
Reals Uneven(std::mt19937& engine, size_t count, size_t inner, size_t channels) {
  Reals values = Random(engine, count);
  const Reals exponents = Random(engine, channels);
  for (size_t i = 0; i < count; ++i) values[i] *= std::pow(3.0f, exponents[i / inner % channels]);
  return values;
}

struct Form {
  int size;
  int in;
  int middle;
  int multiplier = 1;  // of the depthwise layer
  Activation activation = Activation::kRelu;
};

// CONV_2D, DEPTHWISE_CONV_2D, CONV_2D over the whole image, FULLY_CONNECTED.
Graph Network(const Form& form, unsigned seed = 1) {
  std::mt19937 engine(seed);
  const auto size = [](int n) { return static_cast<size_t>(n); };
  const int wide = form.middle * form.multiplier;
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, form.size, form.size, form.in});
  const auto filter = [&](const char* name, const Shape& shape, bool depthwise) {
    const size_t count = size(shape[0] * shape[1] * shape[2] * shape[3]);
    const size_t inner = depthwise ? 1 : count / size(shape[0]);
    return b.Const<float>(name, Uneven(engine, count, inner, size(shape[depthwise ? 3 : 0])),
                          shape);
  };
  const auto bias = [&](const char* name, int count) {
    return b.Const<float>(name, Random(engine, size(count)), {count});
  };
  const Value first =
      b.Conv2D(x, filter("w0", {form.middle, 3, 3, form.in}, false), bias("b0", form.middle),
               {.padding = Padding::Same(), .activation = form.activation}, {});
  const Value second =
      b.DepthwiseConv2D(first, filter("w1", {1, 3, 3, wide}, true), bias("b1", wide),
                        {.padding = Padding::Same(), .activation = form.activation}, {});
  const Value third = b.Conv2D(second, filter("w2", {5, form.size, form.size, wide}, false),
                               kNoBias, {.activation = Activation::kNone}, {});
  const Constant w3 = b.Const<float>("w3", Random(engine, 15), {3, 5});
  b.Output(b.FullyConnected(third, w3, bias("b3", 3), {}, {}), "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::move(*graph) : Graph();
}

std::vector<InputBytes> Samples(const Graph& graph, size_t count) {
  std::mt19937 engine(9);
  std::vector<InputBytes> samples;
  const Result<int64_t> elements = CountElements(TensorAt(graph, graph.inputs[0]).shape);
  for (size_t i = 0; i < count; ++i) {
    samples.push_back({ToBytes(Random(engine, static_cast<size_t>(*elements)))});
  }
  return samples;
}

// The greatest difference over the greatest number.
double DifferenceOf(const Graph& a, const Graph& b) {
  double difference = 0;
  double greatest = 0;
  for (const InputBytes& sample : Samples(a, 4)) {
    const std::vector<double> x = OutputsOf(a, sample).at(0);
    const std::vector<double> y = OutputsOf(b, sample).at(0);
    for (size_t i = 0; i < x.size(); ++i) {
      difference = std::max(difference, std::abs(x[i] - y[i]));
      greatest = std::max(greatest, std::abs(x[i]));
    }
  }
  return difference / greatest;
}

std::vector<float> WeightsOf(const Graph& graph, size_t layer, size_t input = 1) {
  return RealsOf(TensorAt(graph, graph.layers[layer].inputs[input]));
}

// The greatest magnitude of each channel.
Reals MagnitudesOf(const Reals& values, size_t inner, size_t channels) {
  Reals magnitudes(channels);
  for (size_t i = 0; i < values.size(); ++i) {
    float& most = magnitudes[i / inner % channels];
    most = std::max(most, std::abs(values[i]));
  }
  return magnitudes;
}

TEST(Equalize, KeepsWhatNetworksCompute) {
  for (const Form& form : {Form{4, 3, 8}, Form{1, 1, 1}, Form{5, 2, 7, 2}, Form{3, 16, 33},
                           Form{6, 4, 12, 3, Activation::kNone}}) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(std::to_string(form.size) + " " + std::to_string(form.middle));
      const Graph before = Network(form, seed);
      Graph after = before;
      const Equalized result = EqualizeChannels(after);
      EXPECT_EQ(result.pairs, 3u);
      EXPECT_EQ(result.changed, 3u);
      EXPECT_LT(result.sweeps, kMostSweeps);
      EXPECT_TRUE(Validate(after).ok());
      EXPECT_NE(WeightsOf(before, 0), WeightsOf(after, 0));
      EXPECT_LT(DifferenceOf(before, after), 4e-6);
    }
  }
}

TEST(Equalize, MakesBothSidesOfEachChannelAlike) {
  const Form form = {4, 3, 8};
  Graph graph = Network(form);
  EqualizeChannels(graph);
  const Reals w0 = WeightsOf(graph, 0), w1 = WeightsOf(graph, 1), w2 = WeightsOf(graph, 2);
  const Reals first = MagnitudesOf(w0, w0.size() / 8, 8);
  const Reals middle = MagnitudesOf(w1, 1, 8);
  const Reals last = MagnitudesOf(w2, 1, 8);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(first[i], middle[i], 1e-3 * middle[i]) << i;
    EXPECT_NEAR(last[i], middle[i], 1e-3 * middle[i]) << i;
  }
  EXPECT_EQ(EqualizeChannels(graph).changed, 0u);
}

// s = sqrt(8 * 2) / 2 = 2 and sqrt(1 * 4) / 4 = 1/2.
TEST(Equalize, ComputesFactorsByHand) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 1});
  const Constant w = b.Const<float>("w", {8, -1, 0, 3}, {4, 1});
  const Constant c = b.Const<float>("c", {6, 5, 2, 1}, {4});
  const Constant v = b.Const<float>("v", {2, 1, 1, 0, -1, -4, 2, 0}, {2, 4});
  const Value y = b.FullyConnected(x, w, c, {.activation = Activation::kRelu}, {});
  b.Output(b.FullyConnected(y, v, kNoBias, {}, {}), "y");
  Graph graph = *b.Finish();
  EXPECT_EQ(EqualizeChannels(graph).changed, 1u);
  // Where either side is 0, nothing changes.
  EXPECT_EQ(WeightsOf(graph, 0), (Reals{4, -2, 0, 3}));
  EXPECT_EQ(WeightsOf(graph, 0, 2), (Reals{3, 10, 2, 1}));
  EXPECT_EQ(WeightsOf(graph, 1), (Reals{4, 0.5f, 1, 0, -2, -2, 2, 0}));
}

TEST(Equalize, BoundsFactors) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 1});
  const Constant w = b.Const<float>("w", {0x1p-40f, 1}, {2, 1});
  const Constant v = b.Const<float>("v", {1, 1}, {1, 2});
  b.Output(b.FullyConnected(b.FullyConnected(x, w, kNoBias, {}, {}), v, kNoBias, {}, {}), "y");
  Graph graph = *b.Finish();
  EqualizeChannels(graph);
  EXPECT_EQ(WeightsOf(graph, 0), (Reals{0x1p-37f, 1}));
  EXPECT_EQ(WeightsOf(graph, 1), (Reals{0x1p-3f, 1}));
}

// Two products of [1, 2, 2, 4] with `between` them.
template <class Between>
Equalized PairWith(const Between& between, Activation activation = Activation::kNone,
                   int groups = 1, float weight = 0.5f) {
  std::mt19937 engine(5);
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 2, 2, 4});
  Reals values = Uneven(engine, 16, 4, 4);
  values[3] = weight;
  const Value y = b.Conv2D(x, b.Const<float>("w", values, {4, 1, 1, 4}), kNoBias,
                           {.activation = activation}, {});
  const Constant v =
      b.Const<float>("v", Random(engine, static_cast<size_t>(16 / groups)), {4, 1, 1, 4 / groups});
  b.Output(b.Conv2D(between(b, y), v, kNoBias, {}, {}), "z");
  Graph graph = *b.Finish();
  const Graph before = graph;
  const Equalized result = EqualizeChannels(graph);
  EXPECT_EQ(ToBytes(WeightsOf(before, 0)) == ToBytes(WeightsOf(graph, 0)), result.changed == 0);
  return result;
}

TEST(Equalize, LeavesWhatFactorsWouldChange) {
  const auto nothing = [](Builder&, Value y) { return y; };
  EXPECT_EQ(PairWith(nothing).changed, 1u);
  EXPECT_EQ(PairWith(nothing, Activation::kRelu).changed, 1u);
  EXPECT_EQ(PairWith(nothing, Activation::kRelu6).pairs, 0u);
  EXPECT_EQ(PairWith(nothing, Activation::kReluN1To1).pairs, 0u);
  EXPECT_EQ(PairWith(nothing, Activation::kNone, 2).pairs, 0u);
  EXPECT_EQ(PairWith(nothing, Activation::kNone, 1, NAN).pairs, 0u);
  EXPECT_EQ(PairWith(nothing, Activation::kNone, 1, INFINITY).pairs, 0u);
  const auto read_twice = [](Builder& b, Value y) {
    b.Output(b.Softmax(y), "other");
    return y;
  };
  EXPECT_EQ(PairWith(read_twice).pairs, 0u);
  const auto an_output = [](Builder& b, Value y) {
    b.Output(y, "other");
    return y;
  };
  EXPECT_EQ(PairWith(an_output).pairs, 0u);
  EXPECT_EQ(PairWith([](Builder& b, Value y) { return b.Softmax(y); }).pairs, 0u);
}

TEST(Equalize, CopiesConstantsThatOthersRead) {
  std::mt19937 engine(5);
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4});
  const Constant w = b.Const<float>("w", Uneven(engine, 16, 4, 4), {4, 4});
  const Value y = b.FullyConnected(x, w, kNoBias, {}, {});
  b.Output(b.FullyConnected(y, w, kNoBias, {}, {}), "z");
  const Graph before = *b.Finish();
  Graph after = before;
  EXPECT_EQ(EqualizeChannels(after).changed, 1u);
  EXPECT_NE(after.layers[0].inputs[1], after.layers[1].inputs[1]);
  EXPECT_LT(DifferenceOf(before, after), 1e-6);
}

TEST(Equalize, OwnsItsConstants) {
  Graph graph = Network({4, 3, 8});
  const std::weak_ptr<const void> old = TensorAt(graph, graph.layers[1].inputs[1]).owner;
  EqualizeChannels(graph);
  EXPECT_NE(TensorAt(graph, graph.layers[1].inputs[1]).owner, nullptr);
  EXPECT_TRUE(old.expired());  // nothing else reads it
}

double SqnrOf(const Graph& graph) {
  const std::vector<InputBytes> samples = Samples(graph, 32);
  const Rules rules = {
      .layers = std::vector<LayerRule>(graph.layers.size(), LayerRule{.per_channel = false})};
  const Result<Calibration> c = Calibrate(graph, From(samples));
  const Result<Quantized> q = QuantizeGraph(graph, c->ranges, rules);
  EXPECT_TRUE(q.ok()) << q.status().message();
  Result<Model> exact = Model::Prepare(graph);
  Result<Model> actual = Model::Prepare(q->graph);
  return Compare(*exact, *actual, From(samples), 32)->outputs.at(0).similarity.Sqnr();
}

TEST(Equalize, HelpsWeightsWithOneScale) {
  Graph graph = Network({6, 3, 24}, 3);
  const double before = SqnrOf(graph);
  EqualizeChannels(graph);
  EXPECT_GT(SqnrOf(graph), before + 3);
}

}  // namespace
}  // namespace intaglio::nn::quantize
