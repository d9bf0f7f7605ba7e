// Files that nobody should trust, and constants that lie beside a model.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/onnx.pb.h"
#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {
namespace {

using onnx::AttributeProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::TensorProto;
using onnx::ValueInfoProto;

void SetFloats(ValueInfoProto* value, const std::string& name, const std::vector<int64_t>& shape) {
  value->set_name(name);
  auto* const type = value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(TensorProto::FLOAT);
  type->mutable_shape();
  for (const int64_t extent : shape) type->mutable_shape()->add_dim()->set_dim_value(extent);
}

NodeProto* AddNode(google::protobuf::RepeatedPtrField<NodeProto>* to, const std::string& type,
                   const std::vector<std::string>& inputs, const std::string& output) {
  NodeProto* const node = to->Add();
  node->set_op_type(type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

// x [4] -> y
ModelProto Model1() {
  ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(20);
  SetFloats(model.mutable_graph()->add_input(), "x", {4});
  SetFloats(model.mutable_graph()->add_output(), "y", {4});
  return model;
}

Result<Graph> Import(const ModelProto& model, const OnnxOptions& options = {}) {
  const std::string bytes = model.SerializeAsString();
  return ImportOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "m", options);
}

std::string WhyNot(const ModelProto& model, const OnnxOptions& options = {}) {
  return Import(model, options).status().message();
}

std::vector<float> ResultsOf(const Graph& graph, const std::vector<float>& x) {
  Result<Model> model = Model::Prepare(graph);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  std::vector<float> y(static_cast<size_t>(*CountElements(model->output(0).shape)));
  const InputBuffer inputs[] = {MakeInput(x)};
  const OutputBuffer outputs[] = {MakeOutput(y)};
  EXPECT_TRUE(model->Run(inputs, outputs).ok());
  return y;
}

// y = x + c, where c is the tensor that `fill` makes.
template <class Fill>
ModelProto AddConstant(const Fill& fill) {
  ModelProto model = Model1();
  TensorProto* const tensor = model.mutable_graph()->add_initializer();
  tensor->set_name("c");
  tensor->add_dims(4);
  tensor->set_data_type(TensorProto::FLOAT);
  fill(*tensor);
  AddNode(model.mutable_graph()->mutable_node(), "Add", {"x", "c"}, "y");
  return model;
}

TEST(OnnxReader, RefusesWhatIsNoModel) {
  EXPECT_EQ(ImportOnnx({}, "m").status().message(), "m: the file is empty");
  const std::vector<uint8_t> noise(100, 0xff);
  EXPECT_EQ(ImportOnnx(noise, "m").status().message(),
            "m: not an .onnx file, or damaged or cut short");
  EXPECT_EQ(WhyNot(ModelProto()), "m: the file is empty");
  ModelProto no_graph;
  no_graph.set_ir_version(10);
  EXPECT_EQ(WhyNot(no_graph), "m: not an .onnx file: it has no graph");
}

TEST(OnnxReader, SurvivesEveryTruncation) {
  const ModelProto model = AddConstant([](TensorProto& c) {
    for (int i = 0; i < 4; ++i) c.add_float_data(1);
  });
  const std::string bytes = model.SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) {
    (void)ImportOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), size}, "m");
  }
  EXPECT_TRUE(Import(model).ok());
}

TEST(OnnxReader, NamesTheNodeThatItCannotRead) {
  ModelProto model = Model1();
  AddNode(model.mutable_graph()->mutable_node(), "Sorcery", {"x"}, "y");
  EXPECT_EQ(WhyNot(model), "m: Sorcery 'y': not supported in opset 20");
  model.mutable_opset_import(0)->set_version(6);
  EXPECT_EQ(WhyNot(model), "m: opset 6 is not supported (7 and newer ones are)");
}

