// Times as text, their keys, and a tuning that knows them.
#include "intaglio/nn/tune/timings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "intaglio/nn/tune/timing_key.h"
#include "intaglio/nn/tune/tune.h"
#include "intaglio/test/nn/tune/network.h"

namespace intaglio::nn::tune {
namespace {

const std::string kKey = "cpu 2 hash 0.1 CONV_2D int8[1]>int8[1] digest cpu:qint8/gemm avx2 1/1";
const std::string kOther = "cpu 2 hash 0.1 ADD int8[1];int8[1]>int8[1] digest cpu:qint8/add - 1/1";

std::string Line(const std::string& key, const std::string& rest) {
  return "intaglio-timing-1 " + key + " " + rest + "\n";
}

std::string ErrorOf(const std::string& text) {
  Timings timings;
  const std::string message = timings.Read(text).message();
  EXPECT_EQ(timings.size() > 0, message.empty() && !text.empty()) << text;
  return message;
}

TEST(Timings, MergeAsLinesDo) {
  Timings timings;
  ASSERT_TRUE(timings.Read(Line(kOther, "70 8 3") + Line(kKey, "50 16 5")).ok());
  ASSERT_TRUE(timings.Read(Line(kKey, "40 16 2") + Line(kOther, "90 8 9")).ok());
  ASSERT_TRUE(timings.Read("").ok());
  EXPECT_EQ(timings.size(), 2u);
  EXPECT_EQ(timings.Find(kKey)->ns, 40);
  EXPECT_EQ(timings.Find(kKey)->bytes, 16u);
  EXPECT_EQ(timings.Find(kKey)->count, 2u);
  EXPECT_EQ(timings.Find(kOther)->ns, 70);
  EXPECT_EQ(timings.Find("none"), nullptr);
  const std::string text = timings.ToText();
  EXPECT_EQ(text, Line(kOther, "70 8 3") + Line(kKey, "40 16 2"));  // in order
  // Whatever order the files have.
  const std::string lines[] = {Line(kKey, "40 16 2"), Line(kKey, "40 16 9"), Line(kKey, "41 16 1")};
  for (const auto& [a, b, c] : {std::tuple(0, 1, 2), std::tuple(2, 1, 0), std::tuple(1, 2, 0)}) {
    Timings merged;
    ASSERT_TRUE(merged.Read(lines[a] + lines[b] + lines[c]).ok());
    EXPECT_EQ(merged.ToText(), lines[1]);
  }
}

TEST(Timings, SaysWhichLineIsWrong) {
  const std::string good = Line(kKey, "50 16 5");
  EXPECT_EQ(ErrorOf(good), "");
  EXPECT_EQ(ErrorOf(good + "garbage\n"),
            "line 2 of the timings does not begin with 'intaglio-timing-1'");
  EXPECT_EQ(ErrorOf("\n"), "line 1 of the timings does not begin with 'intaglio-timing-1'");
  EXPECT_EQ(ErrorOf(good + Line(kKey, "50 16")), "line 2 of the timings has not 14 fields");
  EXPECT_EQ(ErrorOf(Line(kKey, "50 16 5 5")), "line 1 of the timings has not 14 fields");
  for (const char* const ns : {"0", "-1", "nan", "inf", "1e99", "5x", "1e999"}) {
    EXPECT_EQ(ErrorOf(Line(kKey, std::string(ns) + " 16 5")),
              "line 1 of the timings has a time that is no number of nanoseconds");
  }
  EXPECT_EQ(ErrorOf(Line(kKey, "50 -1 5")), "line 1 of the timings has no number of bytes");
  EXPECT_EQ(ErrorOf(Line(kKey, "50 16 0")), "line 1 of the timings has no count");
  EXPECT_NE(ErrorOf(Line(kKey + "\t", "50 16 5")).find("no plain text"), std::string::npos);
  EXPECT_EQ(ErrorOf(good.substr(0, good.size() - 1)), "line 1 of the timings is cut off");
  EXPECT_NE(ErrorOf(std::string(kMaxTimingsBytes + 1, 'x')).find("at most"), std::string::npos);
}

TEST(Timings, CutOrChangedTextIsAnErrorOrTimings) {
  const std::string text = Line(kOther, "70 8 3") + Line(kKey, "40.5 16 2");
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i - 1] == '\n') continue;  // whole lines
    EXPECT_NE(ErrorOf(text.substr(0, i)).find("is cut off"), std::string::npos) << i;
  }
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = text;
    for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    Timings timings;
    const Status status = timings.Read(changed);
    if (!status.ok()) {
      EXPECT_EQ(status.message().find("line "), 0u);
      continue;
    }
    Timings again;
    EXPECT_TRUE(again.Read(timings.ToText()).ok()) << changed;
    EXPECT_EQ(again.ToText(), timings.ToText());
  }
}

