// The tuner with the backend for GPUs, on a device that the host plays (test/cuda/host_device.cc).
#include <gtest/gtest.h>

#include <string>

#include "intaglio/nn/cuda/backend.h"
#include "intaglio/nn/runtime/backend.h"
#include "intaglio/nn/tune/device_ways.h"
#include "intaglio/nn/tune/tune.h"
#include "intaglio/test/nn/tune/network.h"

namespace intaglio::nn::tune {
namespace {

TEST(TunedCuda, EveryLayerIsMeasuredThereAndHasTheSameBits) {
  const Graph graph = MakeNetwork();
  TuneOptions options;
  const auto backend = cuda::MakeBackend(nullptr);
  ASSERT_TRUE(backend.ok()) << backend.status().message();
  options.prepare.device = *backend;
  options.budget = kPlenty;
  const Result<Tuning> tuning = Tune(graph, options);
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  bool has_network = false;
  for (const NetworkTime& network : tuning->plan.networks) {
    has_network = has_network || network.name == "cuda" || network.name == "cpu and cuda";
  }
  EXPECT_TRUE(has_network);
  // A plan that takes the device wherever it can.
  Plan plan = tuning->plan;
  plan.device = DeviceName(options.prepare);
  EXPECT_EQ(plan.device, "cuda: the host");
  plan.layers.clear();
  for (size_t i = 0; i < tuning->layers.size(); ++i) {
    const LayerReport& report = tuning->layers[i];
    for (const TimedWay& way : report.ways) {
      if (!RunsOnDevice(way.routine)) continue;
      EXPECT_GT(way.ns, 0);
      plan.layers.push_back({i, report.label, report.operator_name, way, report.ways[0]});
    }
  }
  ASSERT_EQ(plan.layers.size(), graph.layers.size());
  const Result<Plan> read = ParsePlan(ToJson(plan));
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Result<Replay> replay = ReplayOf(*read, graph, options.prepare);
  ASSERT_TRUE(replay.ok()) << replay.status().message();
  EXPECT_TRUE(replay->warnings.empty()) << replay->warnings[0];
  PrepareOptions prepare = options.prepare;
  prepare.routines = replay->choices;
  EXPECT_EQ(RunOnce(replay->graph, prepare), RunOnce(graph));
}

}  // namespace
}  // namespace intaglio::nn::tune