TEST(OnnxReader, ValuesAreMadeOnceAndBeforeTheyAreRead) {
  ModelProto model = Model1();
  auto* const nodes = model.mutable_graph()->mutable_node();
  AddNode(nodes, "Relu", {"z"}, "y");
  AddNode(nodes, "Relu", {"y"}, "z");
  EXPECT_EQ(WhyNot(model), "m: Relu 'y': input 'z' is made by no node before it");
  model = Model1();
  AddNode(model.mutable_graph()->mutable_node(), "Relu", {"x"}, "y");
  AddNode(model.mutable_graph()->mutable_node(), "Abs", {"x"}, "y");
  EXPECT_EQ(WhyNot(model), "m: Abs 'y': output 'y' is defined twice");
  model = Model1();
  EXPECT_EQ(WhyNot(model), "m: output 'y' is made by no node");
}

TEST(OnnxReader, ConstantsAreAsLongAsTheirShapesSay) {
  const auto fails = [](const auto& fill) { return WhyNot(AddConstant(fill)); };
  EXPECT_EQ(fails([](TensorProto& c) { c.set_raw_data("123"); }),
            "m: constant 'c' has 3 bytes; its type and shape [4] need 16");
  EXPECT_EQ(fails([](TensorProto& c) { c.add_float_data(1); }),
            "m: constant 'c' has 1 elements; its shape [4] needs 4");
  EXPECT_EQ(fails([](TensorProto& c) { c.set_dims(0, -4); }),
            "m: constant 'c' has a dimension of -4");
  EXPECT_EQ(fails([](TensorProto& c) { c.set_dims(0, int64_t{1} << 40); }),
            "m: constant 'c' has a dimension of 1099511627776");
  EXPECT_EQ(fails([](TensorProto& c) {
              c.set_raw_data(std::string(16, '\0'));
              c.add_float_data(1);
            }),
            "m: constant 'c' its elements are stored in more than one field");
  EXPECT_EQ(fails([](TensorProto& c) { c.set_data_type(TensorProto::FLOAT16); }),
            "m: constant 'c' float16 elements are not supported");
  EXPECT_EQ(fails([](TensorProto& c) {
              c.set_data_type(TensorProto::INT8);
              for (int i = 0; i < 4; ++i) c.add_int32_data(128);
            }),
            "m: constant 'c' has the element 128, which is no int8");
  // A product of dimensions beyond 64 bits.
  EXPECT_FALSE(fails([](TensorProto& c) {
                 for (int i = 0; i < 10; ++i) c.add_dims(1 << 30);
               }).empty());
}

// Elements of 4 bits lie in pairs, the first one lower. An odd count leaves half a byte.
TEST(OnnxReader, UnpacksNarrowIntegers) {
  ModelProto model = Model1();
  TensorProto* const c = model.mutable_graph()->add_initializer();
  c->set_name("c");
  c->add_dims(3);
  c->set_data_type(TensorProto::INT4);
  c->set_raw_data(std::string("\x8f\x07", 2));
  AddNode(model.mutable_graph()->mutable_node(), "Cast", {"c"}, "y")->add_attribute();
  AttributeProto* const to = model.mutable_graph()->mutable_node(0)->mutable_attribute(0);
  to->set_name("to");
  to->set_i(TensorProto::FLOAT);
  to->set_type(AttributeProto::INT);
  const Result<Graph> graph = Import(model);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(ResultsOf(*graph, {0, 0, 0, 0}), (std::vector<float>{-1, -8, 7}));
}

// A folder with a file of constants, which goes with the test.
class ExternalDataTest : public testing::Test {
 protected:
  ExternalDataTest() : folder_(testing::TempDir() + "/onnx_external_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_ + "/inner");
    const float values[] = {9, 1, 2, 3, 4};
    Write(folder_ + "/inner/weights", std::string(reinterpret_cast<const char*>(values), 20));
    Write(folder_ + "/secret", std::string(20, 's'));
  }
  ~ExternalDataTest() override { std::filesystem::remove_all(folder_); }

