// The quantizer from its entry: quantize.h.
#include "intaglio/nn/quantize/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "intaglio/nn/formats/save.h"
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
  ASSERT_TRUE(SetBits("w4a5", options).ok());
  EXPECT_EQ(options.layer, (LayerRule{.weight_bits = 4, .activation_bits = 5}));
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
  for (const char* const bad :
       {"", "w", "w8a", "w1a8", "w9a8", "a8", "w8a8 ", "w8a9", "w8a1", "W8A8"}) {
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
  EXPECT_EQ(data.opened, 4);  // to observe, and to correct: once, and for each of two layers
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

// As in networks from .onnx files. The .tflite writer refuses layers that keep infinities.
TEST(Quantize, IntegersKeepNoInfinities) {
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 4});
  const auto of = [&](Operator op, const std::vector<TensorId>& inputs) {
    return b.Layer(std::move(op), inputs, Type::kFloat32, {});
  };
  const Value sum = of(Add{.keeps_infinities = true}, {x.id, x.id});
  const Value difference = of(Sub{.keeps_infinities = true}, {sum.id, x.id});
  const Value product = of(Mul{.keeps_infinities = true}, {difference.id, x.id});
  b.Output(of(ReduceMax{.axes = {1}, .keeps_infinities = true}, {product.id}), "y");
  const std::vector<InputBytes> samples = {{ToBytes(Reals{1, -2, 3, 0.5f})}};
  for (const Type type : {Type::kInt8, Type::kInt16}) {
    Options options;
    options.layer.activations = type;
    const Result<Network> network = Quantize(
        *Builder(b).Finish(), [&]() -> Result<NextSample> { return From(samples); }, options);
    ASSERT_TRUE(network.ok()) << network.status().message();
    EXPECT_TRUE(ExportGraph(network->quantized.graph, Format::kTflite).ok());
  }
}

TEST(Quantize, LearnsRounding) {
  Data data(20);
  Options options;
  options.layer.weight_bits = 4;
  const auto sqnr = [&](const Network& n) {
    return AgreementOf(n, Graph(n.quantized.graph), data.Open(), options)
        ->outputs[0]
        .similarity.Sqnr();
  };
  const Result<Network> plain = Quantize(MakeGraph(), data.Open(), options);
  options.learn_rounding = true;
  data.opened = 0;
  const Result<Network> learned = Quantize(MakeGraph(), data.Open(), options);
  ASSERT_TRUE(learned.ok()) << learned.status().message();
  EXPECT_EQ(data.opened, 2);
  EXPECT_EQ(learned->rounded->layers.size(), 2u);
  EXPECT_GT(sqnr(*learned), sqnr(*plain));
  // Biases are corrected for the weights that were learned.
  options.correct_bias = true;
  const Result<Network> both = Quantize(MakeGraph(), data.Open(), options);
  ASSERT_TRUE(both.ok()) << both.status().message();
  EXPECT_EQ(both->corrected->changed, 2u);
  EXPECT_GT(sqnr(*both), sqnr(*plain));
  options.form = Form::kDynamic;
  options.correct_bias = false;
  EXPECT_EQ(Quantize(MakeGraph(), data.Open(), options).status().code(), StatusCode::kUnsupported);
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

// The tensors of a run whose integers lie at or above `lowest` alone, among those of 8 bits.
std::vector<std::string> NamesAtLeast(const Graph& graph, const InputBytes& inputs, int lowest) {
  Result<Model> model = Model::Prepare(graph, {.keep_all_tensors = true});
  EXPECT_TRUE(model.ok()) << model.status().message();
  InputBytes outputs;
  EXPECT_TRUE(RunOn(*model, inputs, outputs).ok());
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    if (tensor.constant || tensor.type == Type::kFloat32) continue;
    const auto count = static_cast<size_t>(*CountElements(tensor.shape));
    const auto* const data =
        static_cast<const std::byte*>(model->TensorData(static_cast<TensorId>(i)));
    const std::vector<double> integers = Numbers(tensor, {data, data + count});
    if (*std::min_element(integers.begin(), integers.end()) >= lowest) names.push_back(tensor.name);
  }
  return names;
}

