// Networks whose layers compute in two schemas: plans, problems and what is picked.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/passes/float_form.h"
#include "intaglio/nn/tune/choose.h"
#include "intaglio/nn/tune/difference.h"
#include "intaglio/nn/tune/tune.h"
#include "intaglio/nn/tune/turns.h"
#include "intaglio/test/nn/tune/network.h"

namespace intaglio::nn::tune {
namespace {

// A report of each layer with a way of integers, and one in float32 where that exists.
std::vector<LayerReport> MakeReports(const Graph& graph, const std::vector<double>& integers,
                                     const std::vector<double>& floats) {
  std::vector<LayerReport> reports;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    LayerReport& report = reports.emplace_back();
    report.ways.push_back({"cpu:qint8/a", "", 0, integers[i], 10});
    report.convertible = WhyNotFloat(graph, i).empty();
    if (report.convertible) report.ways.push_back({"cpu:float32/b", "", 0, floats[i], 40, true});
  }
  return reports;
}

// The layers are a depthwise convolution, a convolution, a reshape and a product.
TEST(Schemas, AdaptersDecideWhatIsSelected) {
  const Graph graph = MakeNetwork();
  const PrepareOptions prepare;
  KnownTimes none(nullptr, prepare);
  const OtherForm form = OtherForm::Float32(graph);
  const Schedule schedule(std::chrono::seconds(1), {});
  const Result<AdapterTimes> adapters =
      AdapterTimes::Measure(form, prepare, none, schedule, std::chrono::milliseconds(1));
  ASSERT_TRUE(adapters.ok()) << adapters.status().message();
  const double to = adapters->Of(form, graph.inputs[0], true);
  EXPECT_GT(to, 0);
  // Gains that are far above all adapters, and far below.
  const std::vector<double> integers = {1e9, 1e9, 1e9, 1e9};
  const auto select = [&](const std::vector<double>& floats, bool both_forms) {
    const NetworkProblem network = MakeProblem(
        OtherForm::Float32(graph), MakeReports(graph, integers, floats), *adapters, both_forms);
    const Result<Selection> selection = Select(network.problem);
    EXPECT_TRUE(selection.ok()) << selection.status().message();
    return selection.ok() ? WaysOf(network, *selection) : std::vector<size_t>();
  };
  using Ways = std::vector<size_t>;
  EXPECT_EQ(select({1e8, 1e8, 1e8, 1e8}, true), (Ways{1, 1, 1, 1}));
  EXPECT_EQ(select({1e8, 1e8, 1e8, 1e8}, false), (Ways{0, 0, 0, 0}));
  EXPECT_EQ(select({2e9, 1e8, 2e9, 1e8}, true), (Ways{0, 1, 0, 1}));
  // What gains less than a percent is not selected, whatever adapters cost.
  EXPECT_EQ(select({.995e9, .995e9, .995e9, .995e9}, true), (Ways{0, 0, 0, 0}));
}

TEST(Schemas, NoiseIsNoGain) {
  LayerReport report;
  report.ways = {{"a", "", 0, 100}, {"b", "", 0, 93}, {"c", "", 0, 85}};
  report.noise = 0.1;
  EXPECT_EQ(CountedTime(report, 1), 100);
  EXPECT_EQ(CountedTime(report, 2), 85);
  EXPECT_EQ(FastestOf(report, false), 2u);
  EXPECT_EQ(FastestOf(report, true), 3u);  // none
  report.noise = 0.2;
  EXPECT_EQ(FastestOf(report, false), 0u);
}

// Times of networks by a script, of which two in five are disturbed.
Turns Scripted(const std::vector<double>& ns, unsigned seed) {
  Turns turns(ns.size());
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> share(0, 1);
  for (int i = 0; i < 101; ++i) {
    for (size_t k = 0; k < ns.size(); ++k) {
      const double slower = share(random) < 0.4 ? 3 * share(random) : 0.02 * share(random);
      turns.Add(k, ns[k] * (1 + slower));
    }
  }
  return turns;
}

TEST(Schemas, BoundedResultsMustGainBeyondDoubt) {
  int wrong = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto pick = [&](const std::vector<double>& ns, const std::vector<Contender>& contenders) {
      return PickNetwork(Scripted(ns, seed), contenders, 0.05);
    };
    const std::vector<Contender> all = {{}, {}, {.bounded = true}, {.bounded = true}};
    wrong += pick({100, 100, 100, 100}, all) != 0 ? 1 : 0;
    wrong += pick({100, 80, 80, 80}, all) != 1 ? 1 : 0;
    // Bounded results gain something, but too little.
    EXPECT_EQ(PickNetwork(Scripted({100, 98.9}, seed), {{}, {.bounded = true}}, 0), 0u);
    wrong += pick({100, 80, 50, 60}, all) != 2 ? 1 : 0;
    wrong += pick({100, 80, 60, 40}, all) != 3 ? 1 : 0;
    // Less than equal networks differ by.
    EXPECT_EQ(pick({100, 96, 96, 96}, all), 0u);
    // What does not fit is never picked.
    const std::vector<Contender> limited = {{.fits = false}, {}, {.bounded = true, .fits = false}};
    EXPECT_EQ(pick({100, 200, 50}, limited), 1u);
    EXPECT_EQ(pick({100, 200, 50}, {{.fits = false}, {.fits = false}, {.fits = false}}), 3u);
  }
  EXPECT_LE(wrong, 4);  // of 400
}

