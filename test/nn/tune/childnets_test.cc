// Which ways of the layers of childnets are selected, by times that are given.
#include "intaglio/nn/tune/childnets.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/routine/childnet.h"
#include "intaglio/nn/tune/choose.h"
#include "intaglio/nn/tune/profile.h"
#include "intaglio/nn/tune/timings.h"
#include "intaglio/nn/tune/tune.h"
#include "intaglio/test/nn/tune/network.h"

namespace intaglio::nn::tune {
namespace {

using std::chrono::nanoseconds;

// Layers whose ways take known times, of which two in five are disturbed.
class ScriptedStage final : public Stage {
 public:
  ScriptedStage(std::vector<std::vector<double>> ways, unsigned seed)
      : ways_(std::move(ways)), random_(seed) {}

  Status Run(size_t variant, std::span<nanoseconds> times) override {
    for (size_t i = 0; i < ways_.size(); ++i) {
      std::uniform_real_distribution<double> share(0, 1);
      const double slower = share(random_) < 0.4 ? 3 * share(random_) : 0.004 * share(random_);
      const double ns = ways_[i][variant < ways_[i].size() ? variant : 0] * (1 + slower);
      times[i] = nanoseconds(static_cast<int64_t>(ns));
      now_ += times[i];
    }
    return {};
  }
  Status RunControl(std::span<nanoseconds> times) override { return Run(0, times); }
  nanoseconds Now() override { return now_; }

 private:
  std::vector<std::vector<double>> ways_;
  std::mt19937 random_;
  nanoseconds now_{0};
};

const char* const kNames[] = {"cpu:qint8/default", "cpu:qint8/second", "cpu:qint8/third"};

std::vector<LayerReport> Measured(const std::vector<std::vector<double>>& ways, unsigned seed) {
  ScriptedStage stage(ways, seed);
  std::vector<size_t> counts;
  for (const auto& of_layer : ways) counts.push_back(of_layer.size());
  const Result<std::vector<LayerProfile>> profiles =
      Profile(stage, counts, {.budget = std::chrono::hours(1)});
  EXPECT_TRUE(profiles.ok());
  std::vector<LayerReport> reports;
  for (size_t i = 0; i < ways.size(); ++i) {
    LayerReport& report = reports.emplace_back();
    report.operator_name = "L" + std::to_string(i);
    report.noise = (*profiles)[i].noise;
    for (size_t w = 0; w < ways[i].size(); ++w) {
      report.ways.push_back({kNames[w], "", w == 2 ? 1 : 0, (*profiles)[i].ways[w].ns});
    }
  }
  return reports;
}

// The graph of a dense layer's childnet: three layers.
Graph MakeChild() {
  const Graph graph = MakeNetwork();
  Result<Graph> child = ChildnetNamed(LayerView(graph, 3), "cpu:qint8/conv");
  EXPECT_TRUE(child.ok()) << child.status().message();
  return std::move(*child);
}

ChildProfile MakeProfile(const std::string& name, const std::vector<std::vector<double>>& ways,
                         unsigned seed) {
  return {name, MakeChild(), Measured(ways, seed), {}};
}

std::string Selected(const ChildProfile& profile) {
  const Result<TunedChildnet> tuned = SelectChildnet(profile);
  EXPECT_TRUE(tuned.ok()) << tuned.status().message();
  return tuned.ok() ? tuned->routine : "";
}

TEST(ChildnetTuning, TheFastestWayOfEachLayerIsSelected) {
  const std::vector<std::vector<double>> ways = {
      {1000}, {90000, 60000, 120000}, {2000, 3000, 1000}};
  int found = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    found += Selected(MakeProfile("cpu:qint8/net", ways, seed)) ==
             "cpu:qint8/net[1=cpu:qint8/second,2=cpu:qint8/third*1]";
  }
  EXPECT_GE(found, 99);
  const ChildProfile slower =
      MakeProfile("cpu:qint8/net", {{1000}, {50000, 60000, 120000}, {1000, 3000, 2000}}, 1);
  EXPECT_EQ(Selected(slower), "cpu:qint8/net");
}

// The childnet of layer 1 is taken if its layers together are faster than any other way.
TEST(ChildnetTuning, ChildnetsInChildnetsAreSelectedInnermostFirst) {
  for (const double inner_ns : {20000., 40000.}) {
    ChildProfile profile = MakeProfile("cpu:qint8/net", {{100}, {90000, 60000}, {200}}, 1);
    ChildProfile inner = MakeProfile("cpu:qint8/inner",
                                     {{10000}, {inner_ns * 3, inner_ns * 2, inner_ns}, {10000}}, 2);
    profile.childnets.push_back({1, inner});
    const Result<TunedChildnet> tuned = SelectChildnet(profile);
    ASSERT_TRUE(tuned.ok()) << tuned.status().message();
    ASSERT_EQ(tuned->layers.size(), 1u);
    if (inner_ns == 20000.) {
      EXPECT_EQ(tuned->routine, "cpu:qint8/net[1=cpu:qint8/inner[1=cpu:qint8/third*1]]");
      ASSERT_EQ(tuned->layers[0].layers.size(), 1u);
      EXPECT_EQ(tuned->layers[0].layers[0].operator_name, "L1");
      EXPECT_NEAR(tuned->layers[0].ns, 40000, 400);
    } else {
      EXPECT_EQ(tuned->routine, "cpu:qint8/net[1=cpu:qint8/second]");
      EXPECT_TRUE(tuned->layers[0].layers.empty());
    }
  }
}

// The time of the ways whose operator and routine begin so, of layers with these shapes.
struct WayTime {
  std::string way;
  double ns;
  std::string shapes = "";
};

// A file of timings without what is known of whole networks, and with other times.
std::string WithTimes(const std::string& text, const std::vector<WayTime>& times) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream words(line);
    for (std::string word; words >> word;) fields.push_back(word);
    if (fields.size() == 14) {
      const std::string& operator_name = fields[5];
      if (operator_name.find("NETWORK") != line.npos || operator_name == "UNDECIDED" ||
          operator_name == "TUNED") {
        continue;
      }
      fields[11] = "1000";
      for (const auto& [way, ns, shapes] : times) {
        const bool is_shape = fields[6].rfind(shapes, 0) == 0;
        if (is_shape && (operator_name + " " + fields[8]).rfind(way, 0) == 0) {
          fields[11] = std::to_string(static_cast<int64_t>(ns));
        }
      }
    }
    std::string joined;
    for (const std::string& field : fields) joined += (joined.empty() ? "" : " ") + field;
    result += joined + "\n";
  }
  return result;
}

