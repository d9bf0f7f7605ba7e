// Whole models against what TFLite's reference kernels gave for them, bit for bit, or within a
// bound where their numbers are float32: over the real
// inputs that come with the models and over seeded random ones; and the labels that the models'
// authors state.
//
// The models are not part of the repository. They are looked for in $INTAGLIO_SHARED, or else in
// the folder `shared` beside the source tree; without them these tests say that they were skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/reference_file.h"
#include "intaglio/tools/npy.h"

namespace intaglio::nn {
namespace {

using test::ReferenceCase;
using test::ReferenceFile;
using test::ReferenceOutput;
namespace fs = std::filesystem;

fs::path Shared() {
  const char* const path = std::getenv("INTAGLIO_SHARED");
  return path != nullptr ? fs::path(path) : fs::path(INTAGLIO_SOURCE_DIR) / ".." / "shared";
}

std::string Skipped() {
  return "NO MODELS: " + (Shared() / "models").string() +
         " does not exist; set INTAGLIO_SHARED to a folder with models/ and inputs/ to run this "
         "test";
}

std::string InputPath(const std::string& model, const std::string& name) {
  return (Shared() / "inputs" / fs::path(model).filename() / (name + ".npy")).string();
}

// The reference kernels do not fuse.
Result<Model> Load(const std::string& model, PrepareOptions options = {}) {
  options.float_sums = FloatSums::kUnfused;
  Result<Graph> graph = LoadTflite((Shared() / "models" / (model + ".tflite")).string());
  if (!graph.ok()) return graph.status();
  return Model::Prepare(std::move(*graph), options);
}

using Bytes = std::vector<uint8_t>;

// Runs a model; a failure is one of the test.
std::vector<Bytes> Outputs(Model& model, const std::vector<Bytes>& inputs) {
  std::vector<InputBuffer> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back({inputs[i].data(), inputs[i].size(), model.input(i).type});
  }
  std::vector<Bytes> outputs;
  std::vector<OutputBuffer> out;
  for (size_t i = 0; i < model.output_count(); ++i) {
    const Tensor& tensor = model.output(i);
    Bytes& bytes = outputs.emplace_back(*CountBytes(tensor.shape, tensor.type));
    out.push_back({bytes.data(), bytes.size(), tensor.type});
  }
  const Status status = model.Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return outputs;
}

std::vector<std::string> ReferencePaths() {
  std::vector<std::string> paths;
  std::error_code absent;
  const fs::path folder = fs::path(INTAGLIO_SOURCE_DIR) / "test" / "nn" / "reference";
  for (const auto& entry : fs::directory_iterator(folder, absent)) {
    if (entry.path().extension() == ".ref") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class ReferenceModels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!fs::exists(Shared() / "models")) GTEST_SKIP() << Skipped();
    Result<ReferenceFile> file = test::ReadReference(GetParam());
    ASSERT_TRUE(file.ok()) << file.status().message();
    file_ = std::move(*file);
    std::ifstream model(Shared() / "models" / (file_.model + ".tflite"), std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(model), {}};
    ASSERT_EQ(test::Fnv(bytes), file_.model_fnv) << "another model than the one recorded";
  }

  std::vector<Bytes> Inputs(const ReferenceCase& c) const {
    if (c.real.empty()) return test::RandomInputs(file_, c.seed);
    Result<tools::NpyArray> array = tools::ReadNpy(InputPath(file_.model, c.real));
    EXPECT_TRUE(array.ok()) << array.status().message();
    return {array.ok() ? std::move(array->data) : Bytes()};
  }

  ReferenceFile file_;
};

