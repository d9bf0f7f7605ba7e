// Constants that stay in the mapped file of a model.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/large_constants.h"
#include "intaglio/nn/formats/onnx/parse.h"
#include "intaglio/nn/ops/control/operators.h"
#include "intaglio/nn/routine/packed_once.h"
#include "intaglio/nn/routine/prepare.h"
#include "intaglio/nn/routine/program.h"
#include "intaglio/test/nn/count_allocations.h"
#include "intaglio/test/nn/formats/onnx/small_models.h"

namespace intaglio::nn::test {
namespace {

using onnx::GraphProto;
using onnx::LeanModel;
using onnx::WithoutLargeConstants;

constexpr size_t kLarge = 16;

std::span<const uint8_t> BytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string TextOf(std::span<const uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

TensorProto* AddInitializer(ModelProto& model, const std::string& name, int type,
                            const std::string& raw) {
  TensorProto* const tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  tensor->add_dims(static_cast<int64_t>(raw.size() / (type == TensorProto::FLOAT ? 4 : 1)));
  tensor->set_raw_data(raw);
  return tensor;
}

ModelProto Sample() {
  ModelProto model = Model1();
  AddInitializer(model, "small", TensorProto::INT8, std::string(kLarge - 1, 's'));
  AddInitializer(model, "large", TensorProto::INT8, std::string(kLarge, 'l'));
  AddInitializer(model, "floats", TensorProto::FLOAT, std::string(20 * kLarge, 'f'));
  AddInitializer(model, "doubles", TensorProto::DOUBLE, std::string(8 * kLarge, 'd'));
  AddNode(model.mutable_graph()->mutable_node(), "Add", {"x", "c"}, "y");
  return model;
}

// The message that both parts stand for; nothing if it is damaged.
std::optional<std::string> Joined(const LeanModel& lean) {
  ModelProto model;
  if (!Parse(BytesOf(lean.message), model).ok()) return std::nullopt;
  for (const onnx::LargeConstant& constant : lean.constants) {
    const auto place = static_cast<int>(constant.initializer);
    if (place >= model.graph().initializer_size()) return std::nullopt;
    TensorProto& tensor = *model.mutable_graph()->mutable_initializer(place);
    if (tensor.has_raw_data()) return "raw data twice";
    tensor.set_raw_data(TextOf(constant.elements));
  }
  return model.SerializeAsString();
}

// What Protobuf makes of the bytes.
std::optional<std::string> Whole(const std::string& bytes) {
  ModelProto model;
  if (!Parse(BytesOf(bytes), model).ok()) return std::nullopt;
  return model.SerializeAsString();
}

TEST(OnnxLargeConstants, AreTakenOut) {
  const std::string bytes = Sample().SerializeAsString();
  const std::optional<LeanModel> lean = WithoutLargeConstants(BytesOf(bytes), kLarge);
  ASSERT_TRUE(lean.has_value());
  ASSERT_EQ(lean->constants.size(), 2u);
  EXPECT_EQ(lean->constants[0].initializer, 1u);
  EXPECT_EQ(TextOf(lean->constants[0].elements), std::string(kLarge, 'l'));
  EXPECT_EQ(lean->constants[1].initializer, 2u);
  EXPECT_EQ(TextOf(lean->constants[1].elements), std::string(20 * kLarge, 'f'));
  EXPECT_LT(lean->message.size(), bytes.size() - 21 * kLarge);
  EXPECT_EQ(Joined(*lean), bytes);
}

// Protobuf merges the graphs of a model, so the second one goes on counting.
TEST(OnnxLargeConstants, OfTwoGraphs) {
  const std::string bytes = Sample().SerializeAsString() + Sample().SerializeAsString();
  const std::optional<LeanModel> lean = WithoutLargeConstants(BytesOf(bytes), kLarge);
  ASSERT_TRUE(lean.has_value());
  ASSERT_EQ(lean->constants.size(), 4u);
  EXPECT_EQ(lean->constants[3].initializer, 6u);
  EXPECT_EQ(Joined(*lean), Whole(bytes));
}

TEST(OnnxLargeConstants, StayWhereTheMessageIsUnusual) {
  const std::string raw = std::string("\x4a\x10", 2) + std::string(16, 'r');  // field 9, 16 bytes
  const auto of_tensor = [&](const std::string& more) {
    ModelProto model = Model1();
    model.mutable_graph()->add_initializer()->set_data_type(TensorProto::INT8);
    std::string graph = model.graph().SerializeAsString();
    model.clear_graph();
    // The initializer of two bytes, its type, stands before the input and the output of the graph.
    const std::string empty("\x2a\x02\x10\x03", 4);
    const size_t at = graph.find(empty);
    EXPECT_NE(at, std::string::npos);
    const std::string tensor = empty.substr(2) + more;
    graph.replace(at, 4, std::string{'\x2a', static_cast<char>(tensor.size())} + tensor);
    return model.SerializeAsString() + std::string{'\x3a', static_cast<char>(graph.size())} + graph;
  };
  const auto is_taken = [&](const std::string& more) {
    const std::string bytes = of_tensor(more);
    return WithoutLargeConstants(BytesOf(bytes), kLarge).has_value();
  };
  EXPECT_TRUE(is_taken(raw));
  EXPECT_FALSE(is_taken(raw + raw));
  EXPECT_FALSE(is_taken(raw + std::string("\x70\x01", 2)));  // data_location: elsewhere
  EXPECT_FALSE(is_taken(raw + "\x10\x0b"));                  // another type: float64
  EXPECT_FALSE(is_taken(raw + "\x4b\x4c"));                  // a group
  EXPECT_FALSE(is_taken(raw + std::string("\x48\x00", 2)));  // field 9 as a number
  EXPECT_FALSE(is_taken(raw + "\x4a\x7f"));                  // cut short
}

// Both ways of reading agree about damaged messages, too.
TEST(OnnxLargeConstants, OfDamagedMessages) {
  const std::string sound = Sample().SerializeAsString();
  std::mt19937 random(1);
  int taken = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = sound;
    for (auto changes = random() % 3 + 1; changes > 0; --changes) {
      // Most bytes are elements; these say more.
      const size_t at = random() % std::min<size_t>(bytes.size(), 120);
      if (random() % 2 == 0) bytes[at] = static_cast<char>(random());
      if (random() % 4 == 0) bytes.erase(at, 1);
      if (random() % 4 == 0) bytes.insert(at, 1, static_cast<char>(random()));
    }
    const std::optional<LeanModel> lean = WithoutLargeConstants(BytesOf(bytes), kLarge);
    if (!lean) continue;
    taken += Whole(bytes).has_value() ? 1 : 0;
    ASSERT_EQ(Joined(*lean), Whole(bytes)) << i;
  }
  EXPECT_GT(taken, 1000);
}

// One constant that stays makes the message large.
TEST(OnnxLargeConstants, CopyNothingTwice) {
  ModelProto model = Model1();
  TensorProto* const typed = model.mutable_graph()->add_initializer();
  typed->set_data_type(TensorProto::FLOAT);
  for (int i = 0; i < 1 << 18; ++i) typed->add_float_data(1);
  const auto peak_of = [](const std::string& bytes) {
    const int64_t before = LiveBytes();
    ResetPeak();
    (void)WithoutLargeConstants(BytesOf(bytes), kLarge);
    return PeakBytes() - before;
  };
  EXPECT_EQ(peak_of(model.SerializeAsString()), 0);
  AddInitializer(model, "large", TensorProto::INT8, std::string(kLarge, 'l'));
  const std::string bytes = model.SerializeAsString();
  EXPECT_LT(peak_of(bytes), static_cast<int64_t>(bytes.size() + bytes.size() / 100));
}

// A file with x [4] and two constants of 64 KiB and more: y = x + Gather(c, k).
class LargeConstantsFileTest : public testing::Test {
 protected:
  static constexpr int kRows = 8192;