// Few turns convince if nearly all of them show a great gain.
TEST(Schemas, FewTurnsConvinceOfGreatGains) {
  const auto pick = [](size_t count, double share, size_t disturbed) {
    Turns turns(3);
    for (size_t i = 0; i < count; ++i) {
      turns.Add(0, 100);
      turns.Add(1, i + disturbed < count ? 100 * share : 120);
      turns.Add(2, 100);
    }
    const std::vector<Contender> contenders = {{}, {.bounded = true}};
    const size_t picked = PickNetwork(turns, contenders, 0);
    // What is kept says the same.
    const std::vector<Verdict> verdicts = VerdictsOf(turns, contenders, 0);
    EXPECT_EQ(verdicts[1].ns < verdicts[0].ns && verdicts[1].turns > 0, picked == 1);
    return picked;
  };
  EXPECT_EQ(pick(8, 0.25, 0), 0u);
  EXPECT_EQ(pick(9, 0.25, 1), 1u);
  EXPECT_EQ(pick(9, 0.25, 2), 0u);
  EXPECT_EQ(pick(9, 0.76, 0), 0u);
  EXPECT_EQ(pick(13, 0.8, 0), 0u);
  EXPECT_EQ(pick(14, 0.8, 0), 1u);
  EXPECT_EQ(pick(20, 0.87, 0), 1u);
  EXPECT_EQ(pick(20, 0.88, 0), 0u);
  EXPECT_EQ(pick(25, 0.95, 0), 0u);
  EXPECT_EQ(pick(31, 0.95, 0), 1u);
}

// A network that was left out for lack of time is not in the way of a faster one, which had all
// turns.
TEST(Schemas, WhatWasLeftOutStandsBack) {
  const std::vector<Contender> exact = {{}, {}, {}};
  const auto turns_of = [](double share) {
    Turns turns(4);
    for (size_t i = 0; i < kFewestTurns; ++i) {
      turns.Add(0, 100);
      if (i < 10) turns.Add(1, 70);
      turns.Add(2, 100 * share);
      turns.Add(3, 100);
    }
    turns.LeaveOut(1);
    return turns;
  };
  for (const auto& [share, best] : {std::pair(0.62, size_t{2}), std::pair(1.0, size_t{1})}) {
    const Turns turns = turns_of(share);
    EXPECT_EQ(PickNetwork(turns, exact, 0), best);
    const std::vector<Verdict> verdicts = VerdictsOf(turns, exact, 0);
    EXPECT_EQ(verdicts[1].turns, best == 1 ? 10u : 0u);
    EXPECT_EQ(PickKnown({verdicts[0].ns, verdicts[1].ns, verdicts[2].ns}, exact), best);
  }
}

