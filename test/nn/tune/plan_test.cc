// Plans as text and as choices.
#include "intaglio/nn/tune/plan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/test/nn/tune/network.h"

namespace intaglio::nn::tune {
namespace {

// The convolution of the network is computed by another routine than without a plan.
Plan MakePlan(const Graph& graph) {
  Plan plan;
  plan.model = "tuned \x1b[2J\xff";
  plan.digest = DigestOf(graph);
  plan.machine = ThisMachine();
  plan.untuned_ns = 1234.5;
  plan.tuned_ns = 1000;
  plan.predicted_ns = 990;
  plan.layers.push_back({1,
                         "CONV_2D #1",
                         "CONV_2D",
                         {"cpu:qint8/gemm-unpacked", "scalar", 1, 400},
                         {"cpu:qint8/gemm", plan.machine.kernels.front(), 0, 600},
                         0.01});
  return plan;
}

std::string MessageOf(const std::string& text) {
  const Result<Plan> plan = ParsePlan(text);
  return plan.ok() ? "" : plan.status().message();
}

// The text of a good plan, after one replacement.
std::string With(const std::string& from, const std::string& to) {
  std::string text = ToJson(MakePlan(MakeNetwork()));
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

TEST(Plan, IsReadAsItWasWritten) {
  const Plan plan = MakePlan(MakeNetwork());
  const std::string text = ToJson(plan);
  const Result<Plan> read = ParsePlan(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->digest, plan.digest);
  EXPECT_EQ(read->machine, plan.machine);
  EXPECT_EQ(read->threads, 1);
  EXPECT_EQ(read->untuned_ns, 1234.5);
  ASSERT_EQ(read->layers.size(), 1u);
  EXPECT_EQ(read->layers[0].layer, 1u);
  EXPECT_EQ(read->layers[0].chosen.routine, "cpu:qint8/gemm-unpacked");
  EXPECT_EQ(read->layers[0].chosen.kernel, "scalar");
  EXPECT_EQ(read->layers[0].chosen.threads, 1);
  EXPECT_EQ(read->layers[0].chosen.ns, 400);
  EXPECT_EQ(read->layers[0].untuned.ns, 600);
  EXPECT_EQ(read->layers[0].noise, 0.01);
  // What is no text in UTF-8 is replaced once, and control characters are escaped.
  EXPECT_EQ(ToJson(*read), text);
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f)) << int{c};
}

TEST(Plan, SaysWhatIsWrongWithItsText) {
  EXPECT_EQ(MessageOf(""), "the plan is no JSON");
  EXPECT_EQ(MessageOf("[]"), "the plan's text is no object");
  EXPECT_EQ(MessageOf("{}"), "the plan's text lacks 'format'");
  EXPECT_EQ(MessageOf(With("intaglio-plan-2", "intaglio-plan-4")),
            "the plan's format is 'intaglio-plan-4', not 'intaglio-plan-2'");
  EXPECT_EQ(MessageOf(With("\"digest\": \"", "\"digest\": \"x")),
            "the plan's text 'digest' is no hexadecimal number");
  EXPECT_EQ(MessageOf(With("\"layer\": 1", "\"layer\": -1")),
            "the plan's entry 0 'layer' is no number from 0 to 2147483647");
  EXPECT_EQ(MessageOf(With("\"threads\": 1,\n    \"ns\"", "\"threads\": 1e9,\n    \"ns\"")),
            "the plan's entry 0, 'chosen', 'threads' is no number from 0 to 65536");
  EXPECT_EQ(MessageOf(With("\"noise\": 0.01", "\"noise\": -1")),
            "the plan's entry 0 'noise' is no number from 0 to 10^18");
  EXPECT_EQ(MessageOf(With("\"kernel\": \"scalar\"", "\"kernel\": 7")),
            "the plan's entry 0, 'chosen', 'kernel' is no text");
  EXPECT_EQ(MessageOf(std::string(100000, '[')), "the plan is no JSON");
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  EXPECT_NE(MessageOf("{\"format\": " + deep + "}"), "");
  EXPECT_NE(MessageOf(std::string(kMaxPlanBytes + 1, ' ')).find("at most"), std::string::npos);
}

TEST(Plan, CutOrChangedTextIsAnErrorOrAPlan) {
  const std::string text = ToJson(MakePlan(MakeNetwork()));
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    EXPECT_EQ(MessageOf(text.substr(0, i)), "the plan is no JSON") << i;
  }
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = text;
    for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    const Result<Plan> plan = ParsePlan(changed);
    if (plan.ok()) continue;
    EXPECT_NE(plan.status().message().find("the plan"), std::string::npos);
  }
}