INSTANTIATE_TEST_SUITE_P(Recorded, ReferenceModels, testing::ValuesIn(ReferencePaths()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = fs::path(info.param).stem().string();
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ReferenceModels);

void ExpectTensors(const Model& model, const ReferenceFile& file) {
  ASSERT_EQ(model.input_count(), file.inputs.size());
  ASSERT_EQ(model.output_count(), file.outputs.size());
  for (size_t i = 0; i < file.inputs.size(); ++i) {
    EXPECT_EQ(NameOf(model.input(i).type), file.inputs[i].type);
    EXPECT_EQ(model.input(i).shape, file.inputs[i].shape);
  }
  for (size_t i = 0; i < file.outputs.size(); ++i) {
    EXPECT_EQ(NameOf(model.output(i).type), file.outputs[i].type);
    EXPECT_EQ(model.output(i).shape, file.outputs[i].shape);
  }
}

// float32 outputs: their libraries' exponentials and the order of hybrid multiplications may
// differ.
void ExpectNear(const Bytes& actual, const Bytes& expected, const std::string& where) {
  constexpr float kBound = 2e-5f;
  ASSERT_EQ(actual.size(), expected.size()) << where;
  for (size_t i = 0; i < actual.size(); i += sizeof(float)) {
    float a = 0;
    float e = 0;
    std::memcpy(&a, actual.data() + i, sizeof(a));
    std::memcpy(&e, expected.data() + i, sizeof(e));
    ASSERT_NEAR(a, e, kBound * std::max(1.0f, std::fabs(e))) << where << ", byte " << i;
  }
}

void ExpectOutput(const Bytes& actual, const ReferenceOutput& expected, Type type,
                  const std::string& where) {
  if (type == Type::kFloat32) return ExpectNear(actual, expected.bytes, where);
  const Bytes start(actual.begin(), actual.begin() + static_cast<ptrdiff_t>(std::min(
                                                         expected.bytes.size(), actual.size())));
  EXPECT_EQ(start, expected.bytes) << where;
  EXPECT_EQ(test::Fnv(actual), expected.fnv) << where;
}

// The arena as it is used in earnest, several threads.
TEST_P(ReferenceModels, OutputsAreTheReferences) {
  PrepareOptions options;
  options.threads = 2;
  Result<Model> model = Load(file_.model, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_NO_FATAL_FAILURE(ExpectTensors(*model, file_));
  ASSERT_FALSE(file_.cases.empty());
  for (const ReferenceCase& c : file_.cases) {
    const std::vector<Bytes> outputs = Outputs(*model, Inputs(c));
    ASSERT_EQ(outputs.size(), c.outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      ExpectOutput(outputs[i], c.outputs[i], model->output(i).type,
                   c.name() + ", output " + std::to_string(i));
    }
  }
}

// Whether a layer of float32 has no bits of its own: sums have, exponentials and hybrid layers not.
bool IsBounded(const LayerInfo& layer) {
  return layer.routine == "cpu:float32/softmax" || layer.routine.starts_with("cpu:hybrid/");
}

// Every layer, which a saturated softmax at the end could hide. The first one that differs is
// named.
TEST_P(ReferenceModels, EveryLayerIsTheReferences) {
  PrepareOptions options;
  options.keep_all_tensors = true;
  Result<Model> model = Load(file_.model, options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const Graph& graph = model->graph();
  for (const ReferenceCase& c : file_.cases) {
    if (c.trace.empty()) continue;
    Outputs(*model, Inputs(c));
    ASSERT_EQ(c.trace.size(), graph.layers.size());
    for (size_t i = 0; i < graph.layers.size(); ++i) {
      const TensorId id = graph.layers[i].outputs[0];
      const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
      if (IsBounded(model->layers()[i])) continue;
      const auto* const data = static_cast<const uint8_t*>(model->TensorData(id));
      ASSERT_NE(data, nullptr) << LabelOf(graph, i);
      ASSERT_EQ(test::Fnv({data, *CountBytes(tensor.shape, tensor.type)}), c.trace[i])
          << c.name() << ": " << LabelOf(graph, i) << " is the first layer that differs";
    }
  }
}

// What the authors of the models say of real inputs. Scores are dequantized.
struct Label {
  std::string model;
  std::string input;
  std::function<void(const std::vector<double>& scores)> check;
};
void PrintTo(const Label& label, std::ostream* out) { *out << label.model << " " << label.input; }

std::vector<size_t> Ranking(const std::vector<double>& scores) {
  std::vector<size_t> order(scores.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return order;
}

std::function<void(const std::vector<double>&)> InTop3(size_t index, double score) {
  return [=](const std::vector<double>& scores) {
    const std::vector<size_t> order = Ranking(scores);
    EXPECT_NE(std::find(order.begin(), order.begin() + 3, index), order.begin() + 3);
    EXPECT_GE(scores[index], score);
  };
}

std::function<void(const std::vector<double>&)> Highest(size_t index) {
  return [=](const std::vector<double>& scores) { EXPECT_EQ(Ranking(scores)[0], index); };
}

class Labels : public testing::TestWithParam<Label> {
 protected:
  void SetUp() override {
    if (!fs::exists(Shared() / "models")) GTEST_SKIP() << Skipped();
  }
};

TEST_P(Labels, ComeOut) {
  Result<Model> model = Load(GetParam().model);
  ASSERT_TRUE(model.ok()) << model.status().message();
  Result<tools::NpyArray> input = tools::ReadNpy(InputPath(GetParam().model, GetParam().input));
  ASSERT_TRUE(input.ok()) << input.status().message();
  const std::vector<Bytes> outputs = Outputs(*model, {input->data});
  const Tensor& tensor = model->output(0);
  std::vector<double> scores;
  for (const uint8_t byte : outputs[0]) {
    const int q = tensor.type == Type::kInt8 ? static_cast<int8_t>(byte) : byte;
    scores.push_back(static_cast<double>(tensor.quantization.scales[0]) *
                     (q - tensor.quantization.zero_points[0]));
  }
  GetParam().check(scores);
}

INSTANTIATE_TEST_SUITE_P(
    Stated, Labels,
    testing::Values(Label{"coral_test_data/mobilenet_v1_0.25_128_quant", "cat", InTop3(283, 0.25)},
                    Label{"coral_test_data/mobilenet_v2_1.0_224_quant", "cat", InTop3(286, 0.7)},
                    Label{"coral_test_data/tf2_mobilenet_v2_1.0_224_ptq", "cat", InTop3(286, 0.6)},
                    Label{"tflite_micro/person_detect", "person",
                          [](const std::vector<double>& s) {  // -113 and 113, to the bit
                            EXPECT_EQ(s, (std::vector<double>{15.0 / 256, 241.0 / 256}));
                          }},
                    Label{"tflite_micro/person_detect", "no_person", Highest(0)},
                    Label{"tflite_micro/micro_speech_quantized", "silence_1000ms.49x40",
                          Highest(0)},
                    Label{"tflite_micro/micro_speech_quantized", "noise_1000ms.49x40", Highest(0)},
                    Label{"tflite_micro/micro_speech_quantized", "yes_1000ms.49x40", Highest(2)},
                    Label{"tflite_micro/micro_speech_quantized", "no_1000ms.49x40", Highest(3)},
                    Label{"mlcommons_tiny/str_ww_ref_model", "marvin_617de221_0.30x40",
                          [](const std::vector<double>& s) { EXPECT_GT(s[0], 0.95); }}));

// hello_world computes a sine; no input files come with it.
TEST(HelloWorld, IsASine) {
  if (!fs::exists(Shared() / "models")) GTEST_SKIP() << Skipped();
  Result<Model> model = Load("tflite_micro/hello_world_int8");
  ASSERT_TRUE(model.ok()) << model.status().message();
  const Quantization in = model->input(0).quantization;
  const Quantization out = model->output(0).quantization;
  for (const int q : {-96, -63, -34, 0}) {
    const std::vector<Bytes> outputs = Outputs(*model, {{static_cast<uint8_t>(q)}});
    const double x = static_cast<double>(in.scales[0]) * (q - in.zero_points[0]);
    const double y = static_cast<double>(out.scales[0]) *
                     (static_cast<int8_t>(outputs[0][0]) - out.zero_points[0]);
    EXPECT_NEAR(y, std::sin(x), 0.05) << x;
  }
}

// A model with an operator that does not exist: refused by name, never run.
TEST(InvokingError, NamesItsOperator) {
  if (!fs::exists(Shared() / "models")) GTEST_SKIP() << Skipped();
  const Result<Model> model = Load("coral_test_data/model_invoking_error");
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.status().message().find("operator #0 CUSTOM 'fake-op-double' v1: not supported"),
            std::string::npos)
      << model.status().message();
}

// Our own model and its inputs lie in the repository: never skipped.
TEST(Digits, EveryOutputIsTheReferences) {
  const std::string folder = std::string(INTAGLIO_SOURCE_DIR) + "/examples/digits/";
  Result<Graph> graph = LoadTflite(folder + "digits.tflite");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<Model> model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok()) << model.status().message();
  const Result<tools::NpyArray> images = tools::ReadNpy(folder + "heldout_images.npy");
  ASSERT_TRUE(images.ok()) << images.status().message();
  const Result<tools::NpyArray> expected = tools::ReadNpy(folder + "expected_outputs.npy");
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  ASSERT_EQ(images->shape, (std::vector<int64_t>{500, 8, 8, 1}));
  ASSERT_EQ(expected->shape, (std::vector<int64_t>{500, 10}));
  for (ptrdiff_t i = 0; i < 500; ++i) {
    const Bytes image(images->data.begin() + 64 * i, images->data.begin() + 64 * (i + 1));
    const Bytes row(expected->data.begin() + 10 * i, expected->data.begin() + 10 * (i + 1));
    ASSERT_EQ(Outputs(*model, {image})[0], row) << "image " << i;
  }
}

// Single-operator int16 models, with inputs and golden outputs beside them as lines of numbers.
template <class T>
Bytes ReadNumbers(const fs::path& path) {
  std::ifstream file(path);
  Bytes bytes;
  for (std::string number; std::getline(file, number, ',');) {
    const T value = static_cast<T>(std::stoll(number));
    const auto* begin = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof(T));
  }
  return bytes;
}

Bytes ReadNumbers(const std::string& prefix, Type type) {
  const std::string path = prefix + NameOf(type) + ".csv";
  return type == Type::kInt16 ? ReadNumbers<int16_t>(path) : ReadNumbers<int32_t>(path);
}

Bytes RunSingle(const fs::path& path, const std::string& stem) {
  Result<Graph> graph = LoadTflite(path.string());
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status().message();
    return {};
  }
  Result<Model> model = Model::Prepare(std::move(*graph));
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message();
    return {};
  }
  std::vector<Bytes> inputs;
  for (size_t i = 0; i < model->input_count(); ++i) {
    inputs.push_back(ReadNumbers(stem + "_input" + std::to_string(i) + "_", model->input(i).type));
  }
  const Bytes golden = ReadNumbers(stem + "_golden_", model->output(0).type);
  const Bytes output = Outputs(*model, inputs)[0];
  EXPECT_EQ(output, golden);
  return output;
}

TEST(SingleOperators, OfInt16) {
  const fs::path folder = Shared() / "models" / "tflite_micro" / "seanet";
  if (!fs::exists(folder)) GTEST_SKIP() << Skipped();
  const std::pair<const char*, int> families[] = {
      {"add", 9},      {"conv", 11},          {"leaky_relu", 12}, {"pad", 10},
      {"quantize", 1}, {"strided_slice", 17}, {"sub", 3},         {"transpose_conv", 3}};
  for (const auto& [op, expected] : families) {
    int models = 0;
    for (const auto& entry : fs::directory_iterator(folder / op)) {
      if (entry.path().extension() != ".tflite") continue;
      const std::string stem = (folder / op / entry.path().stem()).string();
      SCOPED_TRACE(stem);
      EXPECT_FALSE(RunSingle(entry.path(), stem).empty());
      ++models;
    }
    EXPECT_EQ(models, expected) << op;
  }
}

}  // namespace
}  // namespace intaglio::nn