  static void Write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  static ModelProto Named(const std::vector<std::pair<std::string, std::string>>& entries) {
    return AddConstant([&](TensorProto& c) {
      c.set_data_location(TensorProto::EXTERNAL);
      for (const auto& [key, value] : entries) {
        onnx::StringStringEntryProto* const entry = c.add_external_data();
        entry->set_key(key);
        entry->set_value(value);
      }
    });
  }

  OnnxOptions Options() const {
    OnnxOptions options;
    options.external_data_folder = folder_;
    return options;
  }

  std::string Fails(const std::vector<std::pair<std::string, std::string>>& entries) const {
    return WhyNot(Named(entries), Options());
  }

  const std::string folder_;
};

TEST_F(ExternalDataTest, IsFoundBesideTheModel) {
  const ModelProto model =
      Named({{"location", "inner/weights"}, {"offset", "4"}, {"length", "16"}, {"checksum", "no"}});
  for (const bool copy : {false, true}) {
    OnnxOptions options = Options();
    options.copy_file = copy;
    const Result<Graph> graph = Import(model, options);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(ResultsOf(*graph, {10, 20, 30, 40}), (std::vector<float>{11, 22, 33, 44}));
  }
  Write(folder_ + "/model.onnx", model.SerializeAsString());
  EXPECT_TRUE(LoadOnnx(folder_ + "/model.onnx").ok());
  EXPECT_EQ(WhyNot(model),
            "m: constant 'c' external data 'inner/weights' is not given: a model in memory has no "
            "folder");
}

TEST_F(ExternalDataTest, StaysInItsFolder) {
  std::filesystem::create_symlink("/etc/passwd", folder_ + "/link");
  std::filesystem::create_directory_symlink("/etc", folder_ + "/etc");
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  const std::string start = "m: constant 'c' external data ";
  EXPECT_EQ(Fails({{"location", "/etc/passwd"}}), start + "'/etc/passwd' is an absolute path");
  EXPECT_EQ(Fails({{"location", "inner/../secret"}}),
            start + "'inner/../secret' leaves the model's folder");
  EXPECT_EQ(Fails({{"location", ".."}}), start + "'..' leaves the model's folder");
  for (const char* const path : {"link", "etc/passwd", "pipe", "inner", "nothing", "."}) {
    EXPECT_NE(Fails({{"location", path}}), "") << path;
  }
  EXPECT_EQ(Fails({{"location", std::string("a\0b", 3)}}).find(start), 0u);
  // Files that are there stay readable under other spellings of their path.
  EXPECT_EQ(Fails({{"location", "./inner//weights"}}), "");
}

TEST_F(ExternalDataTest, EndsWhereTheFileEnds) {
  const std::string start = "m: constant 'c' external data ";
  EXPECT_EQ(Fails({{"location", "inner/weights"}, {"offset", "5"}}),
            start + "'inner/weights' ends at byte 20, before the tensor's 16 bytes from 5 on");
  EXPECT_NE(Fails({{"location", "inner/weights"}, {"offset", "18446744073709551615"}}), "");
  EXPECT_EQ(Fails({{"location", "inner/weights"}, {"length", "12"}}),
            start + "has 12 bytes; the type and the shape need 16");
  EXPECT_EQ(Fails({{"location", "inner/weights"}, {"offset", "-4"}}),
            "m: constant 'c' external data: offset '-4' is no count of bytes");
  EXPECT_EQ(Fails({{"location", "inner/weights"}, {"size", "4"}}),
            start + "has the key 'size'; location, offset, length and checksum are known");
  EXPECT_EQ(Fails({{"offset", "4"}}), start + "has no location");
}

onnx::FunctionProto* AddFunction(ModelProto& model, const std::string& name) {
  onnx::FunctionProto* const function = model.add_functions();
  function->set_name(name);
  function->set_domain("local");
  function->add_input("a");
  function->add_output("b");
  function->add_opset_import()->set_version(20);
  onnx::OperatorSetIdProto* const local = function->add_opset_import();
  local->set_domain("local");
  local->set_version(1);
  return function;
}