// Equal networks hardly ever seem to differ, however few turns they had.
TEST(Schemas, FewTurnsDoNotConvinceOfNoGain) {
  int picked = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::exponential_distribution<double> disturbance(1);
    Turns turns(3);
    for (size_t i = 0; i < 9 + seed % 23; ++i) {
      for (size_t network = 0; network < 3; ++network) {
        turns.Add(network, 100 * (1 + disturbance(random)));
      }
    }
    picked += turns.IsFaster(1, 0, 0) ? 1 : 0;
  }
  EXPECT_LE(picked, 20);
}

TEST(Schemas, DifferencesAreInStepsAndRelative) {
  Graph graph;
  graph.tensors.resize(2);
  graph.tensors[0].quantization = PerTensor(0.5f, 10);
  graph.tensors[1].type = Type::kFloat32;
  graph.outputs = {0, 1};
  const auto real = [](float value) {
    std::vector<uint8_t> bytes(sizeof(value));
    std::memcpy(bytes.data(), &value, sizeof(value));
    return bytes;
  };
  const std::vector<std::vector<uint8_t>> expected = {{14, 10}, real(2)};
  EXPECT_EQ(DifferenceOf(graph, expected, expected).relative, 0);
  const std::vector<std::vector<uint8_t>> outputs = {{14, 7}, real(2)};
  const Difference difference = DifferenceOf(graph, expected, outputs);
  EXPECT_TRUE(difference.measured);
  EXPECT_EQ(difference.steps, 3);
  EXPECT_NEAR(difference.relative, 1.5 / std::sqrt(8.0), 1e-12);
  const std::vector<std::vector<uint8_t>> unknown = {{14, 10}, real(NAN)};
  EXPECT_GT(DifferenceOf(graph, expected, unknown).relative, 0.5);
}

// A plan with these layers in float32, and what a run by it gives.
Plan FloatPlan(const Graph& graph, const std::vector<size_t>& layers) {
  Plan plan;
  plan.digest = DigestOf(graph);
  plan.machine = ThisMachine();
  for (const size_t layer : layers) {
    LayerPlan& made = plan.layers.emplace_back();
    made.layer = layer;
    made.operator_name = NameOf(graph.layers[layer].op);
    made.chosen.converted = true;
  }
  return plan;
}

TEST(Schemas, APlanRewritesTheNetwork) {
  const Graph graph = MakeNetwork();
  Plan plan = FloatPlan(graph, {1, 3});
  plan.layers[0].chosen.routine = "cpu:float32/gemm";
  plan.layers[1].chosen.routine = "cpu:float32/gemm";
  plan.adapters = 4;
  plan.difference = {true, 1, 0.01};
  plan.networks = {{"mixed", 5, 6, 7}};
  const Result<Plan> read = ParsePlan(ToJson(plan));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ToJson(*read), ToJson(plan));
  EXPECT_TRUE(read->layers[0].chosen.converted);
  EXPECT_EQ(read->networks[0].bytes, 7u);
  const Result<Replay> replay = ReplayOf(*read, graph, {});
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  EXPECT_TRUE(replay->warnings.empty()) << replay->warnings[0];
  EXPECT_EQ(replay->converted_layers, (std::vector<size_t>{1, 3}));
  const Result<Model> model = Model::Prepare(replay->graph, {.routines = replay->choices});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->layers().size(), 8u);
  EXPECT_EQ(model->layers()[2].routine, "cpu:float32/gemm");
  const std::vector<int8_t> expected = RunOnce(graph);
  const std::vector<int8_t> outputs = RunOnce(replay->graph, {.routines = replay->choices});
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(expected[i], outputs[i], 1);
}