  LargeConstantsFileTest()
      : path_(testing::TempDir() + "/onnx_large_" + std::to_string(getpid()) + ".onnx") {}
  ~LargeConstantsFileTest() override { std::remove(path_.c_str()); }

  static ModelProto Gathers() {
    ModelProto model = Model1();
    for (const char* const name : {"c", "d"}) {
      std::vector<float> values(size_t{4} * kRows);
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
      TensorProto* const tensor =
          AddInitializer(model, name, TensorProto::FLOAT,
                         {reinterpret_cast<const char*>(values.data()), 4 * values.size()});
      tensor->set_dims(0, kRows);
      tensor->add_dims(4);
    }
    SetFloats(model.mutable_graph()->add_input(), "k", {});
    model.mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(
        TensorProto::INT64);
    auto* const nodes = model.mutable_graph()->mutable_node();
    AddNode(nodes, "Gather", {"c", "k"}, "row");
    AddNode(nodes, "Gather", {"d", "k"}, "other");
    AddNode(nodes, "Add", {"row", "other"}, "rows");
    AddNode(nodes, "Add", {"x", "rows"}, "y");
    return model;
  }

  // Lets the elements of both constants begin at multiples of their size in the file.
  static void Align(ModelProto& model) {
    GraphProto& graph = *model.mutable_graph();
    const std::string raw = graph.initializer(0).raw_data();
    const auto first = [&] { return model.SerializeAsString().find(raw); };
    const auto last = [&] { return model.SerializeAsString().rfind(raw); };
    for (std::string name = "d"; (last() - first()) % sizeof(float) != 0; name += 'd') {
      graph.mutable_initializer(1)->set_name(name);
      graph.mutable_node(1)->set_input(0, name);
    }
    for (std::string name = "p"; first() % sizeof(float) != 0; name += 'p') {
      model.set_producer_name(name);
    }
  }

