// The tuner as a whole. What it finds depends on the machine; that it changes no bit does not.
#include "intaglio/nn/tune/tune.h"

#include <gtest/gtest.h>

#include <string>

#include "intaglio/nn/tune/ways.h"
#include "intaglio/test/nn/tune/network.h"

namespace intaglio::nn::tune {
namespace {

TEST(Tune, ItsPlanGivesTheSameBits) {
  const Graph graph = MakeNetwork();
  const std::vector<int8_t> expected = RunOnce(graph);
  for (const int threads : {1, 2}) {
    TuneOptions options = {.budget = kPlenty, .name = "tuned"};
    options.prepare.threads = threads;
    options.group_bytes = threads == 1 ? 1 : size_t{1} << 30;
    int shown = 0;
    options.progress = [&](const std::string&, double share) {
      ++shown;
      EXPECT_GE(share, 0);
      EXPECT_LE(share, 1);
    };
    const Result<Tuning> tuning = Tune(graph, options);
    ASSERT_TRUE(tuning.ok()) << tuning.status().message();
    EXPECT_GT(shown, 0);
    EXPECT_GT(tuning->plan.untuned_ns, 0);
    ASSERT_EQ(tuning->layers.size(), graph.layers.size());
    EXPECT_GT(tuning->layers[1].ways.size(), 1u);
    EXPECT_GT(tuning->layers[1].ways[0].ns, 0);
    const Result<Plan> read = ParsePlan(ToJson(tuning->plan));
    ASSERT_TRUE(read.ok()) << read.status().message();
    const Result<Replay> replay = ReplayOf(*read, graph, options.prepare);
    ASSERT_TRUE(replay.ok()) << replay.status().message();
    EXPECT_TRUE(replay->warnings.empty());
    PrepareOptions prepare = options.prepare;
    prepare.routines = replay->choices;
    EXPECT_EQ(RunOnce(graph, prepare), expected);
  }
}

// Every way of every layer, all that Tune may choose.
TEST(Tune, EveryVariantGivesTheSameBits) {
  const Graph graph = MakeNetwork();
  const std::vector<int8_t> expected = RunOnce(graph);
  PrepareOptions options = {.threads = 4};
  const Result<Model> model = Model::Prepare(graph, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  std::vector<Ways> ways = RoutinesAndKernels(*model, options);
  std::vector<LayerChoice> chosen;
  for (const Ways& of_layer : ways) chosen.push_back(of_layer.back());
  for (const std::vector<Ways>& tried : {ways, FewerThreads(chosen, 4)}) {
    ASSERT_GT(CountVariants(tried), 1u);
    for (size_t v = 0; v < CountVariants(tried); ++v) {
      options.routines = ChoicesOf(tried, v);
      EXPECT_EQ(RunOnce(graph, options), expected) << v;
    }
  }
}

TEST(Tune, AKernelThatIsNamedIsKept) {
  const Graph graph = MakeNetwork();
  PrepareOptions options = {.kernel = "scalar"};
  const Result<Model> model = Model::Prepare(graph, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const Ways& ways : RoutinesAndKernels(*model, options)) {
    for (const LayerChoice& way : ways) EXPECT_EQ(way.kernel, "");
  }
}

TEST(Tune, GivesTheErrorOfPreparing) {
  TuneOptions options;
  options.prepare.kernel = "mmx";
  EXPECT_NE(Tune(MakeNetwork(), options).status().message().find("mmx"), std::string::npos);
}

}  // namespace
}  // namespace intaglio::nn::tune
