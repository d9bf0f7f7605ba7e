// Networks whose layers may run on a device that the host plays. Times follow a script.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "intaglio/nn/tune/choose.h"
#include "intaglio/nn/tune/device_ways.h"
#include "intaglio/nn/tune/known_times.h"
#include "intaglio/nn/tune/model_stage.h"
#include "intaglio/nn/tune/timing_key.h"
#include "intaglio/nn/tune/timings.h"
#include "intaglio/nn/tune/tune.h"
#include "intaglio/test/nn/played_device.h"
#include "intaglio/test/nn/tune/network.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

// Two inputs, two outputs, and a sum of two branches. Each layer but the sums is a table.
Graph MakeBranches() {
  Builder b("branches");
  const Quantization q = PerTensor(0.05f, 3);
  const Value x = b.Input("x", Type::kInt8, {1, 64}, q);
  const Value y = b.Input("y", Type::kInt8, {1, 64}, q);
  const Value first = b.Add(x, y, {}, q);
  const Value left = b.Relu(first, q);
  const Value right = b.Relu6(first, q);
  const Value sum = b.Add(left, right, {}, q);
  const Value wide = b.Relu(sum, PerTensor(0.1f, 1));
  b.Output(b.Tanh(wide), "tanh");
  b.Output(right, "right");
  Result<Graph> graph = b.Finish();
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

// What layers and copies take, in microseconds.
struct Script {
  double on_host = 100;
  std::vector<double> on_device;  // by layer
  double copy = 10;
};

// Tells what a script says: of layers by a file of times, of whole networks by its clock, on which
// a run takes the time of all layers on the host, unless the device does other work meanwhile.
class ScriptedTuning {
 public:
  ScriptedTuning(Graph graph, Script script) : graph_(std::move(graph)), script_(script) {
    device->accepts = [this](const Graph&, size_t layer) {
      return layer >= script_.on_device.size() || script_.on_device[layer] > 0;
    };
    options.prepare.device = device;
    options.budget = std::chrono::seconds(100);
    options.timings = &timings;
    options.clock = [this] {
      now_ += nanoseconds(static_cast<int64_t>(interval_));
      interval_ = AllOnHost();
      return now_;
    };
  }

  // Times of all ways are known, so nothing but whole networks is measured.
  Result<Tuning> Tune() {
    const Result<Model> model = Model::Prepare(graph_, options.prepare);
    EXPECT_TRUE(model.ok()) << model.status().message();
    KnownTimes known(&timings, options.prepare);
    const std::vector<Ways> on_host = RoutinesAndKernels(*model, options.prepare);
    const std::vector<Ways> on_device = WaysOnDevice(graph_, options.prepare, false);
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      for (const LayerChoice& way : on_host[i]) Add(known, *model, i, way, script_.on_host);
      for (const LayerChoice& way : on_device[i]) {
        Add(known, *model, i, way, script_.on_device[i]);
      }
      Add(known, *model, i, {.routine = kControl}, script_.on_host);
    }
    for (const Tensor& tensor : graph_.tensors) {
      const size_t bytes = *CountBytes(tensor.shape, tensor.type);
      for (const bool in : {false, true}) {
        known.AddNetwork(TransferKey(*device, bytes, in), {script_.copy * 1e3, 0, 9});
      }
    }
    device->on_copy = [this](size_t) { interval_ += script_.copy * 1e3; };
    device->on_layer = [this](size_t layer) {
      interval_ += (script_.on_device[layer] - script_.on_host) * 1e3;
    };
    return tune::Tune(graph_, options);
  }

  double AllOnHost() const {
    return script_.on_host * 1e3 * static_cast<double>(graph_.layers.size());
  }

  std::shared_ptr<PlayedDevice> device = std::make_shared<PlayedDevice>();
  Timings timings;
  TuneOptions options;

 private:
  static void Add(KnownTimes& known, const Model& model, size_t layer, const LayerChoice& way,
                  double us) {
    known.Add(model, layer, way, {us * 1e3, 0, 9});
  }

  Graph graph_;
  Script script_;
  nanoseconds now_{0};
  double interval_ = 0;
};

std::set<size_t> OnDevice(const Plan& plan) {
  std::set<size_t> layers;
  for (const LayerPlan& layer : plan.layers) {
    if (RunsOnDevice(layer.chosen.routine)) layers.insert(layer.layer);
  }
  return layers;
}

using Bytes = std::vector<std::vector<uint8_t>>;

