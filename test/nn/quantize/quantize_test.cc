// The quantizer from its entry: quantize.h.
#include "intaglio/nn/quantize/quantize.h"

#include <gtest/gtest.h>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/test/nn/quantize/network.h"

namespace intaglio::nn::quantize {
namespace {

constexpr int kInputs = 16;

// Two dense layers and a SOFTMAX. One channel between them is 64 times larger in the first, and
// smaller in the second.
Graph MakeGraph() {
  std::mt19937 engine(5);
  std::uniform_real_distribution<float> real(-1, 1);
  Reals first(12 * kInputs), second(5 * 12), bias(12);
  for (size_t i = 0; i < first.size(); ++i) first[i] = real(engine) * (i < kInputs ? 64.0f : 1.0f);
  for (size_t i = 0; i < second.size(); ++i) second[i] = real(engine) * (i % 12 ? 1 : 0x1p-6f);
  for (float& c : bias) c = real(engine);
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, kInputs});
  const Value y =
      b.FullyConnected(x, b.Const<float>("first", first, {12, kInputs}),
                       b.Const<float>("bias", bias, {12}), {.activation = Activation::kRelu}, {});
  const Value z = b.FullyConnected(y, b.Const<float>("second", second, {5, 12}), kNoBias, {}, {});
  b.Output(b.Softmax(z), "y");
  Graph graph = *b.Finish();
  graph.layers[0].label = "first";
  graph.layers[1].label = "second";
  return graph;
}

// How often they were opened, and the samples themselves.
struct Data {
  explicit Data(size_t count) {
    std::mt19937 engine(6);
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < count; ++i) {
      Reals x(kInputs);
      for (float& value : x) value = normal(engine);
      samples.push_back({ToBytes(x)});
    }
  }
  OpenSamples Open() {
    return [this]() -> Result<NextSample> {
      ++opened;
      return From(samples);
    };
  }

  std::vector<InputBytes> samples;
  int opened = 0;
};

TEST(Bits, SayTheFormAndTheLayers) {
  Options options;
  ASSERT_TRUE(SetBits("w4a16", options).ok());
  EXPECT_EQ(options.layer, (LayerRule{.weight_bits = 4, .activations = Type::kInt16}));
  ASSERT_TRUE(SetBits("w8a8", options).ok());
  EXPECT_EQ(options.layer, LayerRule());
  EXPECT_EQ(options.form, Form::kIntegers);
  ASSERT_TRUE(SetBits("w6", options).ok());
  EXPECT_EQ(options.layer.weight_bits, 6);
  EXPECT_EQ(options.form, Form::kDynamic);
  options.form = Form::kPairs;
  ASSERT_TRUE(SetBits("w8a8", options).ok());
  EXPECT_EQ(options.layer.activations, Type::kUInt8);
  EXPECT_EQ(SetBits("w8", options).code(), StatusCode::kUnsupported);
  for (const char* const bad : {"", "w", "w8a", "w1a8", "w9a8", "a8", "w8a8 ", "w8a9", "W8A8"}) {
    EXPECT_NE(SetBits(bad, options).message().find(std::string("bits '") + bad), std::string::npos)
        << bad;
  }
}

TEST(Quantize, IsTheSumOfItsSteps) {
  Data data(20);
  Options options;
  options.layer.weight_bits = 5;
  size_t observed = 0;
  options.progress = [&](const char* done, size_t samples) {
    EXPECT_EQ(done, std::string("observed"));
    observed = samples;
  };
  const Result<Network> network = Quantize(MakeGraph(), data.Open(), options);
  ASSERT_TRUE(network.ok()) << network.status().message();
  EXPECT_EQ(data.opened, 1);
  EXPECT_EQ(network->samples, 20u);
  EXPECT_EQ(observed, 20u);
  Graph graph = MakeGraph();
  Simplify(graph);
  const Result<Calibration> c = Calibrate(graph, From(data.samples));
  ASSERT_TRUE(c.ok());
  Rules rules;
  rules.layers.assign(graph.layers.size(), options.layer);
  const Result<Quantized> q = QuantizeGraph(graph, c->ranges, rules);
  ASSERT_TRUE(q.ok());
  EXPECT_EQ(OutputsOf(network->quantized.graph, data.samples[3]),
            OutputsOf(q->graph, data.samples[3]));
  EXPECT_FALSE(network->equalized.has_value());
  EXPECT_FALSE(network->corrected.has_value());
}

