// Models of one operator against what TFLite's reference kernels made of them, bit for bit: every
// file of the folder golden/, whose format golden/record.py describes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/import/tflite_reader.h"
#include "intaglio/nn/model.h"

namespace intaglio::nn {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

struct Expected {
  uint8_t type = 0;  // of the .tflite format
  Shape shape;
  Bytes bytes;
};

struct RunOfCase {
  std::vector<Bytes> inputs;
  std::vector<Expected> outputs;
};

struct Case {
  std::string name;
  Bytes model;
  std::string error;
  float bound = 0;
  std::vector<RunOfCase> runs;
};

// Reads values one after the other; a file that ends early fails the test.
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  T Number() {
    T value = {};
    std::memcpy(&value, Take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  Bytes Blob() {
    const auto blob = Take(Number<uint32_t>());
    return {blob.begin(), blob.end()};
  }
  std::string Text() {
    const Bytes blob = Blob();
    return {blob.begin(), blob.end()};
  }
  std::span<const uint8_t> Take(size_t count) {
    if (count > bytes_.size() - position_) throw std::out_of_range("the golden file is cut short");
    position_ += count;
    return std::span<const uint8_t>(bytes_).subspan(position_ - count, count);
  }
  bool AtEnd() const { return position_ == bytes_.size(); }

 private:
  Bytes bytes_;
  size_t position_ = 0;
};

Expected ReadOutput(Reader& reader) {
  Expected output;
  output.type = reader.Number<uint8_t>();
  const auto rank = reader.Number<uint8_t>();
  for (int i = 0; i < rank; ++i) output.shape.push_back(reader.Number<int32_t>());
  output.bytes = reader.Blob();
  return output;
}

Case ReadCase(Reader& reader) {
  Case c;
  c.name = reader.Text();
  c.model = reader.Blob();
  c.error = reader.Text();
  c.bound = reader.Number<float>();
  c.runs.resize(reader.Number<uint32_t>());
  for (RunOfCase& run : c.runs) {
    for (auto i = reader.Number<uint32_t>(); i > 0; --i) run.inputs.push_back(reader.Blob());
    for (auto i = reader.Number<uint32_t>(); i > 0; --i) run.outputs.push_back(ReadOutput(reader));
  }
  return c;
}

std::vector<Case> ReadCases(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  Reader reader(Bytes(std::istreambuf_iterator<char>(stream), {}));
  const std::string magic = "intaglio-golden";
  EXPECT_EQ(std::memcmp(reader.Take(16).data(), magic.c_str(), 16), 0) << path;
  EXPECT_EQ(reader.Number<uint32_t>(), 1u);
  std::vector<Case> cases(reader.Number<uint32_t>());
  for (Case& c : cases) c = ReadCase(reader);
  EXPECT_TRUE(reader.AtEnd()) << path;
  return cases;
}

uint8_t NumberOf(Type type) {
  switch (type) {
    case Type::kFloat32:
      return 0;
    case Type::kInt32:
      return 2;
    case Type::kUInt8:
      return 3;
    case Type::kInt64:
      return 4;
    case Type::kBool:
      return 6;
    case Type::kInt16:
      return 7;
    case Type::kInt8:
      return 9;
  }
  return 255;
}

Result<Model> Load(const Case& c, const PrepareOptions& options) {
  Result<Graph> graph = ImportTflite(c.model, nullptr, "case");
  if (!graph.ok()) return graph.status();
  return Model::Prepare(std::move(*graph), options);
}

Status RunModel(Model& model, const RunOfCase& run, std::vector<Bytes>& outputs) {
  std::vector<InputBuffer> in;
  std::vector<OutputBuffer> out;
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    const Type type = i < model.input_count() ? model.input(i).type : Type::kInt8;
    in.push_back({run.inputs[i].data(), run.inputs[i].size(), type});
  }
  outputs.clear();
  for (size_t i = 0; i < model.output_count(); ++i) {
    const Tensor& tensor = model.output(i);
    outputs.emplace_back(*CountBytes(tensor.shape, tensor.type));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.push_back({outputs[i].data(), outputs[i].size(), model.output(i).type});
  }
  return model.Run(in, out);
}

// Where two tensors differ by more than the bound, or nothing.
std::optional<size_t> FirstDifference(const Bytes& actual, const Expected& expected, float bound) {
  if (actual == expected.bytes) return {};
  if (bound == 0 || expected.type != NumberOf(Type::kFloat32) ||
      actual.size() != expected.bytes.size()) {
    const auto [at, other] =
        std::mismatch(actual.begin(), actual.end(), expected.bytes.begin(), expected.bytes.end());
    return static_cast<size_t>(at - actual.begin());
  }
  for (size_t i = 0; i < actual.size(); i += sizeof(float)) {
    float a = 0;
    float e = 0;
    std::memcpy(&a, actual.data() + i, sizeof(a));
    std::memcpy(&e, expected.bytes.data() + i, sizeof(e));
    const bool same = a == e || (std::isnan(a) && std::isnan(e));
    if (!same && !(std::fabs(a - e) <= bound * std::max(1.0f, std::fabs(e)))) return i;
  }
  return {};
}

void ExpectOutputs(const Case& c, const Model& model, const RunOfCase& run,
                   const std::vector<Bytes>& outputs) {
  ASSERT_EQ(outputs.size(), run.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(NumberOf(model.output(i).type), run.outputs[i].type);
    EXPECT_EQ(model.output(i).shape, run.outputs[i].shape);
    const std::optional<size_t> at = FirstDifference(outputs[i], run.outputs[i], c.bound);
    EXPECT_FALSE(at.has_value()) << "output " << i << " differs at byte " << *at << ": "
                                 << testing::PrintToString(outputs[i]) << " instead of "
                                 << testing::PrintToString(run.outputs[i].bytes);
  }
}

// Every run, twice over: what a run leaves behind must not matter.
void ExpectRuns(const Case& c, Model& model) {
  for (int round = 0; round < 2; ++round) {
    for (const RunOfCase& run : c.runs) {
      std::vector<Bytes> outputs;
      const Status status = RunModel(model, run, outputs);
      ASSERT_TRUE(status.ok()) << status.message();
      ExpectOutputs(c, model, run, outputs);
    }
  }
}

// With this kernel, or the best one; returns whether a layer uses a kernel.
bool ExpectCase(const Case& c, const PrepareOptions& options) {
  Result<Model> model = Load(c, options);
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message();
    return false;
  }
  ExpectRuns(c, *model);
  const std::vector<LayerInfo>& layers = model->layers();
  return std::any_of(layers.begin(), layers.end(),
                     [](const LayerInfo& layer) { return !layer.kernel.empty(); });
}