TEST(TimingKey, DiffersInWhatTimesDependOn) {
  const std::string machine = MachineKey();
  EXPECT_EQ(std::count(machine.begin(), machine.end(), ' '), 3);
  EXPECT_EQ(machine, MachineKey());
  Graph graph = MakeNetwork();
  const PrepareOptions options;
  const Result<Model> model = Model::Prepare(graph, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  LayerInfo info = model->layers()[1];
  std::set<std::string> keys;
  const auto add = [&](const LayerChoice& choice, const PrepareOptions& prepare) {
    const std::string key = LayerKey(graph, 1, info, choice, prepare);
    EXPECT_EQ(std::count(key.begin(), key.end(), ' '), 5) << key;
    EXPECT_TRUE(keys.insert(key).second) << key;
  };
  add({}, options);
  EXPECT_FALSE(keys.insert(LayerKey(graph, 1, info, {info.routine, info.kernel}, options)).second);
  add({.routine = "cpu:qint8/other"}, options);
  add({.kernel = "other"}, options);
  add({.threads = 1}, {.threads = 2});
  add({.threads = 2}, {.threads = 2});
  add({}, {.float_sums = FloatSums::kUnfused});
  // Parameters that no shape tells.
  const Conv2D convolution = *graph.layers[1].op.As<Conv2D>();
  for (const int part : {0, 1, 2, 3, 4}) {
    Conv2D other = convolution;
    if (part == 0) other.stride.width = 2;
    if (part == 1) other.dilation.height = 2;
    if (part == 2) other.padding = Padding::Explicit(0, 0, 0, 0);
    if (part == 3) other.padding = Padding::Explicit(0, 0, 1, 0);
    if (part == 4) other.activation = Activation::kRelu;
    graph.layers[1].op = other;
    add({}, options);
  }
  graph.layers[1].op = convolution;
  EXPECT_FALSE(keys.insert(LayerKey(graph, 1, info, {}, options)).second);
  info.macs /= 2;  // as another stride has it
  add({}, options);
  Tensor& x = graph.tensors[static_cast<size_t>(graph.layers[1].inputs[0])];
  x.shape[1] += 1;
  add({}, options);
  x.type = Type::kUInt8;
  add({}, options);
  x.quantization.zero_points[0] = 0;
  add({}, options);
}

TEST(TimingKey, HasNoCharacterThatEndsAFieldOrALine) {
  const Graph graph = MakeNetwork();
  const LayerInfo info = {.label = "", .operator_name = "", .routine = "a b\n%\xff", .kernel = ""};
  const std::string key = LayerKey(graph, 1, info, {}, {});
  EXPECT_NE(key.find(" a%20b%0A%25%FF - "), std::string::npos) << key;
}

// The second tuning measures nothing: its times are those of the first, to the nanosecond.
TEST(Timings, WhatIsKnownIsNotMeasuredAgain) {
  const Graph graph = MakeNetwork();
  for (const bool allow_float32 : {false, true}) {
    Timings timings;
    TuneOptions options = {.budget = kPlenty};
    options.prepare.threads = 2;
    options.allow_float32 = allow_float32;
    options.timings = &timings;
    const Result<Tuning> cold = Tune(graph, options);
    ASSERT_TRUE(cold.ok()) << cold.status().message();
    EXPECT_GT(timings.size(), 4u);
    // Through a file. Times that no machine has tell whether they are used.
    Timings read;
    ASSERT_TRUE(read.Read(timings.ToText()).ok());
    size_t at = 0;
    std::string text = timings.ToText();
    Timings known;
    for (double ns = 1e9; at < text.size(); ns += 1000) {
      const size_t end = text.find('\n', at);
      Timing timing{ns, 1, 1};
      std::string line = text.substr(at, end - at);
      for (int i = 0; i < 3; ++i) line.resize(line.rfind(' '));
      known.Add(line.substr(line.find(' ') + 1), timing);
      at = end + 1;
    }
    options.timings = &known;
    const size_t size = known.size();
    const Result<Tuning> warm = Tune(graph, options);
    ASSERT_TRUE(warm.ok()) << warm.status().message();
    for (const LayerReport& layer : warm->layers) {
      if (layer.ways.size() < 2) continue;
      for (const TimedWay& way : layer.ways) {
        if (way.threads > 0) continue;  // the fastest way may be another one now
        EXPECT_GE(way.ns, 1e9) << layer.label << " " << way.routine;
      }
    }
    EXPECT_GE(known.size(), size);
  }
}

}  // namespace
}  // namespace intaglio::nn::tune