TEST(Quantize, EqualizesAndCorrects) {
  Data data(20);
  Options options;
  options.layer = {.weight_bits = 4, .per_channel = false};
  const Result<Network> plain = Quantize(MakeGraph(), data.Open(), options);
  ASSERT_TRUE(plain.ok());
  options.equalize = options.correct_bias = true;
  data.opened = 0;
  const Result<Network> network = Quantize(MakeGraph(), data.Open(), options);
  ASSERT_TRUE(network.ok()) << network.status().message();
  EXPECT_EQ(data.opened, 2);
  EXPECT_EQ(network->equalized->changed, 1u);
  EXPECT_EQ(network->corrected->layers, 2u);  // the second layer got a bias
  const auto sqnr = [&](const Network& n) {
    const Result<Agreement> agreement =
        AgreementOf(n, Graph(n.quantized.graph), data.Open(), options);
    EXPECT_TRUE(agreement.ok()) << agreement.status().message();
    EXPECT_EQ(agreement->samples, 20u);
    return agreement->outputs[0].similarity.Sqnr();
  };
  EXPECT_GT(sqnr(*network), sqnr(*plain) + 3);
}

TEST(Quantize, ReportsOnEveryFormOfIntegers) {
  Data data(10);
  Options options;
  for (const Form form : {Form::kIntegers, Form::kPairs}) {
    options.form = form;
    ASSERT_TRUE(SetBits("w8a8", options).ok());
    const Result<Network> network = Quantize(MakeGraph(), data.Open(), options);
    ASSERT_TRUE(network.ok()) << network.status().message();
    const Result<Report> report = ReportOn(*network, data.Open(), options, 4);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->samples, 4u);
    EXPECT_EQ(report->layers.size(), 3u);
    const std::string json = ToJson(*report, "net");
    EXPECT_NE(json.find("\"label\": \"first\""), std::string::npos) << json;
  }
}

TEST(Quantize, HybridsNeedNoSamples) {
  Options options;
  ASSERT_TRUE(SetBits("w8", options).ok());
  const Result<Network> network = Quantize(MakeGraph(), nullptr, options);
  ASSERT_TRUE(network.ok()) << network.status().message();
  EXPECT_EQ(network->samples, 0u);
  EXPECT_FALSE(ReportOn(*network, nullptr, options).ok());
  options.correct_bias = true;
  EXPECT_EQ(Quantize(MakeGraph(), nullptr, options).status().code(), StatusCode::kUnsupported);
}

TEST(Quantize, NamesWhatIsWrong) {
  const auto error = [](const std::vector<InputBytes>& samples, const Options& options) {
    const OpenSamples open = [&]() -> Result<NextSample> { return From(samples); };
    const Result<Network> network = Quantize(MakeGraph(), open, options);
    EXPECT_FALSE(network.ok());
    return network.status().message();
  };
  Data data(2);
  EXPECT_EQ(error({}, {}), "there is no sample to calibrate with");
  EXPECT_EQ(Quantize(MakeGraph(), nullptr, {}).status().message(), "there are no samples");
  Options options;
  options.layer.keep_float = true;
  EXPECT_EQ(error(data.samples, options),
            "no layer can be quantized; the first, first, stays float32: a rule keeps it");
  options.layer = {.weight_bits = 1};
  EXPECT_NE(error(data.samples, options).find("weights of 1 bits"), std::string::npos);
  options.layer = {};
  options.recipe.rules.push_back({.layers = "third"});
  EXPECT_NE(error(data.samples, options).find("'third' matches no layer"), std::string::npos);
  std::vector<InputBytes> ill = data.samples;
  const float infinity = HUGE_VALF;
  std::memcpy(ill[1][0].data() + 8, &infinity, sizeof(infinity));
  EXPECT_EQ(error(ill, {}),
            "sample 1: tensor 'x' has an infinity in element 2, which no range can hold");
}

}  // namespace
}  // namespace intaglio::nn::quantize