Bytes ResultsOf(const Graph& graph, const PrepareOptions& options) {
  Result<Model> model = Model::Prepare(graph, options);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  RunBuffers buffers(*model);
  const Status status = buffers.Run(*model);
  EXPECT_TRUE(status.ok()) << status.message();
  return {buffers.outputs().begin(), buffers.outputs().end()};
}

Bytes Replayed(const Plan& plan, const Graph& graph, PrepareOptions options) {
  const Result<Plan> read = ParsePlan(ToJson(plan));
  EXPECT_TRUE(read.ok()) << read.status().message();
  if (!read.ok()) return {};
  const Result<Replay> replay = ReplayOf(*read, graph, options);
  EXPECT_TRUE(replay.ok()) << replay.status().message();
  EXPECT_TRUE(replay->warnings.empty()) << replay->warnings[0];
  options.routines = replay->choices;
  return ResultsOf(replay->graph, options);
}

// Tunes by a script, and says which layers run on the device. The replay has the host's bits.
std::set<size_t> Choose(const Graph& graph, const Script& script) {
  ScriptedTuning tuning(graph, script);
  const Result<Tuning> tuned = tuning.Tune();
  EXPECT_TRUE(tuned.ok()) << tuned.status().message();
  if (!tuned.ok()) return {};
  const std::set<size_t> layers = OnDevice(tuned->plan);
  EXPECT_EQ(tuned->plan.device, layers.empty() ? "" : "played: the host, played");
  EXPECT_EQ(Replayed(tuned->plan, graph, tuning.options.prepare), ResultsOf(graph, {}));
  return layers;
}

using Layers = std::set<size_t>;