  // Lets the elements of the first constant begin at an odd place in the file.
  static void Misalign(ModelProto& model) {
    const std::string& raw = model.graph().initializer(0).raw_data();
    const auto place = [&] { return model.SerializeAsString().find(raw); };
    if (place() % 2 == 0) model.set_producer_name("p");  // 3 bytes
    ASSERT_EQ(place() % 2, 1u);
  }

  Result<Graph> Load(const ModelProto& model, const OnnxOptions& options = {}) const {
    std::ofstream(path_, std::ios::binary) << model.SerializeAsString();
    return LoadOnnx(path_, options);
  }

  static std::vector<float> Run(const Graph& graph, int64_t k) {
    Result<Model> model = Model::Prepare(graph);
    EXPECT_TRUE(model.ok()) << model.status().message();
    if (!model.ok()) return {};
    const std::vector<float> x = {.25f, .25f, .25f, .25f};
    const std::vector<int64_t> row = {k};
    std::vector<float> y(4);
    const InputBuffer inputs[] = {MakeInput(x), MakeInput(row)};
    const OutputBuffer outputs[] = {MakeOutput(y)};
    EXPECT_TRUE(model->Run(inputs, outputs).ok());
    return y;
  }

  static std::vector<const Tensor*> Large(const Graph& graph) {
    std::vector<const Tensor*> large;
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.constant && tensor.data_bytes >= onnx::kLargeConstant) large.push_back(&tensor);
    }
    return large;
  }

  static bool HaveOneOwner(const Tensor& a, const Tensor& b) {
    return !a.owner.owner_before(b.owner) && !b.owner.owner_before(a.owner);
  }

  const std::string path_;
};

TEST_F(LargeConstantsFileTest, StayInTheFile) {
  ModelProto model = Gathers();
  Align(model);
  const Result<Graph> loaded = Load(model);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  const std::vector<const Tensor*> large = Large(*loaded);
  ASSERT_EQ(large.size(), 2u);
  EXPECT_TRUE(HaveOneOwner(*large[0], *large[1]));
  const Result<Graph> imported = Import(model);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_EQ(Large(*imported).size(), 2u);
  EXPECT_FALSE(HaveOneOwner(*Large(*imported)[0], *Large(*imported)[1]));
  const std::vector<float> want = {8000.25f, 8002.25f, 8004.25f, 8006.25f};
  EXPECT_EQ(Run(*loaded, 1000), want);
  EXPECT_EQ(Run(*imported, 1000), want);
}

TEST_F(LargeConstantsFileTest, OfACopiedFileDoNotChange) {
  OnnxOptions options;
  options.copy_file = true;
  const Result<Graph> loaded = Load(Gathers(), options);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_EQ(truncate(path_.c_str(), 10), 0);
  EXPECT_EQ(Run(*loaded, kRows - 1)[3], .25f + 2 * (4 * kRows - 1));
}

TEST_F(LargeConstantsFileTest, AreCheckedLikeOthers) {
  const auto both_say = [&](const std::function<void(TensorProto&)>& change,
                            const std::string& what) {
    ModelProto model = Gathers();
    change(*model.mutable_graph()->mutable_initializer(1));
    EXPECT_EQ(WhyNot(model), "m: " + what);
    EXPECT_EQ(Load(model).status().message(), path_ + ": " + what);
  };
  both_say([](TensorProto& d) { d.set_dims(0, kRows + 1); },
           "constant 'd' has 131072 bytes; its type and shape [8193, 4] need 131088");
  both_say([](TensorProto& d) { d.add_float_data(1); },
           "constant 'd' its elements are stored in more than one field");
  both_say([](TensorProto& d) { d.set_data_location(TensorProto::EXTERNAL); },
           "constant 'd' its elements are stored in more than one field");
  both_say(
      [](TensorProto& d) {
        d.set_data_type(TensorProto::BOOL);
        d.set_dims(1, 16);
      },
      "constant 'd' has a bool of 128");
}

