// The float32 forms of layers of whole models: each layer alone, and all together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/graph/alone.h"
#include "intaglio/nn/passes/compute_in_float.h"
#include "intaglio/test/nn/raw_run.h"
#include "intaglio/test/nn/shared_models.h"

namespace intaglio::nn {
namespace {

using test::RawTensors;

// A layer as a graph whose inputs are what it reads.
Graph OnlyLayer(const Graph& graph, size_t layer) {
  Graph alone = Alone(graph, graph.layers[layer]);
  for (const TensorId id : alone.layers[0].inputs) {
    if (id != kNoTensor && !alone.tensors[static_cast<size_t>(id)].constant) {
      alone.inputs.push_back(id);
    }
  }
  return alone;
}

double Stored(const Tensor& tensor, const std::vector<uint8_t>& bytes, size_t i) {
  if (tensor.type == Type::kInt8) return static_cast<int8_t>(bytes[i]);
  if (tensor.type == Type::kUInt8) return bytes[i];
  float value = 0;
  if (tensor.type == Type::kFloat32) std::memcpy(&value, &bytes[i * sizeof(value)], sizeof(value));
  return static_cast<double>(value);
}

// The most by which outputs differ, in steps of quantized ones; wider integers do not count.
double Distance(const Graph& graph, const RawTensors& a, const RawTensors& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const Tensor& tensor = graph.tensors[static_cast<size_t>(graph.outputs[i])];
    if (tensor.type != Type::kFloat32 && SizeOf(tensor.type) > 1) continue;
    for (size_t k = 0; k < a[i].size() / SizeOf(tensor.type); ++k) {
      most = std::max(most, std::abs(Stored(tensor, a[i], k) - Stored(tensor, b[i], k)));
    }
  }
  return most;
}

// How much larger the outputs are than what they differ by, in decibels. Wider integers, which are
// labels, must be the same in nine of ten places.
double Quality(const Graph& graph, const RawTensors& a, const RawTensors& b) {
  double signal = 1e-20;
  double noise = 1e-30;
  for (size_t i = 0; i < a.size(); ++i) {
    const Tensor& tensor = graph.tensors[static_cast<size_t>(graph.outputs[i])];
    if (tensor.type != Type::kFloat32 && SizeOf(tensor.type) > 1) {
      size_t same = 0;
      for (size_t k = 0; k < a[i].size(); ++k) same += a[i][k] == b[i][k] ? 1 : 0;
      EXPECT_GT(same * 10, a[i].size() * 9);
      continue;
    }
    const int zero = tensor.quantization.quantized() ? tensor.quantization.zero_points[0] : 0;
    for (size_t k = 0; k < a[i].size() / SizeOf(tensor.type); ++k) {
      const double value = Stored(tensor, a[i], k) - zero;
      const double difference = Stored(tensor, a[i], k) - Stored(tensor, b[i], k);
      signal += value * value;
      noise += difference * difference;
    }
  }
  return 10 * std::log10(signal / noise);
}

void CheckAdapters(const FloatRewrite& rewrite, const std::string& name) {
  std::set<std::pair<TensorId, bool>> seen;
  for (const LayerOrigin& origin : rewrite.origins) {
    if (origin.layer != LayerOrigin::kAdapter) continue;
    EXPECT_TRUE(seen.insert({origin.tensor, origin.to_float}).second) << name << origin.tensor;
  }
}

TEST(FloatModels, EachLayerAloneIsAStepAway) {
  const auto files = test::SharedModelFiles();
  if (files.empty()) GTEST_SKIP() << test::NoSharedModels();
  std::map<std::string, int> counts;
  for (const auto& file : files) {
    const Result<Graph> graph = LoadTflite(file.string());
    if (!graph.ok()) continue;
    for (const size_t i : ListFloatLayers(*graph)) {
      const Graph alone = OnlyLayer(*graph, i);
      const std::vector<size_t> only = {0};
      const Result<FloatRewrite> rewrite = ComputeInFloat(alone, only);
      ASSERT_TRUE(rewrite.ok()) << rewrite.status().message();
      const RawTensors inputs = test::RandomInputs(alone, static_cast<unsigned>(i));
      const double distance =
          Distance(alone, test::RunGraph(alone, inputs), test::RunGraph(rewrite->graph, inputs));
      EXPECT_LE(distance, 1) << file.filename() << " " << LabelOf(*graph, i);
      ++counts[NameOf(graph->layers[i].op)];
    }
  }
  for (const auto& [name, count] : counts) std::printf("%s %d\n", name.c_str(), count);
  EXPECT_GT(counts["CONV_2D"], 50);
  EXPECT_GT(counts["DEPTHWISE_CONV_2D"], 20);
  EXPECT_GT(counts["FULLY_CONNECTED"], 5);
  EXPECT_GT(counts["ADD"], 5);
}

TEST(FloatModels, WholeNetworksAreNear) {
  const auto files = test::SharedModelFiles();
  if (files.empty()) GTEST_SKIP() << test::NoSharedModels();
  int checked = 0;
  for (const auto& file : files) {
    const Result<Graph> graph = LoadTflite(file.string());
    if (!graph.ok()) continue;
    const std::vector<size_t> layers = ListFloatLayers(*graph);
    if (layers.size() < 5) continue;
    const Result<FloatRewrite> all = ComputeInFloat(*graph, layers);
    ASSERT_TRUE(all.ok()) << all.status().message();
    CheckAdapters(*all, file.filename().string());
    std::vector<size_t> every_second;
    for (size_t k = 0; k < layers.size(); k += 2) every_second.push_back(layers[k]);
    const Result<FloatRewrite> half = ComputeInFloat(*graph, every_second);
    ASSERT_TRUE(half.ok()) << half.status().message();
    CheckAdapters(*half, file.filename().string());
    const RawTensors inputs = test::RandomInputs(*graph, 3);
    const RawTensors expected = test::RunGraph(*graph, inputs);
    const double quality = Quality(*graph, expected, test::RunGraph(all->graph, inputs));
    const double of_half = Quality(*graph, expected, test::RunGraph(half->graph, inputs));
    std::printf("%s: %zu of %zu layers, %.1f dB, half of them %.1f dB\n",
                file.filename().string().c_str(), layers.size(), graph->layers.size(), quality,
                of_half);
    EXPECT_GT(quality, 10) << file.filename();
    EXPECT_GT(of_half, 10) << file.filename();
    ++checked;
  }
  EXPECT_GT(checked, 8);
}

}  // namespace
}  // namespace intaglio::nn