// The last layer of the network as a convolution, whose product takes a kernel and one thread.
Plan MakePlanOfAChildnet(const Graph& graph) {
  Plan plan = MakePlan(graph);
  LayerPlan& layer = plan.layers.emplace_back(plan.layers[0]);
  layer.layer = 3;
  layer.label = "FULLY_CONNECTED #3";
  layer.operator_name = "FULLY_CONNECTED";
  layer.chosen = {"cpu:qint8/conv[1=cpu:qint8/gemm?rows_part_of_l2=4@scalar*1,2=]", "", 0, 300};
  layer.chosen.layers = {{1, "CONV_2D", "cpu:qint8/gemm?rows_part_of_l2=4", "scalar", 1, 280},
                         {2, "RESHAPE", "", "", 0, 1}};
  return plan;
}

std::string OfAChildnetWith(const std::string& from, const std::string& to) {
  std::string text = ToJson(MakePlanOfAChildnet(MakeNetwork()));
  const size_t at = text.rfind(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

TEST(Plan, HasTheLayersOfAChildnet) {
  const Graph graph = MakeNetwork();
  const Plan plan = MakePlanOfAChildnet(graph);
  const std::string text = ToJson(plan);
  EXPECT_EQ(text.find("conv["), text.npos);
  const Result<Plan> read = ParsePlan(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->layers[1].chosen.routine, plan.layers[1].chosen.routine);
  EXPECT_EQ(ToJson(*read), text);
  PrepareOptions options;
  const Result<Replay> replay = ReplayOf(*read, graph, options);
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  EXPECT_TRUE(replay->warnings.empty()) << replay->warnings[0];
  options.routines = replay->choices;
  const Result<Model> model = Model::Prepare(graph, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->layers()[3].routine, plan.layers[1].chosen.routine);
  EXPECT_EQ(RunOnce(graph, options), RunOnce(graph));
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    EXPECT_EQ(MessageOf(text.substr(0, i)), "the plan is no JSON") << i;
  }
  std::mt19937 random(5);
  for (int i = 0; i < 10000; ++i) {
    std::string changed = text;
    for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    const Result<Plan> other = ParsePlan(changed);
    if (other.ok()) (void)ReplayOf(*other, graph, {});
  }
}

TEST(Plan, SaysWhatIsWrongWithAChildnet) {
  const std::string where = "the plan's entry 1, 'chosen', layer 1 ";
  EXPECT_EQ(MessageOf(OfAChildnetWith("\"layer\": 2", "\"layer\": -2")),
            where + "'layer' is no number from 0 to 2147483647");
  EXPECT_EQ(MessageOf(OfAChildnetWith("\"operator\": \"RESHAPE\",", "")),
            where + "lacks 'operator'");
  for (const char* const name : {"a[", "a]", "a,2=b", "a@b", "a*1"}) {
    EXPECT_EQ(MessageOf(OfAChildnetWith("?rows_part_of_l2=4", name)),
              "the plan's entry 1, 'chosen', layer 0 is computed by no name");
  }
  EXPECT_EQ(MessageOf(OfAChildnetWith("cpu:qint8/conv", "cpu:qint8/conv[2=]")),
            "the plan's entry 1, 'chosen', has layers twice");
  const auto warning_of = [](const std::string& from, const std::string& to) {
    const Result<Plan> plan = ParsePlan(OfAChildnetWith(from, to));
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    if (!plan.ok()) return std::string();
    const Result<Replay> replay = ReplayOf(*plan, MakeNetwork(), {});
    EXPECT_TRUE(replay.ok()) << replay.status().message();
    EXPECT_EQ(replay->choices.size(), 1u);
    EXPECT_EQ(replay->warnings.size(), 1u);
    return replay->warnings.empty() ? "" : replay->warnings[0];
  };
  const auto expect = [&](const std::string& from, const std::string& to, const std::string& part) {
    const std::string warning = warning_of(from, to);
    EXPECT_NE(warning.find(part), std::string::npos) << warning;
  };
  expect("\"layer\": 2", "\"layer\": 3",
         "there is no layer 3 of the childnet 'cpu:qint8/conv', or it comes twice");
  expect("\"layer\": 2", "\"layer\": 1", "there is no layer 1 of");
  expect("cpu:qint8/gemm?rows", "cpu:qint8/magic?rows",
         "layer 1 of the childnet 'cpu:qint8/conv': there is no routine 'cpu:qint8/magic");
  expect("rows_part_of_l2=4", "rows_part_of_l2=5", "there is no routine 'cpu:qint8/gemm?rows");
  expect("cpu:qint8/conv", "cpu:qint8/gemm", "'cpu:qint8/gemm' is no childnet");
  expect("cpu:qint8/conv", "cpu:qint8/net", "there is no routine 'cpu:qint8/net");
  Plan elsewhere = MakePlanOfAChildnet(MakeNetwork());
  elsewhere.layers[1].chosen.routine = "cpu:qint8/conv[1=cpu:qint8/gemm@mmx]";
  const Result<Replay> replay = ReplayOf(elsewhere, MakeNetwork(), {});
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  ASSERT_EQ(replay->warnings.size(), 1u);
  EXPECT_NE(replay->warnings[0].find(
                "layer 1 of the childnet 'cpu:qint8/conv': the kernel 'mmx' is not usable here"),
            std::string::npos)
      << replay->warnings[0];
}

// A childnet that has so many levels, each of which is the way of layer 1 of the level before.
std::vector<ChildWay> MakeLevels(int levels) {
  if (levels == 0) return {};
  std::vector<ChildWay> inside = MakeLevels(levels - 1);
  std::string name = "cpu:qint8/level" + std::to_string(levels);
  if (!inside.empty()) {
    name = WithChildChoices(name, {{1, {inside[0].routine, inside[0].kernel, inside[0].threads}}});
  }
  return {{1, "CONV_2D", name, levels == 1 ? "scalar" : "", levels, 10.0 * levels, inside}};
}

Plan MakePlanOfLevels(int levels) {
  Plan plan = MakePlanOfAChildnet(MakeNetwork());
  TimedWay& way = plan.layers[1].chosen;
  way.layers = MakeLevels(levels);
  const ChildWay& first = way.layers[0];
  way.routine =
      WithChildChoices("cpu:qint8/conv", {{1, {first.routine, first.kernel, first.threads}}});
  return plan;
}

TEST(Plan, ChildnetsAreReadAsDeepAsTheyMayBe) {
  for (int levels = 1; levels <= kDeepestChildnet; ++levels) {
    const Plan plan = MakePlanOfLevels(levels);
    const std::string text = ToJson(plan);
    const Result<Plan> read = ParsePlan(text);
    ASSERT_TRUE(read.ok()) << levels << " " << read.status().message();
    EXPECT_EQ(read->layers[1].chosen.routine, plan.layers[1].chosen.routine);
    EXPECT_EQ(ToJson(*read), text);
    const std::vector<ChildWay>* inside = &read->layers[1].chosen.layers;
    for (int level = levels; level > 0; --level) {
      ASSERT_EQ(inside->size(), 1u);
      EXPECT_EQ(inside->front().ns, 10.0 * level);
      inside = &inside->front().layers;
    }
    EXPECT_TRUE(inside->empty());
    EXPECT_TRUE(ChildChoicesIn(plan.layers[1].chosen.routine).ok());
  }
  const Plan deeper = MakePlanOfLevels(kDeepestChildnet + 1);
  EXPECT_EQ(MessageOf(ToJson(deeper)), "the plan is nested more than 12 levels deep");
  const Status status = ChildChoicesIn(deeper.layers[1].chosen.routine).status();
  EXPECT_NE(status.message().find("nested more than 4 deep"), std::string::npos)
      << status.message();
}

TEST(Plan, IsReplayed) {
  const Graph graph = MakeNetwork();
  const Plan plan = MakePlan(graph);
  PrepareOptions options;
  const Result<Replay> replay = ReplayOf(plan, graph, options);
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  EXPECT_TRUE(replay->warnings.empty());
  options.routines = replay->choices;
  const Result<Model> model = Model::Prepare(graph, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->layers()[1].routine, "cpu:qint8/gemm-unpacked");
  EXPECT_EQ(model->layers()[3].routine, "cpu:qint8/gemm");
  EXPECT_EQ(RunOnce(graph, options), RunOnce(graph));
}

TEST(Plan, OfAnotherNetworkIsRefused) {
  const Graph graph = MakeNetwork();
  const Plan plan = MakePlan(graph);
  EXPECT_EQ(ReplayOf(plan, MakeNetwork(8), {}).status().message(),
            "the plan was made for another network, 'tuned \\x1b[2J\\xff'");
  Plan beyond = plan;
  beyond.layers[0].layer = 4;
  EXPECT_EQ(ReplayOf(beyond, graph, {}).status().message(),
            "the plan has a layer 4, but the network has 4");
  Plan twice = plan;
  twice.layers.push_back(twice.layers[0]);
  EXPECT_EQ(ReplayOf(twice, graph, {}).status().message(),
            "the plan has layer " + std::to_string(plan.layers[0].layer) + " twice");
  Plan other = plan;
  other.layers[0].layer = 3;
  EXPECT_EQ(ReplayOf(other, graph, {}).status().message(),
            "layer 3 of the plan is a CONV_2D, but the network has a FULLY_CONNECTED there");
}

TEST(Plan, WarnsOfWhatDoesNotFitHere) {
  const Graph graph = MakeNetwork();
  Plan plan = MakePlan(graph);
  plan.machine.cpu = "Another";
  plan.threads = 3;
  const auto replay_with = [&](const std::string& routine, const std::string& kernel) {
    TimedWay& way = plan.layers[0].chosen;
    if (!routine.empty()) way.routine = routine;
    if (!kernel.empty()) way.kernel = kernel;
    return ReplayOf(plan, graph, {});
  };
  const Result<Replay> fits = replay_with("", "");
  ASSERT_TRUE(fits.ok()) << fits.status().message();
  EXPECT_EQ(fits->choices.size(), 1u);
  ASSERT_EQ(fits->warnings.size(), 2u);
  EXPECT_EQ(fits->warnings[0].find("the plan was made on another machine (Another, "), 0u);
  EXPECT_EQ(fits->warnings[1], "the plan was made for 3 threads, not for 1");
  const Result<Replay> kernel = replay_with("", "mmx");
  ASSERT_TRUE(kernel.ok() && kernel->warnings.size() == 3) << kernel.status().message();
  EXPECT_TRUE(kernel->choices.empty());
  EXPECT_NE(kernel->warnings[2].find("the kernel 'mmx' is not usable here"), std::string::npos);
  const Result<Replay> routine = replay_with("cpu:qint8/magic", "scalar");
  ASSERT_TRUE(routine.ok() && routine->warnings.size() == 3) << routine.status().message();
  EXPECT_NE(routine->warnings[2].find("there is no routine 'cpu:qint8/magic'"), std::string::npos);
}

TEST(Digest, ChangesWithTheNetwork) {
  const Graph graph = MakeNetwork();
  EXPECT_EQ(DigestOf(graph), DigestOf(MakeNetwork()));
  EXPECT_NE(DigestOf(graph), DigestOf(MakeNetwork(8)));
  Graph other = graph;
  other.tensors[0].quantization.scales[0] *= 2;
  EXPECT_NE(DigestOf(graph), DigestOf(other));
  other = graph;
  other.layers.pop_back();
  EXPECT_NE(DigestOf(graph), DigestOf(other));
}

TEST(Digest, KnowsEveryByteAndTheOldNumbers) {
  std::vector<uint8_t> bytes(40);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37);
  Graph graph;
  graph.tensors.resize(1);
  graph.tensors[0].shape = {40};
  graph.tensors[0].constant = true;
  graph.tensors[0].data = bytes.data();
  graph.tensors[0].data_bytes = bytes.size();
  const uint64_t digest = DigestOf(graph);
  EXPECT_TRUE(HasDigest(graph, digest));
  EXPECT_TRUE(HasDigest(graph, 0xccabe8adb73e532eu));  // as plans had it first
  EXPECT_FALSE(HasDigest(graph, digest + 1));
  for (uint8_t& byte : bytes) {
    byte ^= 0x80;
    EXPECT_NE(DigestOf(graph), digest) << &byte - bytes.data();
    byte ^= 0x80;
  }
}

}  // namespace
}  // namespace intaglio::nn::tune