TEST(TunedDevice, TakesWhatGainsMoreThanCopiesCost) {
  const Graph graph = MakeBranches();
  EXPECT_EQ(Choose(graph, {.on_device = {10, 10, 10, 10, 10, 10}}), (Layers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Choose(graph, {.on_device = {99, 99, 99, 99, 99, 99}}), Layers());
  // Copies to and from the device eat up the gain of each layer, not of all together.
  EXPECT_EQ(Choose(graph, {.on_device = {70, 70, 70, 70, 70, 70}, .copy = 20}),
            (Layers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Choose(graph, {.on_device = {70, 70, 70, 70, 70, 70}, .copy = 80}), Layers());
}

TEST(TunedDevice, TakesSections) {
  const Graph graph = MakeBranches();
  // A middle: layer 2 writes an output, too, so it comes back in any case.
  EXPECT_EQ(Choose(graph, {.on_device = {0, 20, 20, 20, 0, 0}}), (Layers{1, 2, 3}));
  // Two sections around a layer that the device lacks.
  EXPECT_EQ(Choose(graph, {.on_device = {20, 20, 20, 0, 20, 20}}), (Layers{0, 1, 2, 4, 5}));
  EXPECT_EQ(Choose(graph, {.on_device = {20, 0, 0, 0, 20, 20}}), (Layers{0, 4, 5}));
}

// The last layer gains less than its copies cost, so it is not taken, though the device could.
TEST(TunedDevice, LeavesWhatGainsLessThanItsCopiesCost) {
  const Script script = {.on_device = {0, 20, 20, 20, 0, 70}, .copy = 20};
  EXPECT_EQ(Choose(MakeBranches(), script), (Layers{1, 2, 3}));
  EXPECT_EQ(Choose(MakeBranches(), {.on_device = script.on_device, .copy = 5}),
            (Layers{1, 2, 3, 5}));
}

// A tensor that both branches read on the device is copied once.
TEST(TunedDevice, ReadersShareACopy) {
  const Graph graph = MakeBranches();
  const auto count = [&](double copy) {
    return Choose(graph, {.on_device = {0, 50, 50, 0, 0, 0}, .copy = copy});
  };
  // One copy there and two back cost less than 100 us; were there two there, they would not.
  EXPECT_EQ(count(30), (Layers{1, 2}));
  EXPECT_EQ(count(40), Layers());
}

TEST(TunedDevice, MeasuresWhatIsNotKnown) {
  const Graph graph = MakeNetwork();
  TuneOptions options;
  const auto device = std::make_shared<PlayedDevice>();
  options.prepare.device = device;
  options.budget = kPlenty;
  Timings timings;
  options.timings = &timings;
  const Result<Tuning> tuning = Tune(graph, options);
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  for (const LayerReport& layer : tuning->layers) {
    int on_device = 0;
    for (const TimedWay& way : layer.ways) {
      if (!RunsOnDevice(way.routine)) continue;
      ++on_device;
      EXPECT_GT(way.ns, 0);
      EXPECT_TRUE(way.kernel.empty());
      EXPECT_EQ(SchemaOf(way.routine), "played:qint8");
    }
    EXPECT_EQ(on_device, 1) << layer.operator_name;
  }
  EXPECT_EQ(Replayed(tuning->plan, graph, options.prepare), ResultsOf(graph, {}));
  // Keys of times have the hardware in them.
  const std::string text = timings.ToText();
  const size_t layer = text.find(" played:qint8/");
  ASSERT_NE(layer, text.npos);
  EXPECT_LT(text.find("the%20host,%20played", layer), text.find('\n', layer));
  EXPECT_NE(text.find("TO_DEVICE uint8["), text.npos);
  EXPECT_TRUE(Timings().Read(text).ok());
}

TEST(TunedDevice, AFailureIsAnErrorOfTheTuning) {
  const Graph graph = MakeNetwork();
  const auto device = std::make_shared<PlayedDevice>();
  TuneOptions options;
  options.prepare.device = device;
  options.budget = std::chrono::milliseconds(200);
  device->works_until_failure = 20;
  EXPECT_NE(Tune(graph, options).status().message().find("fell off the bus"), std::string::npos);
  device->works_until_failure = -1;
  // A layer that it refuses when it is prepared stays where it is.
  device->refuses_to_prepare = true;
  const Result<Tuning> tuning = Tune(graph, options);
  ASSERT_TRUE(tuning.ok()) << tuning.status().message();
  EXPECT_TRUE(OnDevice(tuning->plan).empty());
  device->refuses_memory = true;
  options.prepare.backend = device;
  EXPECT_EQ(Tune(graph, options).status().code(), StatusCode::kInvalidArgument);
}

// Layers of a plan run on the device that it was made for, or as without a plan.
TEST(TunedDevice, PlansNameTheDevice) {
  const Graph graph = MakeBranches();
  ScriptedTuning tuning(graph, {.on_device = {20, 20, 20, 0, 20, 20}});
  const Result<Tuning> tuned = tuning.Tune();
  ASSERT_TRUE(tuned.ok()) << tuned.status().message();
  Plan plan = tuned->plan;
  ASSERT_EQ(plan.layers.size(), 5u);
  const auto warnings = [&](const PrepareOptions& options) {
    const Result<Replay> replay = ReplayOf(plan, graph, options);
    EXPECT_TRUE(replay.ok()) << replay.status().message();
    PrepareOptions replayed = options;
    replayed.routines = replay->choices;
    EXPECT_EQ(ResultsOf(replay->graph, replayed), ResultsOf(graph, {}));
    return replay->warnings;
  };
  using Strings = std::vector<std::string>;
  EXPECT_EQ(warnings(tuning.options.prepare), Strings());
  EXPECT_EQ(warnings({}), Strings{"the plan was made for the device 'played: the host, played'; "
                                  "there is none here, so 5 layers run as without a plan"});
  const auto other = std::make_shared<PlayedDevice>();
  other->its_hardware = "another host";
  PrepareOptions options;
  options.device = other;
  EXPECT_EQ(warnings(options), Strings{"the plan was made for the device 'played: the host, "
                                       "played'; this one is 'played: another host'"});
  // What fits is kept.
  other->accepts = [](const Graph&, size_t layer) { return layer != 1; };
  EXPECT_EQ(warnings(options).size(), 2u);
  EXPECT_NE(warnings(options)[1].find("the device does not have it"), std::string::npos);
  plan.layers[0].chosen.routine = "other:qint8/add";
  EXPECT_NE(warnings(tuning.options.prepare)[0].find("1 layer runs as without a plan"),
            std::string::npos);
}

TEST(TunedDevice, LayersWithVariablesHaveNoWayThere) {
  Graph graph = MakeBranches();
  graph.tensors[static_cast<size_t>(graph.layers[0].inputs[1])].variable = true;
  PrepareOptions options;
  options.device = std::make_shared<PlayedDevice>();
  const std::vector<Ways> ways = WaysOnDevice(graph, options, false);
  EXPECT_TRUE(ways[0].empty());
  EXPECT_EQ(ways[1].size(), 1u);
  EXPECT_EQ(WhyNotOnDevice(graph, 0, "played:qint8/elementwise", options),
            "layers with variables stay on the CPU");
}

}  // namespace
}  // namespace intaglio::nn::tune