void ExpectError(const Case& c) {
  Result<Model> model = Load(c, {});
  Status status = model.ok() ? Status() : model.status();
  std::vector<Bytes> outputs;
  if (model.ok() && !c.runs.empty()) status = RunModel(*model, c.runs[0], outputs);
  EXPECT_NE(status.message().find(c.error), std::string::npos)
      << "the error is: " << status.message() << "\ninstead of: " << c.error;
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
}

std::vector<std::string> Families() {
  std::vector<std::string> paths;
  const fs::path folder = fs::path(INTAGLIO_SOURCE_DIR) / "test" / "nn" / "ops" / "golden";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".golden") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Golden : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Families, Golden, testing::ValuesIn(Families()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return fs::path(info.param).stem().string();
                         });

TEST_P(Golden, IsWhatTheReferenceMade) {
  const std::vector<Case> cases = ReadCases(GetParam());
  ASSERT_FALSE(cases.empty());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    if (!c.error.empty()) {
      ExpectError(c);
      continue;
    }
    EXPECT_FALSE(c.runs.empty());
    PrepareOptions apart;
    apart.keep_all_tensors = true;
    ExpectCase(c, apart);
    if (!ExpectCase(c, {})) continue;
    for (const KernelInfo& kernel : ListKernels()) {
      if (!kernel.usable) continue;
      SCOPED_TRACE(kernel.name);
      PrepareOptions options;
      options.kernel = kernel.name;
      options.threads = 2;
      ExpectCase(c, options);
    }
  }
}

}  // namespace
}  // namespace intaglio::nn