// Constants at odd addresses are copied once, when the file is read. So all models of the graph
// read the same elements, and what one has packed is found by the next.
TEST_F(LargeConstantsFileTest, AtAnyAddressArePackedOnce) {
  constexpr int64_t kSize = 160;
  ModelProto model = Model1();
  GraphProto& graph = *model.mutable_graph();
  graph.clear_input();
  graph.clear_output();
  SetFloats(graph.add_input(), "x", {1, kSize});
  SetFloats(graph.add_output(), "y", {1, kSize});
  const std::string raw(size_t{4} * kSize * kSize, 'f');
  TensorProto* const weights = AddInitializer(model, "w", TensorProto::FLOAT, raw);
  weights->set_dims(0, kSize);
  weights->add_dims(kSize);
  NodeProto* const gemm = AddNode(graph.mutable_node(), "Gemm", {"x", "w"}, "y");
  AttributeProto* const transposed = gemm->add_attribute();
  transposed->set_name("transB");
  transposed->set_type(AttributeProto::INT);
  transposed->set_i(1);
  Misalign(model);
  OnnxOptions limited;
  limited.limits.max_bytes = raw.size() - 1;
  EXPECT_EQ(Load(model, limited).status().code(), StatusCode::kOutOfMemory);
  limited.limits.max_bytes = raw.size() + 1000;  // its bias is charged, too
  const Result<Graph> loaded = Load(model, limited);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_EQ(Large(*loaded).size(), 1u);

  const Result<Model> first = Model::Prepare(*loaded);
  ASSERT_TRUE(first.ok()) << first.status().message();
  const Model* const earlier[] = {&*first};
  const Result<Model> second = Model::Prepare(*loaded, {}, earlier);
  ASSERT_TRUE(second.ok()) << second.status().message();
  const auto id = static_cast<TensorId>(Large(*loaded)[0] - loaded->tensors.data());
  EXPECT_EQ(first->TensorData(id), Large(*loaded)[0]->data);
  EXPECT_EQ(second->TensorData(id), Large(*loaded)[0]->data);

  LayerOptions options{.kernel = BestKernel()};
  options.packed = std::make_shared<PackedOnce>();
  const auto prepare = [&](const Graph& g, size_t i) { return Prepare(LayerView(g, i), options); };
  const Result<Program> one = Program::Make(*loaded, prepare, false, nullptr);
  EXPECT_EQ(options.packed->count(), 1u);
  const Result<Program> two = Program::Make(*loaded, prepare, false, nullptr);
  EXPECT_EQ(options.packed->count(), 1u);
  EXPECT_TRUE(one.ok() && two.ok());
}

// y = c ? x + w : x - w, and z = x * w: three graphs have the constant.
ModelProto ThreeGraphs(int64_t size, const std::string& raw) {
  ModelProto model = Model1();
  GraphProto& graph = *model.mutable_graph();
  graph.clear_input();
  graph.clear_output();
  SetFloats(graph.add_input(), "x", {1, size});
  SetFloats(graph.add_input(), "c", {});
  graph.mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::BOOL);
  for (const char* const name : {"y", "z"}) SetFloats(graph.add_output(), name, {size, size});
  TensorProto* const weights = AddInitializer(model, "w", TensorProto::FLOAT, raw);
  weights->set_dims(0, size);
  weights->add_dims(size);
  AddNode(graph.mutable_node(), "Mul", {"x", "w"}, "z");
  NodeProto* const choice = AddNode(graph.mutable_node(), "If", {"c"}, "y");
  for (const char* const name : {"then_branch", "else_branch"}) {
    AttributeProto* const branch = choice->add_attribute();
    branch->set_name(name);
    branch->set_type(AttributeProto::GRAPH);
    const bool is_then = branch->name() == "then_branch";
    AddNode(branch->mutable_g()->mutable_node(), is_then ? "Add" : "Sub", {"x", "w"}, "b");
    SetFloats(branch->mutable_g()->add_output(), "b", {size, size});
  }
  return model;
}

TEST_F(LargeConstantsFileTest, OfSeveralGraphsAreCopiedOnce) {
  constexpr int64_t kSize = 160;
  const std::string raw(size_t{4} * kSize * kSize, 'f');
  ModelProto model = ThreeGraphs(kSize, raw);
  Misalign(model);
  OnnxOptions limited;
  limited.limits.max_bytes = raw.size() - 1;
  EXPECT_EQ(Load(model, limited).status().code(), StatusCode::kOutOfMemory);
  limited.limits.max_bytes = 2 * raw.size() - 1;
  const Result<Graph> loaded = Load(model, limited);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  const auto choice = std::find_if(loaded->layers.begin(), loaded->layers.end(),
                                   [](const Layer& layer) { return layer.op.Is<If>(); });
  ASSERT_NE(choice, loaded->layers.end());
  const If& branches = *choice->op.As<If>();
  std::vector<const Tensor*> all = Large(*loaded);
  for (const auto& branch : {branches.then_branch, branches.else_branch}) {
    for (const Tensor* const tensor : Large(*branch)) all.push_back(tensor);
  }
  ASSERT_EQ(all.size(), 3u);
  for (const Tensor* const tensor : all) EXPECT_EQ(tensor->data, all[0]->data);
}

}  // namespace
}  // namespace intaglio::nn::test