// x - FULLY_CONNECTED (RELU) - FULLY_CONNECTED - CONCATENATION - FULLY_CONNECTED - y
//   - FULLY_CONNECTED -------------------------- /
Graph LinearAndPositive() {
  std::mt19937 engine(5);
  std::uniform_real_distribution<float> real(-1, 1);
  Builder b;
  const auto layer = [&](const Value& from, int inputs, int outputs, Activation activation) {
    Reals weights(static_cast<size_t>(inputs * outputs));
    for (float& w : weights) w = real(engine);
    return b.FullyConnected(from, b.Const<float>("w", weights, {outputs, inputs}), kNoBias,
                            {.activation = activation}, {});
  };
  const Value x = b.Input("x", Type::kFloat32, {1, kInputs});
  const Value positive = layer(x, kInputs, 16, Activation::kRelu);
  const Value linear = layer(positive, 16, 16, Activation::kNone);
  const Value other = layer(x, kInputs, 16, Activation::kNone);
  const Value both[] = {linear, other};
  b.Output(layer(b.Concatenation(both, {.axis = 1}, {}), 32, 6, Activation::kNone), "y");
  Graph graph = *b.Finish();
  const char* const names[] = {"positive", "linear", "other", "both", "y"};
  for (size_t i = 0; i < 5; ++i) {
    graph.layers[i].label = names[i];
    graph.tensors[static_cast<size_t>(graph.layers[i].outputs[0])].name = names[i];
  }
  return graph;
}

TEST(FewBits, KeepResultsWithinTheirLevels) {
  Data data(50);
  // Far beyond what was observed.
  InputBytes wild = data.samples[0];
  for (size_t i = 0; i < kInputs; ++i) {
    const float value = i % 2 == 0 ? 100.0f : -100.0f;
    std::memcpy(wild[0].data() + 4 * i, &value, 4);
  }
  for (const Form form : {Form::kIntegers, Form::kPairs}) {
    double before = -10;
    for (const int bits : {2, 4, 6, 8}) {
      Options options;
      options.form = form;
      ASSERT_TRUE(SetBits("w8a" + std::to_string(bits), options).ok());
      const Result<Network> network = Quantize(LinearAndPositive(), data.Open(), options);
      ASSERT_TRUE(network.ok()) << network.status().message();
      const Graph& graph = network->quantized.graph;
      // Behind `linear` and `other`; `positive` saturates by itself, and `y` keeps 8 bits.
      EXPECT_EQ(CountLayers(graph, "MAXIMUM"), bits == 8 ? 0u : 2u);
      const int highest = form == Form::kPairs ? 255 : 127;
      const std::vector<std::string> few =
          NamesAtLeast(graph, wild, bits == 8 ? INT32_MAX : highest + 1 - (1 << bits));
      for (const char* const name : {"positive", "linear", "other", "both"}) {
        EXPECT_EQ(std::count(few.begin(), few.end(), name), bits == 8 ? 0 : 1) << name << bits;
      }
      EXPECT_EQ(std::count(few.begin(), few.end(), "y_quantized"), 0) << bits;
      const Result<Agreement> agreement = AgreementOf(*network, Graph(graph), data.Open(), options);
      ASSERT_TRUE(agreement.ok());
      const double sqnr = agreement->outputs[0].similarity.Sqnr();
      EXPECT_GT(sqnr, before + 5) << bits;
      before = sqnr;
    }
    EXPECT_GT(before, 30);
  }
}

TEST(FewBits, AreOfTheLayersThatARuleNames) {
  Data data(50);
  Options options;
  const Result<Recipe> recipe = ParseRecipe(
      R"([{"layers": ".", "activations": 16}, {"layers": "linear", "activations": 3}])");
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  options.recipe = *recipe;
  const Result<Network> network = Quantize(LinearAndPositive(), data.Open(), options);
  ASSERT_TRUE(network.ok()) << network.status().message();
  const Result<Report> report = ReportOn(*network, data.Open(), options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->layers[0].label, "linear") << ToJson(*report, "");
  EXPECT_GT(report->layers[0].alone.Sqnr(), 5);
  EXPECT_LT(report->layers[0].alone.Sqnr(), 20);
  EXPECT_GT(report->layers[1].alone.Sqnr(), 35);
  options.layer.activation_bits = 1;
  options.recipe = {};
  EXPECT_NE(Quantize(LinearAndPositive(), data.Open(), options)
                .status()
                .message()
                .find("2 to 16 bits, not for 1"),
            std::string::npos);
}