void AddCall(google::protobuf::RepeatedPtrField<NodeProto>* to, const std::string& function,
             const std::string& input, const std::string& output) {
  AddNode(to, function, {input}, output)->set_domain("local");
}

TEST(OnnxReader, SquaresAndCubesAreProducts) {
  for (const float exponent : {2.0f, 3.0f, 0.5f}) {
    ModelProto model = Model1();
    TensorProto* const tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("e");
    tensor->set_data_type(TensorProto::FLOAT);
    tensor->add_float_data(exponent);
    AddNode(model.mutable_graph()->mutable_node(), "Pow", {"x", "e"}, "y");
    const Result<Graph> graph = Import(model);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const bool power = exponent == 0.5f;
    EXPECT_EQ(graph->layers.size(), exponent == 3 ? 2u : 1u);
    EXPECT_EQ(graph->layers[0].op.Is<Pow>(), power);
    const std::vector<float> x = {1.1f, 0.3f, 7.7f, 1e30f};
    const std::vector<float> y = ResultsOf(*graph, x);
    ASSERT_EQ(y.size(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const float expected = power           ? std::pow(x[i], exponent)
                             : exponent == 2 ? x[i] * x[i]
                                             : x[i] * x[i] * x[i];
      EXPECT_EQ(y[i], expected) << x[i];
    }
  }
}

TEST(OnnxReader, FunctionsAreInlined) {
  ModelProto model = Model1();
  onnx::FunctionProto* const twice = AddFunction(model, "Twice");
  AddNode(twice->mutable_node(), "Add", {"a", "a"}, "b");
  AddCall(model.mutable_graph()->mutable_node(), "Twice", "x", "h");
  AddCall(model.mutable_graph()->mutable_node(), "Twice", "h", "y");
  const Result<Graph> graph = Import(model);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(ResultsOf(*graph, {1, 2, 3, 4}), (std::vector<float>{4, 8, 12, 16}));
}

TEST(OnnxReader, FunctionsThatCallThemselvesEnd) {
  ModelProto model = Model1();
  AddCall(AddFunction(model, "F")->mutable_node(), "F", "a", "b");
  AddCall(model.mutable_graph()->mutable_node(), "F", "x", "y");
  EXPECT_NE(WhyNot(model).find("more than 32 deep"), std::string::npos) << WhyNot(model);
}

// 2^30 nodes in a file of a kilobyte.
TEST(OnnxReader, FunctionsThatGrowEnd) {
  ModelProto model = Model1();
  for (int i = 0; i < 30; ++i) {
    onnx::FunctionProto* const function = AddFunction(model, "F" + std::to_string(i));
    const std::string inner = "F" + std::to_string(i + 1);
    if (i == 29) {
      AddNode(function->mutable_node(), "Identity", {"a"}, "b");
      continue;
    }
    AddCall(function->mutable_node(), inner, "a", "h");
    AddCall(function->mutable_node(), inner, "h", "b");
  }
  AddCall(model.mutable_graph()->mutable_node(), "F0", "x", "y");
  EXPECT_NE(WhyNot(model).find("more than 1000000 nodes"), std::string::npos) << WhyNot(model);
}

// A graph of one node, inside of another node.
onnx::GraphProto* AddGraph(NodeProto* node, const std::string& name, const std::string& type,
                           const std::vector<std::string>& inputs, const std::string& output) {
  AttributeProto* const attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(AttributeProto::GRAPH);
  onnx::GraphProto* const graph = attribute->mutable_g();
  AddNode(graph->mutable_node(), type, inputs, output);
  SetFloats(graph->add_output(), output, {});
  return graph;
}

// y = one branch or the other, of one node each, whether the largest of x is above 0.
ModelProto Choose(const std::string& then_branch, const std::string& else_branch) {
  ModelProto model = Model1();
  auto* const nodes = model.mutable_graph()->mutable_node();
  AddNode(nodes, "ReduceMax", {"x"}, "largest");
  AddNode(nodes, "Sub", {"x", "x"}, "zeros");
  AddNode(nodes, "ReduceMax", {"zeros"}, "zero");
  AddNode(nodes, "Greater", {"largest", "zero"}, "positive");
  NodeProto* const choice = AddNode(nodes, "If", {"positive"}, "y");
  AddGraph(choice, "then_branch", then_branch, {"x"}, "a");
  AddGraph(choice, "else_branch", else_branch, {"x"}, "b");
  return model;
}

std::string ErrorOfRun(const Graph& graph, const std::vector<float>& x) {
  Result<Model> model = Model::Prepare(graph);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  std::vector<float> y(x.size());
  const InputBuffer inputs[] = {MakeInput(x)};
  const OutputBuffer outputs[] = {MakeOutput(y)};
  return model->Run(inputs, outputs).message();
}

TEST(OnnxReader, ARunChoosesABranch) {
  const Result<Graph> graph = Import(Choose("Relu", "Neg"));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(ResultsOf(*graph, {1, -2, 3, -4}), (std::vector<float>{1, 0, 3, 0}));
  EXPECT_EQ(ResultsOf(*graph, {-1, -2, -3, -4}), (std::vector<float>{1, 2, 3, 4}));
}

TEST(OnnxReader, ABranchThatCannotRunIsAnErrorOfTheRun) {
  const std::vector<float> positive = {1, 2, 3, 4};
  const std::vector<float> negative = {-1, -2, -3, -4};
  Result<Graph> graph = Import(Choose("Relu", "Unheard"));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(ResultsOf(*graph, positive), positive);
  EXPECT_NE(ErrorOfRun(*graph, negative).find("Unheard"), std::string::npos)
      << ErrorOfRun(*graph, negative);
  graph = Import(Choose("Unheard", "Neg"));
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(ResultsOf(*graph, negative), positive);
  EXPECT_NE(ErrorOfRun(*graph, positive).find("Unheard"), std::string::npos);
  EXPECT_NE(WhyNot(Choose("Unheard", "Unheard")).find("Unheard"), std::string::npos);
  // Shape makes int64 [1], which is no branch beside float32 [4].
  EXPECT_NE(WhyNot(Choose("Shape", "Neg")), "");
}

void SetScalar(ValueInfoProto* value, const std::string& name, TensorProto::DataType type) {
  SetFloats(value, name, {});
  value->mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

// Adds a Loop, whose body passes the condition on and makes "next" of "h" by nodes to be added.
onnx::GraphProto* AddLoop(google::protobuf::RepeatedPtrField<NodeProto>* to,
                          const std::string& limit, const std::string& input,
                          const std::string& output) {
  NodeProto* const loop = AddNode(to, "Loop", {limit, "", input}, output);
  onnx::GraphProto* const body = AddGraph(loop, "body", "Identity", {"go"}, "on");
  SetScalar(body->add_input(), "i", TensorProto::INT64);
  SetScalar(body->add_input(), "go", TensorProto::BOOL);
  SetFloats(body->add_input(), "h", {4});
  SetFloats(body->add_output(), "next", {4});
  return body;
}

TEST(OnnxReader, LoopsMustFitTheirBodies) {
  const auto make = [](const std::string& limit) {
    ModelProto model = Model1();
    TensorProto* const rounds = model.mutable_graph()->add_initializer();
    rounds->set_name("rounds");
    rounds->set_data_type(TensorProto::INT64);
    rounds->add_int64_data(100);
    auto* const nodes = model.mutable_graph()->mutable_node();
    AddNode(AddLoop(nodes, limit, "x", "y")->mutable_node(), "Add", {"h", "x"}, "next");
    return model;
  };
  const auto body = [](ModelProto& model) {
    return model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  };
  ModelProto model = make("rounds");
  const Result<Graph> graph = Import(model);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(ResultsOf(*graph, {1, 2, 3, 4}), (std::vector<float>{101, 202, 303, 404}));
  EXPECT_NE(WhyNot(make("")).find("never ends"), std::string::npos) << WhyNot(make(""));
  body(model)->mutable_input()->RemoveLast();
  EXPECT_NE(WhyNot(model), "");
  model = make("rounds");
  body(model)->mutable_output()->RemoveLast();
  EXPECT_NE(WhyNot(model), "");
  model = make("rounds");
  body(model)->mutable_output(0)->set_name("none");
  EXPECT_NE(WhyNot(model), "");
}

// 60^6 rounds in a file of a kilobyte.
TEST(OnnxReader, LoopsThatGrowEnd) {
  ModelProto model = Model1();
  TensorProto* const rounds = model.mutable_graph()->add_initializer();
  rounds->set_name("rounds");
  rounds->set_data_type(TensorProto::INT64);
  rounds->add_int64_data(60);
  auto* nodes = model.mutable_graph()->mutable_node();
  std::string input = "x";
  std::string output = "y";
  for (int i = 0; i < 6; ++i) {
    nodes = AddLoop(nodes, "rounds", input, output)->mutable_node();
    input = "h";
    output = "next";
  }
  AddNode(nodes, "Identity", {"h"}, "next");
  EXPECT_NE(WhyNot(model), "");
}

// Sizes that a file of a few bytes names are refused before anything is allocated.
TEST(OnnxReader, HugeTensorsAreRefused) {
  ModelProto model = Model1();
  TensorProto* const shape = model.mutable_graph()->add_initializer();
  shape->set_name("shape");
  shape->set_data_type(TensorProto::INT64);
  shape->add_dims(3);
  for (int i = 0; i < 3; ++i) shape->add_int64_data(1 << 20);
  AddNode(model.mutable_graph()->mutable_node(), "ConstantOfShape", {"shape"}, "c");
  AddNode(model.mutable_graph()->mutable_node(), "ReduceSum", {"c"}, "y");
  const Result<Graph> graph = Import(model);
  EXPECT_FALSE(graph.ok() && Model::Prepare(*graph).ok());
}

TEST(OnnxReader, LeavesOutPasses) {
  ModelProto model = Model1();
  AddNode(model.mutable_graph()->mutable_node(), "Relu", {"x"}, "y");
  std::vector<PassReport> reports;
  OnnxOptions options;
  options.without_passes = {"fuse-quantization"};
  options.pass_reports = &reports;
  const Result<Graph> graph = Import(model, options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_GE(reports.size(), 2u);
  for (const PassReport& report : reports) {
    EXPECT_EQ(report.ran, report.name != "fuse-quantization") << report.name;
  }
  options.without_passes = {"nothing"};
  EXPECT_EQ(WhyNot(model, options).find("m: there is no pass 'nothing'"), 0u);
}

TEST(OnnxReader, TakesOtherShapes) {
  ModelProto model = Model1();
  AddNode(model.mutable_graph()->mutable_node(), "Relu", {"x"}, "y");
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("batch");
  Result<Graph> graph = Import(model);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->tensors[static_cast<size_t>(graph->outputs[0])].shape, (Shape{1}));
  OnnxOptions options;
  options.input_shapes = {{2, 3}};
  graph = Import(model, options);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->tensors[static_cast<size_t>(graph->outputs[0])].shape, (Shape{2, 3}));
  options.input_shapes = {{2}, {3}};
  EXPECT_EQ(WhyNot(model, options), "m: there are shapes for 2 inputs; the model has 1");
}

// x [1, 2, 3, 4] -> y, its maxima over the channels
ModelProto ChannelMaxima() {
  ModelProto model = Model1();
  model.mutable_graph()->clear_input();
  model.mutable_graph()->clear_output();
  SetFloats(model.mutable_graph()->add_input(), "x", {1, 2, 3, 4});
  SetFloats(model.mutable_graph()->add_output(), "y", {1, 1, 3, 4});
  model.mutable_opset_import(0)->set_version(17);
  NodeProto* const node = AddNode(model.mutable_graph()->mutable_node(), "ReduceMax", {"x"}, "y");
  AttributeProto* const axes = node->add_attribute();
  axes->set_name("axes");
  axes->set_type(AttributeProto::INTS);
  axes->add_ints(1);
  return model;
}

std::vector<float> RunOnRamp(Result<Graph> graph) {
  Result<Model> model = Model::Prepare(std::move(*graph));
  std::vector<float> x(24);
  std::vector<float> y(12);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const std::vector<InputBuffer> inputs = {MakeInput(x)};
  const std::vector<OutputBuffer> outputs = {MakeOutput(y)};
  EXPECT_TRUE(model->Run(inputs, outputs).ok());
  return y;
}

TEST(OnnxReader, TakesImagesWithTheChannelsLast) {
  const Result<Graph> graph = Import(ChannelMaxima(), {.nhwc_inputs = true});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->tensors[static_cast<size_t>(graph->inputs[0])].shape, (Shape{1, 3, 4, 2}));
  const std::vector<float> y = RunOnRamp(graph);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], static_cast<float>(2 * i + 1));
  EXPECT_EQ(RunOnRamp(Import(ChannelMaxima()))[0], 12.0f);
  const Result<Graph> wide =
      Import(ChannelMaxima(), {.input_shapes = {{1, 5, 4, 2}}, .nhwc_inputs = true});
  ASSERT_TRUE(wide.ok()) << wide.status().message();
  EXPECT_EQ(wide->tensors[static_cast<size_t>(wide->outputs[0])].shape, (Shape{1, 1, 5, 4}));
  EXPECT_FALSE(Import(ChannelMaxima(), {.input_shapes = {{1, 5}}, .nhwc_inputs = true}).ok());
}

