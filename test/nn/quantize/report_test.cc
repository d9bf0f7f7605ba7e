#include "intaglio/nn/quantize/report.h"

#include <gtest/gtest.h>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/quantize/recipe.h"
#include "intaglio/test/nn/quantize/network.h"

namespace intaglio::nn::quantize {
namespace {

// Two dense layers. Rows of the first differ 1000 times in size.
Graph Network() {
  std::mt19937 engine(3);
  std::uniform_real_distribution<float> real(-1, 1);
  Reals first(8 * 8), second(4 * 8);
  for (size_t i = 0; i < first.size(); ++i) first[i] = real(engine) * (i < 8 ? 1000.0f : 1.0f);
  for (float& w : second) w = real(engine);
  Builder b;
  const Value x = b.Input("x", Type::kFloat32, {1, 8});
  const Value y = b.FullyConnected(x, b.Const<float>("first", first, {8, 8}), kNoBias, {}, {});
  b.Output(b.FullyConnected(y, b.Const<float>("second", second, {4, 8}), kNoBias, {}, {}), "y");
  Graph graph = *b.Finish();
  graph.layers[0].label = "one (of 2)";
  graph.layers[1].label = "two";
  return graph;
}

std::vector<InputBytes> Samples(size_t count) {
  std::mt19937 engine(4);
  std::normal_distribution<float> normal;
  std::vector<InputBytes> samples;
  for (size_t i = 0; i < count; ++i) {
    Reals x(8);
    for (float& value : x) value = normal(engine);
    samples.push_back({ToBytes(x)});
  }
  return samples;
}

Report ReportOf(const Rules& rules, const std::vector<InputBytes>& samples) {
  const Graph graph = Network();
  const Result<Calibration> c = Calibrate(graph, From(samples));
  EXPECT_TRUE(c.ok()) << c.status().message();
  const Result<Quantized> q = QuantizeGraph(graph, c->ranges, rules);
  EXPECT_TRUE(q.ok()) << q.status().message();
  const Result<Report> report = MakeReport(graph, *q, rules, From(samples));
  EXPECT_TRUE(report.ok()) << report.status().message();
  return *report;
}

const LayerReport& Of(const Report& report, size_t layer) {
  for (const LayerReport& one : report.layers) {
    if (one.layer == layer) return one;
  }
  ADD_FAILURE() << layer;
  return report.layers[0];
}

// Layers that an importer makes of one have one label.
TEST(Report, KnowsLayersOfOneLabelApart) {
  Rules rules;
  const std::vector<InputBytes> samples = Samples(5);
  Graph graph = Network();
  graph.layers[1].label = graph.layers[0].label;
  const Result<Calibration> c = Calibrate(graph, From(samples));
  ASSERT_TRUE(c.ok()) << c.status().message();
  const Result<Quantized> q = QuantizeGraph(graph, c->ranges, rules);
  ASSERT_TRUE(q.ok()) << q.status().message();
  const Result<Report> report = MakeReport(graph, *q, rules, From(samples));
  ASSERT_TRUE(report.ok()) << report.status().message();
  const Report expected = ReportOf(rules, samples);
  ASSERT_EQ(report->layers.size(), 2u);
  for (const size_t layer : {0u, 1u}) {
    EXPECT_EQ(Of(*report, layer).alone.Sqnr(), Of(expected, layer).alone.Sqnr());
  }
}

TEST(Report, TellsTheLayersOwnLossFromThatOfOthers) {
  Rules rules;
  rules.layers = {{.weight_bits = 2}, {}};
  const Report report = ReportOf(rules, Samples(20));
  EXPECT_EQ(report.samples, 20u);
  ASSERT_EQ(report.layers.size(), 2u);
  EXPECT_EQ(report.layers[0].layer, 0u);  // the worst comes first
  const LayerReport& first = Of(report, 0);
  const LayerReport& second = Of(report, 1);
  EXPECT_NEAR(first.alone.Sqnr(), first.accumulated.Sqnr(), 1e-9);  // nothing is before it
  EXPECT_LT(first.alone.Sqnr(), 15);
  EXPECT_GT(second.alone.Sqnr(), 35);
  EXPECT_LT(second.accumulated.Sqnr(), 20);
  EXPECT_EQ(first.rule, R"({"layers": "^one .of 2.$", "weights": 8})");
  EXPECT_EQ(second.rule, "");
  EXPECT_GT(first.range_ratio, 500);
  for (const LayerReport* const layer : {&first, &second}) {
    const OutputHistogram& histogram = layer->histogram;
    ASSERT_EQ(histogram.exact.size(), 50u);
    ASSERT_EQ(histogram.integers.size(), 50u);
    uint64_t exact = 0;
    uint64_t integers = 0;
    for (const uint64_t n : histogram.exact) exact += n;
    for (const uint64_t n : histogram.integers) integers += n;
    EXPECT_EQ(exact, layer->alone.count());
    EXPECT_EQ(integers, exact);
    EXPECT_EQ(histogram.integers[0] + histogram.integers[49], 0u);  // they cannot be beyond
    EXPECT_LT(histogram.least, histogram.greatest);
  }
  const Result<Recipe> recipe = ParseRecipe("[" + first.rule + "]");
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  const Result<Choices> choices = Apply(*recipe, Network(), {.weight_bits = 2}, {});
  ASSERT_TRUE(choices.ok()) << choices.status().message();
  EXPECT_EQ(choices->layers[0].weight_bits, 8);
  EXPECT_EQ(choices->layers[1].weight_bits, 2);
}

// A pattern has a limit, which labels do not have.
TEST(Report, NamesLongLabelsByTheirBeginning) {
  Graph graph = Network();
  graph.layers[0].label = std::string(3000, 'x');
  const std::vector<InputBytes> samples = Samples(20);
  const Result<Calibration> c = Calibrate(graph, From(samples));
  ASSERT_TRUE(c.ok()) << c.status().message();
  Rules rules;
  rules.layers = {{.weight_bits = 2}, {}};
  const Result<Quantized> q = QuantizeGraph(graph, c->ranges, rules);
  ASSERT_TRUE(q.ok()) << q.status().message();
  const Result<Report> report = MakeReport(graph, *q, rules, From(samples));
  ASSERT_TRUE(report.ok()) << report.status().message();
  const Result<Recipe> recipe = ParseRecipe("[" + Of(*report, 0).rule + "]");
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  const Result<Choices> choices = Apply(*recipe, graph, {.weight_bits = 2}, {});
  ASSERT_TRUE(choices.ok()) << choices.status().message();
  EXPECT_EQ(choices->layers[0].weight_bits, 8);
  EXPECT_EQ(choices->layers[1].weight_bits, 2);
}

// Seven of eight outputs are less than one step of the eighth's scale.
TEST(Report, CountsDeadChannels) {
  Rules rules;
  rules.layers = {{.per_channel = false}, {}};
  const Report report = ReportOf(rules, Samples(20));
  EXPECT_EQ(Of(report, 0).dead_channels, 7u);
  EXPECT_EQ(Of(report, 1).dead_channels, 0u);
}

TEST(Report, CountsWhatIsClipped) {
  const Graph graph = Network();
  const std::vector<InputBytes> samples = Samples(50);
  const Result<Calibration> c = Calibrate(graph, From(samples));
  Ranges ranges = c->ranges;
  TensorRange& last = ranges[static_cast<size_t>(graph.outputs[0])];
  last = RealRange{last.range->min / 8, last.range->max / 8};
  const Result<Quantized> q = QuantizeGraph(graph, ranges, {});
  ASSERT_TRUE(q.ok()) << q.status().message();
  const Result<Report> report = MakeReport(graph, *q, {}, From(samples));
  ASSERT_TRUE(report.ok()) << report.status().message();
  const auto& layer = Of(*report, 1);
  EXPECT_GT(layer.clipped, 0.3);
  EXPECT_LT(layer.clipped, 1);
  EXPECT_EQ(Of(*report, 0).clipped, 0);
  EXPECT_EQ(layer.rule, R"({"layers": "^two$", "method": "minmax"})");
}

TEST(Report, IsOfIntegers) {
  const Graph graph = Network();
  const std::vector<InputBytes> none;
  EXPECT_EQ(MakeReport(graph, {}, {.form = Form::kPairs}, From(none)).status().message(),
            "reports of other forms than integers");
}

}  // namespace
}  // namespace intaglio::nn::quantize