TEST(Schemas, WhatDoesNotFitComputesWithIntegers) {
  const Graph graph = MakeNetwork();
  Plan plan = FloatPlan(graph, {1, 3});
  plan.layers[0].chosen.routine = "cpu:float32/magic";
  plan.layers[1].chosen.routine = "cpu:float32/gemm";
  const Result<Replay> replay = ReplayOf(plan, graph, {});
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  ASSERT_EQ(replay->warnings.size(), 1u);
  EXPECT_NE(replay->warnings[0].find("CONV_2D"), std::string::npos);
  EXPECT_NE(replay->warnings[0].find("cpu:float32/magic"), std::string::npos);
  EXPECT_EQ(replay->converted_layers, std::vector<size_t>{3});
  EXPECT_TRUE(Model::Prepare(replay->graph, {.routines = replay->choices}).ok());
}

// A network of two convolutions whose inputs may have any size.
Graph MakeConvolutions(int size) {
  Random random(9);
  Builder b("convolutions");
  const Value x = b.Input("x", Type::kInt8, {1, size, size, 16}, PerTensor(0.02f, 3));
  const Value first =
      b.Conv2D(x, Int8Weights(b, random, {32, 3, 3, 16}, 0, 32), kNoBias, {}, PerTensor(0.3f, 2));
  b.Output(
      b.Conv2D(first, Int8Weights(b, random, {8, 1, 1, 32}, 0, 8), kNoBias, {}, PerTensor(1.5f, 2)),
      "y");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

// Models by a plan with layers in float32 take other sizes of their inputs: the bits are those of
// the larger network with the same layers in float32.
TEST(Schemas, ModelsByPlansAreResized) {
  const Graph graph = MakeConvolutions(12);
  Plan plan = FloatPlan(graph, {0, 1});
  plan.layers[0].chosen.routine = "cpu:float32/gemm";
  plan.layers[1].chosen.routine = "cpu:float32/gemm";
  const Result<Replay> replay = ReplayOf(plan, graph, {});
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  Result<Model> model = Model::Prepare(replay->graph, {.routines = replay->choices});
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::vector<Shape> larger = {{1, 20, 20, 16}};
  const Status resized = model->Resize(larger);
  ASSERT_TRUE(resized.ok()) << resized.message();
  EXPECT_EQ(model->layers()[1].routine, "cpu:float32/gemm");
  Random random(11);
  std::vector<int8_t> x(size_t{20} * 20 * 16);
  for (int8_t& element : x) element = static_cast<int8_t>(random.Element(Type::kInt8));
  std::vector<int8_t> y(size_t{18} * 18 * 8);
  const InputBuffer in[] = {MakeInput(x)};
  const OutputBuffer out[] = {MakeOutput(y)};
  const Status status = model->Run(in, out);
  ASSERT_TRUE(status.ok()) << status.message();
  const std::vector<size_t> both = {0, 1};
  const Result<FloatRewrite> large = ComputeInFloat(MakeConvolutions(20), both);
  ASSERT_TRUE(large.ok()) << large.status().message();
  EXPECT_EQ(y, RunOnce(large->graph));
  EXPECT_NE(y, RunOnce(MakeConvolutions(20)));
}

TEST(Schemas, AnOldPlanIsRead) {
  const Graph graph = MakeNetwork();
  Plan plan = FloatPlan(graph, {1});
  plan.layers[0].chosen = {"cpu:qint8/gemm-unpacked", "scalar", 1, 400};
  std::string text = ToJson(plan);
  const auto drop = [&](const std::string& from, const std::string& to) {
    const size_t begin = text.find(from);
    const size_t end = text.find(to, begin);
    ASSERT_NE(end, text.npos) << from;
    text.erase(begin, end - begin);
  };
  drop("\"schema\"", "\"chosen\"");
  drop("\"adapters\"", "\"layers\"");
  text.replace(text.find("plan-2"), 6, "plan-1");
  const Result<Plan> read = ParsePlan(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Result<Replay> replay = ReplayOf(*read, graph, {});
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  EXPECT_TRUE(replay->warnings.empty());
  EXPECT_EQ(RunOnce(replay->graph, {.routines = replay->choices}), RunOnce(graph));
}

TEST(Schemas, TuningInBothKeepsItsWord) {
  const Graph graph = MakeNetwork();
  for (const int threads : {1, 2}) {
    TuneOptions options = {.budget = kPlenty, .allow_float32 = true};
    options.prepare.threads = threads;
    const Result<Tuning> tuning = Tune(graph, options);
    ASSERT_TRUE(tuning.ok()) << tuning.status().message();
    const Plan& plan = tuning->plan;
    ASSERT_FALSE(plan.networks.empty());
    EXPECT_EQ(plan.networks[0].name, "untuned");
    bool convertible = false;
    for (const LayerReport& layer : tuning->layers) {
      EXPECT_TRUE(layer.convertible);
      for (const TimedWay& way : layer.ways) {
        convertible = convertible || way.converted;
        EXPECT_GT(way.ns, 0) << layer.label << way.routine;
      }
    }
    EXPECT_TRUE(convertible);
    const Result<Replay> replay = ReplayOf(plan, graph, options.prepare);
    ASSERT_TRUE(replay.ok()) << replay.status().message();
    EXPECT_TRUE(replay->warnings.empty());
    EXPECT_EQ(plan.difference.measured, !replay->converted_layers.empty());
    PrepareOptions prepare = options.prepare;
    prepare.routines = replay->choices;
    const std::vector<int8_t> outputs = RunOnce(replay->graph, prepare);
    // The integers saturate, so float32 is compared with float32.
    const Result<FloatRewrite> rewritten = ComputeInFloat(graph, replay->converted_layers);
    ASSERT_TRUE(rewritten.ok()) << rewritten.status().message();
    const std::vector<int8_t> expected = RunOnce(rewritten->graph);
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(expected[i], outputs[i], 1);
  }
}

// A network of float32 has no exact ways. If bounded ones are allowed, all are tried, and the plan
// says what the chosen ones change.
TEST(Schemas, FloatLayersTakeOtherRoutinesIfThatIsAllowed) {
  Random random(5);
  Builder b("float32");
  std::vector<float> weights(size_t{9} * 16 * 16);
  for (float& w : weights) w = static_cast<float>(random.Int(-100, 100)) / 64;
  const Value x = b.Input("x", Type::kFloat32, {1, 20, 20, 16}, {});
  b.Output(b.Conv2D(x, b.Const<float>("w", weights, {16, 3, 3, 16}), kNoBias,
                    {.padding = Padding::Same()}, {}),
           "y");
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const std::string winograd = "cpu:float32/winograd";
  for (const bool allowed : {false, true}) {
    const Result<Tuning> tuning = Tune(*graph, {.budget = kPlenty, .allow_float32 = allowed});
    ASSERT_TRUE(tuning.ok()) << tuning.status().message();
    bool is_tried = false;
    bool has_blocks = false;  // a parameter that changes no bit
    for (const TimedWay& way : tuning->layers[0].ways) {
      is_tried = is_tried || way.routine == winograd;
      has_blocks = has_blocks || way.routine == "cpu:float32/gemm?rows_of_block=96";
    }
    EXPECT_EQ(is_tried, allowed);
    EXPECT_TRUE(has_blocks);
    EXPECT_TRUE(allowed || !tuning->plan.difference.measured);
    bool differs = false;
    for (const LayerPlan& layer : tuning->plan.layers) {
      differs = differs || layer.chosen.routine.find("/gemm") == std::string::npos;
    }
    EXPECT_TRUE(!differs || tuning->plan.difference.measured);
    EXPECT_LT(tuning->plan.difference.relative, 1e-5);
  }
}

// Differences add up; a layer whose difference nobody knows is exact.
TEST(Schemas, DifferencesStandAgainstTime) {
  const Graph graph = MakeNetwork();
  std::vector<LayerReport> reports = MakeReports(graph, {1e9, 1e9, 1e9, 1e9}, {5e8, 5e8, 4e8, 5e8});
  reports[0].difference = {true, 1, 0.01};
  reports[1].difference = {true, 1, 0.02};
  reports[3].difference = {true, 1, 0.04};
  const NetworkProblem network =
      MakeProblem(OtherForm::Float32(graph), reports, AdapterTimes(), true, Resource::kDifference);
  const Result<Tradeoffs> tradeoffs = SelectTradeoffs(network.problem);
  ASSERT_TRUE(tradeoffs.ok()) << tradeoffs.status().message();
  using Ways = std::vector<size_t>;
  const auto within = [&](double difference) {
    const Result<Selection> selection =
        FastestWithin(*tradeoffs, 0, std::llround(difference * kDifferenceUnits));
    return selection.ok() ? WaysOf(network, *selection) : Ways();
  };
  EXPECT_EQ(within(1), (Ways{1, 1, 0, 1}));
  EXPECT_EQ(within(0.07), (Ways{1, 1, 0, 1}));
  EXPECT_EQ(within(0.0699), (Ways{1, 1, 0, 0}));  // all gain the same
  EXPECT_EQ(within(0.03), (Ways{1, 1, 0, 0}));
  EXPECT_EQ(within(0.0099), (Ways{0, 0, 0, 0}));
}

TEST(Schemas, ALimitOfDifferencesIsKept) {
  const Graph graph = MakeNetwork();
  for (const double most : {0.0, 1e-3, 1e-2, 1.0}) {
    TuneOptions options = {.budget = kPlenty, .allow_float32 = true};
    options.prepare.kernel = "scalar";  // by which float32 is faster
    options.max_difference = most;
    const Result<Tuning> tuning = Tune(graph, options);
    ASSERT_TRUE(tuning.ok()) << tuning.status().message();
    EXPECT_LE(tuning->plan.difference.relative, most);
    ASSERT_FALSE(tuning->accuracy.empty());
    EXPECT_EQ(tuning->accuracy.back().difference, 0);
    for (size_t i = 1; i < tuning->accuracy.size(); ++i) {
      EXPECT_LT(tuning->accuracy[i].difference, tuning->accuracy[i - 1].difference);
    }
    double sum = 0;
    for (const LayerPlan& layer : tuning->plan.layers) sum += layer.difference.relative;
    EXPECT_LE(sum, most + 1e-8);
    const Result<Replay> replay = ReplayOf(tuning->plan, graph, options.prepare);
    ASSERT_TRUE(replay.ok()) << replay.status().message();
    EXPECT_EQ(tuning->plan.difference.measured, !replay->converted_layers.empty());
  }
}

// By the sums of layers whose numbers are given: the fastest within both limits, not within one.
TEST(Schemas, BothLimitsStandAgainstTime) {
  const Graph graph = MakeNetwork();
  std::vector<LayerReport> reports = MakeReports(graph, {1e9, 1e9, 1e9, 1e9}, {5e8, 5e8, 4e8, 5e8});
  reports[0].difference = {true, 1, 0.01};
  reports[1].difference = {true, 1, 0.02};
  reports[3].difference = {true, 1, 0.04};
  // A large way of integers, too.
  reports[1].ways.push_back({"cpu:qint8/large", "", 0, 7e8, 30});
  const NetworkProblem network =
      MakeProblem(OtherForm::Float32(graph), reports, AdapterTimes(), true, Resource::kBoth);
  const auto within = [&](int64_t bytes, double difference) {
    const int64_t units = std::llround(difference * kDifferenceUnits);
    const Result<Tradeoffs> tradeoffs =
        SelectTradeoffs(network.problem, {.max_bytes = bytes, .max_difference = units});
    EXPECT_TRUE(tradeoffs.ok()) << tradeoffs.status().message();
    const Result<Selection> selection = FastestWithin(*tradeoffs, bytes, units);
    return selection.ok() ? WaysOf(network, *selection) : std::vector<size_t>();
  };
  using Ways = std::vector<size_t>;
  EXPECT_EQ(within(1000, 1), (Ways{1, 1, 0, 1}));
  EXPECT_EQ(within(1000, 0.02), (Ways{1, 2, 0, 0}));
  EXPECT_EQ(within(70, 0.02), (Ways{1, 0, 0, 0}));
  EXPECT_EQ(within(60, 1), (Ways{0, 2, 0, 0}));
  EXPECT_EQ(within(1000, 0), (Ways{0, 2, 0, 0}));
  EXPECT_EQ(within(40, 1), (Ways{0, 0, 0, 0}));
}

// A clock that moves by itself, so that the speed of the machine matters little.
TEST(Schemas, BothLimitsAreKept) {
  const Graph graph = MakeNetwork();
  for (const double most : {0.0, 1e-2, 1.0}) {
    std::chrono::nanoseconds now{0};
    TuneOptions options = {.budget = std::chrono::seconds(10), .allow_float32 = true};
    options.clock = [&] { return now += std::chrono::milliseconds(1); };
    options.prepare.kernel = "scalar";
    const Result<Tuning> any = Tune(graph, options);
    ASSERT_TRUE(any.ok()) << any.status().message();
    options.max_difference = most;
    options.memory_bytes = any->plan.networks[0].bytes - 1;
    const Result<Tuning> tuning = Tune(graph, options);
    ASSERT_TRUE(tuning.ok()) << tuning.status().message();
    EXPECT_FALSE(tuning->tradeoffs.empty());
    EXPECT_FALSE(tuning->accuracy.empty());
    EXPECT_LE(tuning->plan.difference.relative, most);
    const Result<Replay> replay = ReplayOf(tuning->plan, graph, options.prepare);
    ASSERT_TRUE(replay.ok()) << replay.status().message();
    PrepareOptions prepare = options.prepare;
    prepare.routines = replay->choices;
    const Result<Model> model = Model::Prepare(replay->graph, prepare);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_LE(model->constant_bytes() + model->arena_bytes(), options.memory_bytes);
    options.memory_bytes = 1000;
    EXPECT_EQ(Tune(graph, options).status().code(), StatusCode::kUnsupported);
  }
}

// Differences are those of the inputs that are given: where all outputs saturate, there are none.
TEST(Schemas, DifferencesAreOfTheInputsThatAreGiven) {
  const Graph graph = MakeNetwork();
  TuneOptions options = {.budget = kPlenty, .allow_float32 = true};
  options.inputs = {std::vector<uint8_t>(12 * 12 * 16, 3)};  // the zero point: all is 0
  const Result<Tuning> tuning = Tune(graph, options);
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  size_t measured = 0;
  for (const LayerReport& layer : tuning->layers) {
    measured += layer.difference.measured ? 1 : 0;
    EXPECT_EQ(layer.difference.relative, 0) << layer.label;
  }
  EXPECT_GT(measured + tuning->layers.size(), 0u);
  options.inputs = {std::vector<uint8_t>(5)};
  EXPECT_NE(Tune(graph, options).status().message().find("input 0 has 5 bytes"), std::string::npos);
  options.inputs = {{}, {}};
  EXPECT_NE(Tune(graph, options).status().message().find("more inputs"), std::string::npos);
}

TEST(Schemas, ALimitOfMemoryIsKept) {
  const Graph graph = MakeNetwork();
  TuneOptions options = {.budget = kPlenty};
  const Result<Tuning> any = Tune(graph, options);
  ASSERT_TRUE(any.ok()) << any.status().message();
  ASSERT_GT(any->tradeoffs.size(), 1u);
  const size_t untuned = any->plan.networks[0].bytes;
  // Less than the untuned network takes.
  options.memory_bytes = untuned - 1;
  const Result<Tuning> limited = Tune(graph, options);
  ASSERT_TRUE(limited.ok()) << limited.status().message();
  ASSERT_FALSE(limited->plan.layers.empty());
  const Result<Replay> replay = ReplayOf(limited->plan, graph, {});
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  const Result<Model> model = Model::Prepare(replay->graph, {.routines = replay->choices});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_LE(model->constant_bytes() + model->arena_bytes(), options.memory_bytes);
  EXPECT_EQ(RunOnce(replay->graph, {.routines = replay->choices}), RunOnce(graph));
  options.memory_bytes = 1000;
  const Status status = Tune(graph, options).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("1000 bytes: the least was"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace intaglio::nn::tune
