// What was read from .tflite files, written as .onnx and read again computes nearly the same: the
// format cannot say how TFLite rounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/nn/formats/onnx/writer.h"
#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/graph/alone.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/ops/golden_file.h"
#include "intaglio/test/nn/raw_run.h"
#include "intaglio/test/nn/shared_models.h"

namespace intaglio::nn {
namespace {

using test::RawTensors;

template <class T>
std::vector<double> Numbers(const std::vector<uint8_t>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return {values.begin(), values.end()};
}

std::vector<double> Numbers(Type type, const std::vector<uint8_t>& bytes) {
  switch (type) {
    case Type::kInt8:
      return Numbers<int8_t>(bytes);
    case Type::kInt16:
      return Numbers<int16_t>(bytes);
    case Type::kUInt16:
      return Numbers<uint16_t>(bytes);
    case Type::kInt32:
      return Numbers<int32_t>(bytes);
    case Type::kInt64:
      return Numbers<int64_t>(bytes);
    case Type::kFloat32:
      return Numbers<float>(bytes);
    default:
      return Numbers<uint8_t>(bytes);
  }
}

// The greatest difference: in steps, or of float32 relative to the greatest number.
double DifferenceOf(Type type, const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  const std::vector<double> x = Numbers(type, a);
  const std::vector<double> y = Numbers(type, b);
  double most = 0;
  double size = 1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    // TFLite has rules of its own for numbers that are not finite.
    if (std::isfinite(x[i]) && std::isfinite(y[i])) most = std::max(most, std::fabs(x[i] - y[i]));
  }
  for (const double value : y)
    size = std::isfinite(value) ? std::max(size, std::fabs(value)) : size;
  return type == Type::kFloat32 ? most / size : most;
}

struct Outcome {
  std::string error;
  std::vector<RawTensors> outputs;
  std::vector<Type> types;
};

Outcome RunAll(const Graph& graph, const std::vector<RawTensors>& runs) {
  Outcome outcome;
  Result<Model> model = Model::Prepare(graph);
  if (!model.ok()) return {model.status().message(), {}, {}};
  for (size_t i = 0; i < model->output_count(); ++i) outcome.types.push_back(model->output(i).type);
  for (const RawTensors& run : runs) {
    outcome.error = test::RunRaw(*model, run, outcome.outputs.emplace_back());
    if (!outcome.error.empty()) break;
  }
  return outcome;
}

// What became of a graph as an .onnx file.
struct Converted {
  std::string refused;        // why there is no file, or empty
  double difference = 0;      // the greatest of all runs
  bool same_greatest = true;  // each output has its greatest number at the same place
};

size_t PlaceOfGreatest(Type type, const std::vector<uint8_t>& bytes) {
  const std::vector<double> numbers = Numbers(type, bytes);
  return static_cast<size_t>(std::max_element(numbers.begin(), numbers.end()) - numbers.begin());
}

Converted Convert(const Graph& graph, const std::vector<RawTensors>& runs) {
  Converted converted;
  const Result<std::vector<uint8_t>> written = ExportOnnx(graph);
  if (!written.ok()) return {written.status().message()};
  const Result<Graph> again = ImportOnnx(*written, "again");
  EXPECT_TRUE(again.ok()) << again.status().message();
  const Outcome expected = RunAll(graph, runs);
  if (!again.ok() || !expected.error.empty()) return converted;
  const Outcome actual = RunAll(*again, runs);
  EXPECT_EQ(actual.error, "");
  EXPECT_EQ(actual.types, expected.types);
  if (!actual.error.empty()) return converted;
  for (size_t run = 0; run < runs.size(); ++run) {
    for (size_t i = 0; i < expected.types.size(); ++i) {
      const Type type = expected.types[i];
      const std::vector<uint8_t>& a = actual.outputs[run][i];
      const std::vector<uint8_t>& e = expected.outputs[run][i];
      converted.difference = std::max(converted.difference, DifferenceOf(type, a, e));
      converted.same_greatest =
          converted.same_greatest && PlaceOfGreatest(type, a) == PlaceOfGreatest(type, e);
    }
  }
  return converted;
}

// Cases in which TFLite computes something else than real numbers would give: by tables of int16,
// with inputs that it quantizes as they come, or the mean of nothing.
bool IsFarFromReal(const std::string& name) {
  for (const char* const part : {"int16", "[0, 3]", "float32[50, 8],int8[6, 8]"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return false;
}

class GoldenAsOnnx : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Families, GoldenAsOnnx, testing::ValuesIn(test::GoldenFiles()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return std::filesystem::path(info.param).stem().string();
                         });

// A step of integers; of float32, what inputs that TFLite quantizes as they come may lose.
double BoundFor(const Graph& graph) {
  constexpr double kFloatBound = 0.02;
  const bool is_float = graph.tensors[static_cast<size_t>(graph.outputs[0])].type == Type::kFloat32;
  return is_float ? kFloatBound : 1;
}

// Returns whether the case was written.
bool ExpectNearlyTheSame(const test::GoldenCase& c, bool is_special) {
  const Result<Graph> graph = ImportTflite(c.model, nullptr, "case");
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status().message();
    return false;
  }
  std::vector<RawTensors> runs;
  for (const test::GoldenRun& run : c.runs) runs.push_back(run.inputs);
  const Converted converted = Convert(*graph, runs);
  if (!converted.refused.empty()) {
    EXPECT_NE(converted.refused.find(" #"), std::string::npos) << converted.refused;
    return false;
  }
  EXPECT_LE(converted.difference,
            is_special || IsFarFromReal(c.name) ? HUGE_VAL : BoundFor(*graph));
  return true;
}

TEST_P(GoldenAsOnnx, ComputesNearlyTheSame) {
  // Numbers whose squares are infinite, and the like.
  const bool is_special = std::filesystem::path(GetParam()).stem() == "special";
  int written = 0;
  int all = 0;
  for (const test::GoldenCase& c : test::ReadGoldenFile(GetParam())) {
    if (!c.error.empty()) continue;
    SCOPED_TRACE(c.name);
    written += ExpectNearlyTheSame(c, is_special) ? 1 : 0;
    ++all;
  }
  std::cout << written << " of " << all << " cases are written\n";
}

// A layer as a model whose inputs are the tensors that the layer does not know.
Graph AsModel(const Graph& graph, const Layer& layer) {
  Graph alone = Alone(graph, layer);
  for (const TensorId id : alone.layers[0].inputs) {
    if (id == kNoTensor) continue;
    const Tensor& tensor = alone.tensors[static_cast<size_t>(id)];
    if (!tensor.constant && !tensor.variable) alone.inputs.push_back(id);
  }
  return alone;
}

// Every layer alone, so that steps do not add up.
TEST(SharedAsOnnx, LayersComputeNearlyTheSame) {
  const std::vector<std::filesystem::path> files = test::SharedModelFiles();
  if (files.empty()) GTEST_SKIP() << test::NoSharedModels();
  int written = 0;
  for (const std::filesystem::path& file : files) {
    const Result<Graph> graph = LoadTflite(file.string());
    if (!graph.ok()) continue;
    for (size_t i = 0; i < graph->layers.size(); ++i) {
      SCOPED_TRACE(file.filename().string() + ": " + LabelOf(*graph, i));
      const Graph layer = AsModel(*graph, graph->layers[i]);
      if (layer.outputs.empty() || !Validate(layer).ok()) continue;
      const Converted converted = Convert(layer, {test::RandomInputs(layer, 1)});
      if (!converted.refused.empty()) continue;
      EXPECT_LE(converted.difference, BoundFor(layer));
      ++written;
    }
  }
  std::cout << written << " layers are written\n";
  EXPECT_GT(written, 400);
}

// Whole networks. Noise is no image, so the steps of deep ones add up.
TEST(SharedAsOnnx, NetworksComputeNearlyTheSame) {
  constexpr double kSteps = 25;  // of a probability, of which 256 are 1
  const std::vector<std::filesystem::path> files = test::SharedModelFiles();
  if (files.empty()) GTEST_SKIP() << test::NoSharedModels();
  int written = 0;
  int exact = 0;
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    const Result<Graph> graph = LoadTflite(file.string());
    if (!graph.ok()) continue;
    const Converted converted = Convert(*graph, {test::RandomInputs(*graph, 1)});
    if (!converted.refused.empty()) continue;
    ++written;
    exact += converted.difference == 0 ? 1 : 0;
    EXPECT_LE(converted.difference, kSteps);
    EXPECT_TRUE(converted.same_greatest);
  }
  std::cout << written << " networks are written, " << exact << " with the same bits\n";
  EXPECT_GT(written, 60) << "of " << files.size() << " models";
}

}  // namespace
}  // namespace intaglio::nn