TEST(Goal, BisectsTheLayersOfAStage) {
  Data data(60);
  Options options;
  options.layer = {.weight_bits = 3, .activation_bits = 3};
  const Result<Network> plain = Quantize(LinearAndPositive(), data.Open(), options);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  const std::string worst = ReportOn(*plain, data.Open(), options)->layers[0].label;
  // What the worst layer alone is good for, with 8 bits.
  Options by_hand = options;
  by_hand.recipe.rules.push_back({.layers = "^" + worst + "$", .weights = 8, .activation_bits = 8});
  const Result<Network> one = Quantize(LinearAndPositive(), data.Open(), by_hand);
  ASSERT_TRUE(one.ok()) << one.status().message();
  const double good = AgreementOf(*one, Graph(one->quantized.graph), data.Open(), by_hand)
                          ->outputs[0]
                          .similarity.Sqnr();
  options.goal = Goal{.least_sqnr = good - 1e-6};
  const Result<Network> network = Quantize(LinearAndPositive(), data.Open(), options);
  ASSERT_TRUE(network.ok()) << network.status().message();
  EXPECT_LT(network->search->first, good - 1e-6);
  ASSERT_EQ(network->search->changes.size(), 1u);
  EXPECT_EQ(network->search->changes[0].label, worst);
}

TEST(Goal, ChangesMoreLayersForMore) {
  Data data(60);
  Options options;
  options.layer = {.weight_bits = 3, .activation_bits = 3};
  const Result<Network> plain = Quantize(LinearAndPositive(), data.Open(), options);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  const auto sqnr = [&](const Network& n) {
    return AgreementOf(n, Graph(n.quantized.graph), data.Open(), options)
        ->outputs[0]
        .similarity.Sqnr();
  };
  size_t changes = 0;
  for (const double least : {sqnr(*plain) - 1, 14.0, 25.0, 35.0}) {
    options.goal = Goal{.least_sqnr = least};
    const Result<Network> network = Quantize(LinearAndPositive(), data.Open(), options);
    ASSERT_TRUE(network.ok()) << least << ": " << network.status().message();
    EXPECT_GE(sqnr(*network), least);
    EXPECT_NEAR(network->search->last, sqnr(*network), 1e-9);
    EXPECT_NEAR(network->search->first, sqnr(*plain), 1e-9);
    EXPECT_GE(network->search->changes.size(), changes) << least;
    changes = network->search->changes.size();
    EXPECT_EQ(changes == 0, least < sqnr(*plain));
    for (const Change& change : network->search->changes) {
      EXPECT_FALSE(network->rules.layers[change.layer] == options.layer) << change.label;
    }
  }
  options.goal = Goal{.least_sqnr = 300};
  EXPECT_NE(Quantize(LinearAndPositive(), data.Open(), options)
                .status()
                .message()
                .find("the goal is not reached with any layer quantized"),
            std::string::npos);
}

TEST(Goal, CountsRightAnswers) {
  Data data(60);
  Options options;
  options.layer = {.weight_bits = 2, .activation_bits = 2};
  options.goal = Goal{.most_drop = 5};
  const Result<Network> network = Quantize(LinearAndPositive(), data.Open(), options);
  ASSERT_TRUE(network.ok()) << network.status().message();
  EXPECT_EQ(network->search->exact, 100);
  EXPECT_LT(network->search->first, 95);
  EXPECT_GE(network->search->last, 95);
  const Result<Agreement> agreement =
      AgreementOf(*network, Graph(network->quantized.graph), data.Open(), options);
  EXPECT_EQ(agreement->outputs[0].same_place,
            static_cast<size_t>(std::lround(network->search->last * 0.6)));
  // Where all labels are wrong, nothing can fall.
  options.goal->labels.clear();
  for (const InputBytes& sample : data.samples) {
    const std::vector<double> row = OutputsOf(LinearAndPositive(), sample)[0];
    const auto answer = std::max_element(row.begin(), row.end()) - row.begin();
    options.goal->labels.push_back(static_cast<int32_t>(answer == 0 ? 1 : answer - 1));
  }
  const Result<Network> wrong = Quantize(LinearAndPositive(), data.Open(), options);
  ASSERT_TRUE(wrong.ok()) << wrong.status().message();
  EXPECT_EQ(wrong->search->exact, 0);
  EXPECT_TRUE(wrong->search->changes.empty());
  options.goal->labels.resize(59);
  EXPECT_EQ(Quantize(LinearAndPositive(), data.Open(), options).status().message(),
            "there are 59 labels for 60 answers");
  for (const int32_t label : {-1, 6}) {
    options.goal->labels.assign(60, 5);
    options.goal->labels[58] = label;
    EXPECT_EQ(Quantize(LinearAndPositive(), data.Open(), options).status().message(),
              "label 58 is " + std::to_string(label) + "; an answer is 0 to 5");
  }
  options.goal = Goal{};
  EXPECT_FALSE(Quantize(LinearAndPositive(), data.Open(), options).ok());
  options.goal = Goal{.most_drop = -1};
  EXPECT_FALSE(Quantize(LinearAndPositive(), data.Open(), options).ok());
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