// y = x + double(0.1)
ModelProto AddsDouble(bool raw) {
  ModelProto model = Model1();
  TensorProto* const constant = model.mutable_graph()->add_initializer();
  constant->set_name("c");
  constant->set_data_type(TensorProto::DOUBLE);
  constant->add_dims(1);
  const double value = 0.1;
  if (raw) {
    constant->set_raw_data(std::string(reinterpret_cast<const char*>(&value), sizeof(value)));
  } else {
    constant->add_double_data(value);
  }
  AddNode(model.mutable_graph()->mutable_node(), "Add", {"x", "c"}, "y");
  return model;
}

TEST(OnnxReader, ReadsFloat64AsFloat32IfAsked) {
  for (const bool raw : {false, true}) {
    EXPECT_NE(WhyNot(AddsDouble(raw)).find("unless they are read as float32"), std::string::npos);
    const Result<Graph> graph = Import(AddsDouble(raw), {.float64_as_float32 = true});
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    bool found = false;
    for (const Tensor& tensor : graph->tensors) {
      found = found || (tensor.constant && tensor.data_bytes == sizeof(float) &&
                        *static_cast<const float*>(tensor.data) == 0.1f);
    }
    EXPECT_TRUE(found);
  }
  ModelProto cut = AddsDouble(true);
  cut.mutable_graph()->mutable_initializer(0)->mutable_raw_data()->resize(7);
  EXPECT_FALSE(Import(cut, {.float64_as_float32 = true}).ok());
}

// Inputs of float64 have a signature only if they are read as float32.
TEST(OnnxReader, SignaturesHaveFloat64AsFloat32IfAsked) {
  ModelProto model = Model1();
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      TensorProto::DOUBLE);
  const std::string bytes = model.SerializeAsString();
  const std::span<const uint8_t> span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  EXPECT_FALSE(ImportOnnxSignature(span, "m").ok());
  const Result<Graph> graph = ImportOnnxSignature(span, "m", {.float64_as_float32 = true});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->tensors[static_cast<size_t>(graph->inputs[0])].type, Type::kFloat32);
}

}  // namespace
}  // namespace intaglio::nn