// All times of layers are known, so nothing depends on how long anything takes here.
TEST(ChildnetTuning, AChildnetIsTakenWhereItIsFaster) {
  const Graph graph = MakeNetwork();
  const auto tune = [&](Timings& timings) {
    TuneOptions options = {.budget = kPlenty, .timings = &timings};
    Result<Tuning> tuning = Tune(graph, options);
    EXPECT_TRUE(tuning.ok()) << tuning.status().message();
    return std::move(*tuning);
  };
  Timings measured;
  (void)tune(measured);
  const std::string inside_name = "cpu:qint8/conv[1=cpu:qint8/gemm?rows_part_of_l2=16@";
  const auto is_inside = [&](const TimedWay& way) {
    return way.routine.rfind(inside_name, 0) == 0;
  };
  const std::vector<WayTime> inside = {{"CONV_2D ", 50000},
                                       {"CONV_2D cpu:qint8/gemm?rows_part_of_l2=16", 30000}};
  // The way with the faster convolution is new: it is measured.
  Timings with_way;
  ASSERT_TRUE(with_way.Read(WithTimes(measured.ToText(), inside)).ok());
  const Tuning tried = tune(with_way);
  bool is_tried = false;
  for (const TimedWay& way : tried.layers[3].ways) is_tried = is_tried || is_inside(way);
  EXPECT_TRUE(is_tried);
  for (const bool is_faster : {true, false}) {
    std::vector<WayTime> times = inside;
    times.push_back({"FULLY_CONNECTED ", 40000});
    times.push_back({"FULLY_CONNECTED " + inside_name, is_faster ? 31000. : 45000.});
    Timings timings;
    ASSERT_TRUE(timings.Read(WithTimes(with_way.ToText(), times)).ok());
    const Tuning tuning = tune(timings);
    const LayerReport& report = tuning.layers[3];
    const TimedWay& fastest = report.ways[FastestOf(report, false)];
    EXPECT_EQ(is_inside(fastest), is_faster) << fastest.routine;
    if (!is_faster) continue;
    ASSERT_EQ(fastest.layers.size(), 1u);
    EXPECT_EQ(fastest.layers[0].layer, 1u);
    EXPECT_EQ(fastest.layers[0].operator_name, "CONV_2D");
    EXPECT_EQ(fastest.layers[0].ns, 30000);
    EXPECT_EQ(tuning.plan.networks.size(), 2u);  // it is compared with the untuned one
  }
}

// Two layers whose childnets have the same name have their own times inside.
TEST(ChildnetTuning, EachLayerHasTheTimesOfItsOwnChildnet) {
  Random random(3);
  Builder b("dense");
  const Value x = b.Input("x", Type::kInt8, {1, 96}, PerTensor(0.02f, 3));
  const Value middle =
      b.FullyConnected(x, Int8Weights(b, random, {64, 96}, 0, 64), kNoBias, {}, PerTensor(0.3f, 2));
  b.Output(b.FullyConnected(middle, Int8Weights(b, random, {32, 64}, 0, 32), kNoBias, {},
                            PerTensor(0.5f, 1)),
           "y");
  const Result<Graph> graph = b.Finish();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto tune = [&](Timings& timings) {
    Result<Tuning> tuning = Tune(*graph, {.budget = kPlenty, .timings = &timings});
    EXPECT_TRUE(tuning.ok()) << tuning.status().message();
    return std::move(*tuning);
  };
  const std::string part = "cpu:qint8/gemm?rows_part_of_l2=16";
  const std::vector<WayTime> times = {{"CONV_2D ", 50000},
                                      {"CONV_2D " + part, 30000, "int8[1,1,1,96]"},
                                      {"CONV_2D " + part, 20000, "int8[1,1,1,64]"}};
  Timings measured;
  (void)tune(measured);
  for (int i = 0; i < 2; ++i) {  // they are measured once, and then known
    Timings timings;
    ASSERT_TRUE(timings.Read(WithTimes(measured.ToText(), times)).ok());
    const Tuning tuning = tune(timings);
    std::vector<double> inside;
    for (const LayerReport& report : tuning.layers) {
      for (const TimedWay& way : report.ways) {
        if (way.routine.rfind("cpu:qint8/conv[1=" + part + "@", 0) != 0) continue;
        ASSERT_EQ(way.layers.size(), 1u);
        inside.push_back(way.layers[0].ns);
      }
    }
    EXPECT_EQ(inside, (std::vector<double>{30000, 20000}));
    measured = std::move(timings);
  }
}

}  // namespace
}  // namespace intaglio::nn::tune
