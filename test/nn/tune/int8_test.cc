// Networks of float32 of which some layers compute with int8.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/quantize/named_ranges.h"
#include "intaglio/nn/quantize/quantize.h"
#include "intaglio/nn/tune/choose.h"
#include "intaglio/nn/tune/tune.h"
#include "intaglio/test/nn/quantize/network.h"
#include "intaglio/test/nn/tune/network.h"

namespace intaglio::nn::tune {
namespace {

using quantize::InputBytes;
using quantize::OutputsOf;
using quantize::Reals;

constexpr size_t kElements = size_t{12} * 12 * 8;

Reals RandomReals(unsigned seed, size_t count) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> real(-1, 1);
  Reals reals(count);
  for (float& value : reals) value = real(engine);
  return reals;
}

// Two convolutions whose sum is read twice, and a product. With `with_clamp`, a RELU stands behind
// the first layer instead of being its activation, which the quantizer changes.
Graph MakeFloat(bool with_clamp = false) {
  Builder b("float32");
  const Value x = b.Input("x", Type::kFloat32, {1, 12, 12, 8});
  const Activation activation = with_clamp ? Activation::kNone : Activation::kRelu;
  Value first = b.Conv2D(x, b.Const<float>("w1", RandomReals(1, 16 * 9 * 8), {16, 3, 3, 8}),
                         b.Const<float>("b1", RandomReals(2, 16), {16}),
                         {.padding = Padding::Same(), .activation = activation}, {});
  if (with_clamp) first = b.Relu(first, {});
  const Value second =
      b.DepthwiseConv2D(first, b.Const<float>("w2", RandomReals(3, 9 * 16), {1, 3, 3, 16}), kNoBias,
                        {.padding = Padding::Same()}, {});
  const Value sum = b.Add(first, second, {}, {});
  const Value flat = b.Reshape(sum, {1, 12 * 12 * 16});
  const Value y = b.FullyConnected(
      flat, b.Const<float>("w3", RandomReals(4, size_t{10} * 12 * 12 * 16), {10, 12 * 12 * 16}),
      kNoBias, {}, {});
  b.Output(y, "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

InputBytes Sample(unsigned seed) { return {quantize::ToBytes(RandomReals(seed, kElements))}; }

quantize::Network QuantizedOf(const Graph& graph) {
  static const std::vector<InputBytes> samples = {Sample(20), Sample(21), Sample(22)};
  const quantize::OpenSamples open = []() -> Result<quantize::NextSample> {
    return quantize::From(samples);
  };
  Result<quantize::Network> network = quantize::Quantize(graph, open);
  EXPECT_TRUE(network.ok()) << network.status().message();
  return std::move(*network);
}

std::vector<NamedRange> RangesFrom(const quantize::Network& network) {
  return quantize::NameRanges(network.real, network.ranges);
}

std::vector<size_t> AllOf(const Graph& graph) {
  std::vector<size_t> all(graph.layers.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

// A plan with these layers of the simplified network in int8, which are products.
Plan PlanOf(const Graph& given, const Graph& real, const std::vector<NamedRange>& ranges,
            const std::vector<size_t>& layers) {
  Plan plan;
  plan.digest = DigestOf(given);
  plan.machine = ThisMachine();
  plan.ranges = ranges;
  for (const size_t layer : layers) {
    LayerPlan& made = plan.layers.emplace_back();
    made.layer = layer;
    made.operator_name = NameOf(real.layers[layer].op);
    made.chosen.converted = true;
    made.chosen.routine = "cpu:qint8/gemm";
  }
  return plan;
}

std::string ErrorOf(const Graph& graph, const std::vector<NamedRange>& ranges) {
  const Result<Tuning> tuning = Tune(graph, {.budget = std::chrono::seconds(0), .ranges = ranges});
  return tuning.ok() ? "" : tuning.status().message();
}

TEST(Int8, AllLayersGiveTheBitsOfTheQuantizer) {
  for (const bool with_clamp : {false, true}) {
    const Graph graph = MakeFloat(with_clamp);
    const quantize::Network network = QuantizedOf(graph);
    const Result<OtherForm> form = OtherForm::Int8(graph, RangesFrom(network));
    ASSERT_TRUE(form.ok()) << form.status().message();
    EXPECT_EQ(form->is_simplified(), with_clamp);
    const Result<std::vector<size_t>> layers = form->List();
    ASSERT_TRUE(layers.ok()) << layers.status().message();
    EXPECT_EQ(*layers, AllOf(network.real));
    Plan plan = PlanOf(graph, network.real, RangesFrom(network), *layers);
    for (LayerPlan& layer : plan.layers) {
      const Result<Model> model = Model::Prepare(network.quantized.graph);
      ASSERT_TRUE(model.ok()) << model.status().message();
      layer.chosen.routine = model->layers()[network.quantized.places[layer.layer]].routine;
    }
    const Result<Plan> read = ParsePlan(ToJson(plan));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(ToJson(*read), ToJson(plan));
    ASSERT_EQ(read->ranges.size(), plan.ranges.size());
    EXPECT_TRUE(std::is_permutation(read->ranges.begin(), read->ranges.end(), plan.ranges.begin()));
    const Result<Replay> replay = ReplayOf(*read, graph, {});
    ASSERT_TRUE(replay.ok()) << replay.status().message();
    EXPECT_TRUE(replay->warnings.empty()) << replay->warnings[0];
    EXPECT_EQ(replay->converted_layers, *layers);
    for (const unsigned seed : {30u, 31u}) {
      const InputBytes inputs = Sample(seed);
      EXPECT_EQ(OutputsOf(replay->graph, inputs), OutputsOf(network.quantized.graph, inputs));
      EXPECT_NE(OutputsOf(replay->graph, inputs), OutputsOf(graph, inputs));
    }
  }
}

// The layers are two convolutions, a sum, a reshape and a product.
TEST(Int8, SomeLayersHaveOneAdapterForEachTensor) {
  const Graph graph = MakeFloat();
  const std::vector<NamedRange> ranges = RangesFrom(QuantizedOf(graph));
  const Result<OtherForm> form = OtherForm::Int8(graph, ranges);
  ASSERT_TRUE(form.ok()) << form.status().message();
  const std::vector<size_t> two = {1, 2};
  const Result<Conversion> conversion = form->Convert(two);
  ASSERT_TRUE(conversion.ok()) << conversion.status().message();
  EXPECT_EQ(conversion->layers, two);
  const Graph& mixed = conversion->network.graph;
  // One QUANTIZE of what both read, and a DEQUANTIZE of the sum.
  EXPECT_EQ(quantize::CountLayers(mixed, "QUANTIZE"), 1u);
  EXPECT_EQ(quantize::CountLayers(mixed, "DEQUANTIZE"), 1u);
  std::vector<size_t> origins;
  for (const LayerOrigin& origin : conversion->network.origins) origins.push_back(origin.layer);
  EXPECT_EQ(origins,
            (std::vector<size_t>{0, LayerOrigin::kAdapter, 1, 2, LayerOrigin::kAdapter, 3, 4}));
  const std::vector<double> expected = OutputsOf(graph, Sample(30))[0];
  const std::vector<double> outputs = OutputsOf(mixed, Sample(30))[0];
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(outputs[i], expected[i], 5);  // of some 100
  EXPECT_NE(outputs, expected);
  // No layer: no change.
  const Result<Conversion> none = form->Convert({});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(OutputsOf(none->network.graph, Sample(30))[0], expected);
}

TEST(Int8, LayersWithoutRangesStay) {
  const Graph graph = MakeFloat();
  std::vector<NamedRange> ranges = RangesFrom(QuantizedOf(graph));
  // The sum's, so neither it nor the reshape behind it.
  const std::string name = graph.tensors[static_cast<size_t>(graph.layers[2].outputs[0])].name;
  const std::string number = "#" + std::to_string(graph.layers[2].outputs[0]);
  const size_t before = ranges.size();
  std::erase_if(ranges,
                [&](const NamedRange& r) { return r.tensor == name || r.tensor == number; });
  ASSERT_EQ(ranges.size(), before - 1);
  const Result<OtherForm> form = OtherForm::Int8(graph, ranges);
  ASSERT_TRUE(form.ok()) << form.status().message();
  const Result<Conversion> all = form->Convert(AllOf(graph));
  ASSERT_TRUE(all.ok()) << all.status().message();
  EXPECT_EQ(all->layers, (std::vector<size_t>{0, 1, 4}));
  ASSERT_EQ(all->refused.size(), 2u);
  EXPECT_EQ(all->refused[0].first, 2u);
  EXPECT_EQ(all->refused[0].second, "the range of a tensor is not known");
  // A plan that wants it anyway.
  const Replay replay = *ReplayOf(PlanOf(graph, graph, ranges, {0, 2}), graph, {});
  ASSERT_EQ(replay.warnings.size(), 1u);
  EXPECT_NE(replay.warnings[0].find("the range of a tensor"), std::string::npos);
  EXPECT_EQ(replay.converted_layers, std::vector<size_t>{0});
}

TEST(Int8, AdaptersDecideWhatIsSelected) {
  const Graph graph = MakeFloat();
  const std::vector<NamedRange> ranges = RangesFrom(QuantizedOf(graph));
  const Result<OtherForm> form = OtherForm::Int8(graph, ranges);
  ASSERT_TRUE(form.ok()) << form.status().message();
  const PrepareOptions prepare;
  KnownTimes none(nullptr, prepare);
  const Schedule schedule(std::chrono::seconds(1),
                          [time = 0]() mutable { return std::chrono::nanoseconds(++time); });
  const Result<AdapterTimes> adapters =
      AdapterTimes::Measure(*form, prepare, none, schedule, std::chrono::nanoseconds(5));
  ASSERT_TRUE(adapters.ok()) << adapters.status().message();
  EXPECT_GT(adapters->Of(*form, graph.inputs[0], true), 0);
  EXPECT_GT(adapters->Of(*form, graph.inputs[0], false), 0);
  const auto select = [&](const std::vector<double>& int8) {
    std::vector<LayerReport> reports(int8.size());
    for (size_t i = 0; i < int8.size(); ++i) {
      reports[i].ways = {{"cpu:float32/a", "", 0, 1e9, 10},
                         {"cpu:qint8/b", "", 0, int8[i], 40, true}};
    }
    const NetworkProblem network = MakeProblem(*form, reports, *adapters, true);
    const Result<Selection> selection = Select(network.problem);
    EXPECT_TRUE(selection.ok()) << selection.status().message();
    return selection.ok() ? WaysOf(network, *selection) : std::vector<size_t>();
  };
  using Ways = std::vector<size_t>;
  EXPECT_EQ(select({1e8, 1e8, 1e8, 1e8, 1e8}), (Ways{1, 1, 1, 1, 1}));
  EXPECT_EQ(select({2e9, 1e8, 2e9, 2e9, 1e8}), (Ways{0, 1, 0, 0, 1}));
  EXPECT_EQ(select({2e9, 2e9, 2e9, 2e9, 2e9}), (Ways{0, 0, 0, 0, 0}));
}

TEST(Int8, TuningKeepsItsWord) {
  for (const bool with_clamp : {false, true}) {
    const Graph graph = MakeFloat(with_clamp);
    const quantize::Network network = QuantizedOf(graph);
    TuneOptions options = {.budget = kPlenty, .ranges = RangesFrom(network)};
    options.prepare.threads = 1;
    const Result<Tuning> tuning = Tune(graph, options);
    ASSERT_TRUE(tuning.ok()) << tuning.status().message();
    EXPECT_EQ(tuning->layers.size(), network.real.layers.size());
    EXPECT_EQ(tuning->plan.networks[0].name, "untuned");
    EXPECT_TRUE(
        std::any_of(tuning->plan.networks.begin(), tuning->plan.networks.end(),
                    [](const NetworkTime& n) { return n.name == "int8" || n.name == "mixed"; }));
    for (const LayerReport& layer : tuning->layers) {
      EXPECT_TRUE(layer.convertible) << layer.label;
      EXPECT_TRUE(std::any_of(layer.ways.begin(), layer.ways.end(), [](const TimedWay& way) {
        return way.converted;
      })) << layer.label;
    }
    const Plan plan = *ParsePlan(ToJson(tuning->plan));
    const Result<Replay> replay = ReplayOf(plan, graph, options.prepare);
    ASSERT_TRUE(replay.ok()) << replay.status().message();
    EXPECT_TRUE(replay->warnings.empty());
    EXPECT_EQ(plan.difference.measured, !replay->converted_layers.empty());
    EXPECT_EQ(plan.ranges.empty(), replay->converted_layers.empty());
    const Result<OtherForm> form = OtherForm::Int8(graph, options.ranges);
    ASSERT_TRUE(form.ok());
    EXPECT_EQ(plan.accepted, plan.ranges.empty() ? 0u : AcceptedKey(plan, form->graph()));
    PrepareOptions prepare = options.prepare;
    prepare.routines = replay->choices;
    const Result<Model> model = Model::Prepare(replay->graph, prepare);
    ASSERT_TRUE(model.ok()) << model.status().message();
    // No choice of a routine or kernel changes a bit of the network of these layers.
    const Result<Conversion> same = form->Convert(replay->converted_layers);
    ASSERT_TRUE(same.ok());
    EXPECT_EQ(OutputsOf(replay->graph, Sample(30)), OutputsOf(same->network.graph, Sample(30)));
  }
}

// The layers of a plan that were prepared before are not tried first. That changes nothing, and
// holds for the same layers, ranges and machine only.
TEST(Int8, WhatWasAcceptedIsTheSameUntried) {
  const Graph graph = MakeFloat(false);
  const quantize::Network network = QuantizedOf(graph);
  Plan plan;
  plan.digest = DigestOf(graph);
  plan.machine = ThisMachine();
  plan.ranges = RangesFrom(network);
  const Result<OtherForm> form = OtherForm::Int8(graph, plan.ranges);
  ASSERT_TRUE(form.ok());
  const Result<std::vector<size_t>> layers = form->List();
  ASSERT_TRUE(layers.ok());
  const Result<Conversion> made = form->Convert(*layers);
  ASSERT_TRUE(made.ok());
  for (const size_t layer : *layers) {
    LayerPlan& of_layer = plan.layers.emplace_back();
    of_layer.layer = layer;
    of_layer.operator_name = NameOf(form->graph().layers[layer].op);
    const size_t place =
        static_cast<size_t>(std::find_if(made->network.origins.begin(), made->network.origins.end(),
                                         [&](const LayerOrigin& o) { return o.layer == layer; }) -
                            made->network.origins.begin());
    const Result<Model> model = Model::Prepare(made->network.graph, {});
    ASSERT_TRUE(model.ok());
    of_layer.chosen.routine = model->layers()[place].routine;
    of_layer.chosen.converted = true;
  }
  std::vector<size_t> converted;
  for (const bool accepted : {false, true}) {
    plan.accepted = accepted ? AcceptedKey(plan, form->graph()) : 0;
    const Result<Plan> read = ParsePlan(ToJson(plan));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->accepted, plan.accepted);
    EXPECT_EQ(AcceptedKey(*read, form->graph()), AcceptedKey(plan, form->graph()));
    const Result<Replay> replay = ReplayOf(*read, graph, {});
    ASSERT_TRUE(replay.ok()) << replay.status().message();
    EXPECT_TRUE(replay->warnings.empty());
    EXPECT_EQ(replay->converted_layers, *layers);
    EXPECT_EQ(OutputsOf(replay->graph, Sample(30)), OutputsOf(made->network.graph, Sample(30)));
  }
  const uint64_t key = AcceptedKey(plan, form->graph());
  const auto is_other = [&](const auto& change) {
    Plan other = plan;
    change(other);
    return AcceptedKey(other, form->graph()) != key;
  };
  EXPECT_TRUE(is_other([](Plan& p) { p.layers.pop_back(); }));
  EXPECT_TRUE(is_other([](Plan& p) { p.layers[0].chosen.converted = false; }));
  EXPECT_TRUE(is_other([](Plan& p) { p.ranges[0].max += 1; }));
  EXPECT_TRUE(is_other([](Plan& p) { p.machine.library = "0"; }));
  EXPECT_TRUE(is_other([](Plan& p) { p.machine.kernels.pop_back(); }));
  EXPECT_TRUE(is_other([](Plan& p) { p.digest ^= 1; }));
  EXPECT_FALSE(is_other([](Plan& p) { std::reverse(p.ranges.begin(), p.ranges.end()); }));
  // The same digest has a network with another stride or zero point.
  Graph strided = form->graph();
  Conv2D conv = *strided.layers[0].op.As<Conv2D>();
  conv.stride = {2, 2};
  strided.layers[0].op = conv;
  EXPECT_EQ(DigestOf(strided), DigestOf(form->graph()));
  EXPECT_NE(AcceptedKey(plan, strided), key);
  Graph shifted = form->graph();
  shifted.tensors[0].quantization.zero_points = {1};
  EXPECT_NE(AcceptedKey(plan, shifted), key);
}

// A network whose inputs may have any size.
Graph MakeConvolutions(int size) {
  Builder b("convolutions");
  const Value x = b.Input("x", Type::kFloat32, {1, size, size, 8});
  const Value first =
      b.Conv2D(x, b.Const<float>("w1", RandomReals(1, 16 * 9 * 8), {16, 3, 3, 8}), kNoBias,
               {.padding = Padding::Same(), .activation = Activation::kRelu}, {});
  b.Output(
      b.Conv2D(first, b.Const<float>("w2", RandomReals(2, 8 * 16), {8, 1, 1, 16}), kNoBias, {}, {}),
      "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

// Models by a plan with converted layers take other sizes of their inputs: the bits are those of
// the larger network with the same ranges and layers.
TEST(Int8, ModelsByPlansAreResized) {
  const Graph graph = MakeConvolutions(12);
  const std::vector<NamedRange> ranges = RangesFrom(QuantizedOf(graph));
  const std::vector<size_t> second = {1};
  const Result<Replay> replay = ReplayOf(PlanOf(graph, graph, ranges, second), graph, {});
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  Result<Model> model = Model::Prepare(replay->graph, {.routines = replay->choices});
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->layers().size(), 4u);
  const std::vector<Shape> larger = {{1, 20, 20, 8}};
  const Status resized = model->Resize(larger);
  ASSERT_TRUE(resized.ok()) << resized.message();
  const InputBytes inputs = {quantize::ToBytes(RandomReals(30, 20 * 20 * 8))};
  InputBytes outputs;
  ASSERT_TRUE(quantize::RunOn(*model, inputs, outputs).ok());
  const Graph large = MakeConvolutions(20);
  const Result<OtherForm> form = OtherForm::Int8(large, ranges);
  ASSERT_TRUE(form.ok()) << form.status().message();
  const Result<Conversion> conversion = form->Convert(second);
  ASSERT_TRUE(conversion.ok()) << conversion.status().message();
  EXPECT_EQ(quantize::Numbers(model->output(0), outputs[0]),
            OutputsOf(conversion->network.graph, inputs)[0]);
  EXPECT_FALSE(model->Resize({{1, 20, 20, 9}}).ok());
}

TEST(Int8, ALimitOfDifferencesIsKept) {
  const Graph graph = MakeFloat();
  for (const double most : {0.0, 1e-3, 1.0}) {
    TuneOptions options = {.budget = kPlenty, .ranges = RangesFrom(QuantizedOf(graph))};
    options.max_difference = most;
    const Result<Tuning> tuning = Tune(graph, options);
    ASSERT_TRUE(tuning.ok()) << tuning.status().message();
    EXPECT_LE(tuning->plan.difference.relative, most);
    EXPECT_TRUE(most > 0 || tuning->plan.ranges.empty());
  }
}

// Where nothing is converted, the network runs as it was given. So its memory counts, not that of
// the simpler one that was tuned.
TEST(Int8, ALimitOfMemoryIsThatOfTheGivenNetwork) {
  const Graph graph = MakeFloat(true);
  // The given network has one tensor more.
  const PrepareOptions prepare = {.keep_all_tensors = true};
  const quantize::Network network = QuantizedOf(graph);
  const auto bytes_of = [&](const Graph& g) {
    const Result<Model> model = Model::Prepare(g, prepare);
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model->constant_bytes() + model->arena_bytes();
  };
  const size_t given = bytes_of(graph);
  ASSERT_NE(given, bytes_of(network.real));
  TuneOptions options = {.budget = kPlenty, .ranges = RangesFrom(network)};
  options.prepare = prepare;
  options.memory_bytes = size_t{1} << 30;
  const Result<Tuning> tuning = Tune(graph, options);
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  EXPECT_EQ(tuning->plan.networks[0].bytes, given);
}

TEST(Int8, WhatIsWrongIsSaid) {
  const Graph graph = MakeFloat();
  std::vector<NamedRange> ranges = RangesFrom(QuantizedOf(graph));
  const auto with = [&](const NamedRange& range) {
    std::vector<NamedRange> more = ranges;
    more.push_back(range);
    return more;
  };
  EXPECT_NE(ErrorOf(graph, with({"nobody", 0, 1})).find("'nobody' fits no activation"),
            std::string::npos);
  EXPECT_NE(ErrorOf(graph, with({"w1", 0, 1})).find("'w1' fits no activation"), std::string::npos);
  EXPECT_NE(ErrorOf(graph, with(ranges[0])).find("is there twice"), std::string::npos);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [min, max] : {std::pair(1.0f, 0.0f), {nan, 1.0f}, {0.0f, HUGE_VALF}}) {
    std::vector<NamedRange> wrong = ranges;
    wrong[0].min = min;
    wrong[0].max = max;
    EXPECT_NE(ErrorOf(graph, wrong).find("is no interval of finite numbers"), std::string::npos);
  }
  EXPECT_NE(ErrorOf(graph, {ranges[0]}).find("no layer of the network can compute with int8"),
            std::string::npos);
  EXPECT_NE(ErrorOf(MakeNetwork(), ranges).find("fits no activation of float32"),
            std::string::npos);
  // A plan for another network, and one whose ranges do not fit.
  Plan plan = PlanOf(graph, graph, ranges, {0});
  EXPECT_FALSE(ReplayOf(plan, MakeFloat(true), {}).ok());
  plan.ranges[0].tensor = "nobody";
  EXPECT_FALSE(ReplayOf(plan, graph, {}).ok());
  // A number of a layer that the simplified network does not have.
  const Graph clamped = MakeFloat(true);
  const quantize::Network network = QuantizedOf(clamped);
  Plan beyond = PlanOf(clamped, network.real, RangesFrom(network), {0});
  beyond.layers[0].layer = network.real.layers.size();
  const Result<Replay> replay = ReplayOf(beyond, clamped, {});
  ASSERT_FALSE(replay.ok());
  EXPECT_NE(replay.status().message().find("the network has 5"), std::string::npos)
      << replay.status().message();
}

TEST(Int8, PlansSayTheirRangesOrAreWrong) {
  const Graph graph = MakeFloat();
  const Plan plan = PlanOf(graph, graph, RangesFrom(QuantizedOf(graph)), {0});
  const std::string text = ToJson(plan);
  EXPECT_NE(text.find("intaglio-plan-3"), std::string::npos);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const size_t at = other.find(from);
    EXPECT_NE(at, other.npos) << from;
    other.replace(at, from.size(), to);
    const Result<Plan> read = ParsePlan(other);
    return read.ok() ? "" : read.status().message();
  };
  EXPECT_NE(changed("\"ranges\": {", "\"range\": {").find("lacks 'ranges'"), std::string::npos);
  EXPECT_NE(changed("\"ranges\": {", "\"ranges\": {}, \"r\": {").find("'ranges'"),
            std::string::npos);
  EXPECT_NE(changed("\"ranges\": {", "\"ranges\": {\"a\": [1], ").find("list of two numbers"),
            std::string::npos);
  EXPECT_NE(changed("\"ranges\": {", "\"ranges\": {\"a\": [1, 1e300], ").find("two numbers"),
            std::string::npos);
}

TEST(Int8, FilesOfRangesAreReadExactly) {
  const Graph graph = MakeFloat();
  const std::vector<NamedRange> ranges = RangesFrom(QuantizedOf(graph));
  EXPECT_GE(ranges.size(), 6u);
  const Result<std::vector<NamedRange>> read =
      quantize::ParseRanges(quantize::RangesToJson(ranges));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), ranges.size());
  EXPECT_TRUE(std::is_permutation(read->begin(), read->end(), ranges.begin()));
  const auto error = [](const char* text) {
    const Result<std::vector<NamedRange>> wrong = quantize::ParseRanges(text);
    return wrong.ok() ? "" : wrong.status().message();
  };
  EXPECT_EQ(error("{"), "the ranges are no JSON");
  EXPECT_EQ(error("[]"), "the ranges are no object of ranges");
  EXPECT_EQ(error(R"({"a": [[[[[[1]]]]]]})"), "the ranges are no object of ranges");
  EXPECT_EQ(error(R"({"format": "intaglio-ranges-2", "ranges": {}})"),
            "the ranges lack \"format\": \"intaglio-ranges-1\"");
  EXPECT_EQ(error(R"({"format": "intaglio-ranges-1", "ranges": []})"),
            "the ranges lack an object 'ranges'");
  EXPECT_EQ(error(R"({"format": "intaglio-ranges-1", "ranges": {"x": [0, 1], "x": [0, 2]}})"),
            "the ranges have one tensor twice");
  for (const char* const value :
       {"1", "[1]", "[1, 2, 3]", "[1, \"2\"]", "[0, 1e39]", "[null, 1]"}) {
    const std::string text =
        std::string(R"({"format": "intaglio-ranges-1", "ranges": {"x": )") + value + "}}";
    EXPECT_EQ(error(text.c_str()), "the range of tensor 'x' is no list of two numbers") << value;
  }
}

// Names that are empty, not unique or not plain become numbers.
TEST(Int8, TensorsWithoutSureNamesAreNumbers) {
  Graph graph = MakeFloat();
  const auto tensor = [&](size_t layer) -> Tensor& {
    return graph.tensors[static_cast<size_t>(graph.layers[layer].outputs[0])];
  };
  tensor(0).name = "";
  tensor(1).name = "twice";
  tensor(2).name = "twice";
  tensor(3).name = "a\xff";
  tensor(4).name = "#1";
  quantize::Ranges ranges(graph.tensors.size());
  for (size_t layer = 0; layer < 5; ++layer) {
    const auto id = static_cast<size_t>(graph.layers[layer].outputs[0]);
    ranges[id].range = quantize::RealRange{-1, static_cast<float>(layer)};
  }
  const std::vector<NamedRange> named = quantize::NameRanges(graph, ranges);
  ASSERT_EQ(named.size(), 5u);
  for (const NamedRange& range : named) EXPECT_EQ(range.tensor[0], '#');
  const Result<quantize::Ranges> read = quantize::RangesOf(graph, named);
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (size_t i = 0; i < ranges.size(); ++i) EXPECT_EQ((*read)[i].range, ranges[i].range) << i;
}

}  // namespace
}  // namespace intaglio::nn::tune
