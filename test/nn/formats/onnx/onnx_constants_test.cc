// Inputs of .onnx files that get values when they are read.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/onnx.pb.h"
#include "intaglio/nn/formats/onnx/reader.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::TensorProto;

constexpr const char* kAdvice =
    "; give input 'axes' a value with the option constants (--constant axes=VALUE)";

// A dimension of 0 has no number in the file.
void AddInput(GraphProto& graph, const std::string& name, int type,
              const std::vector<int64_t>& shape) {
  auto* const input = graph.add_input();
  input->set_name(name);
  auto* const tensor = input->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const int64_t extent : shape) {
    auto* const dimension = tensor->mutable_shape()->add_dim();
    if (extent != 0) dimension->set_dim_value(extent);
    if (extent == 0) dimension->set_dim_param("n");
  }
}

NodeProto* AddNode(GraphProto& graph, const std::string& type,
                   const std::vector<std::string>& inputs, const std::string& output) {
  NodeProto* const node = graph.add_node();
  node->set_op_type(type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

void AddOutput(GraphProto& graph, const std::string& name) { graph.add_output()->set_name(name); }

ModelProto Empty() {
  ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(20);
  model.mutable_graph();
  return model;
}

// y = ReduceSum(x, axes) of x [2, 3]
ModelProto Sum() {
  ModelProto model = Empty();
  GraphProto& graph = *model.mutable_graph();
  AddInput(graph, "axes", TensorProto::INT64, {0});
  AddInput(graph, "x", TensorProto::FLOAT, {2, 3});
  NodeProto* const node = AddNode(graph, "ReduceSum", {"x", "axes"}, "y");
  AttributeProto* const keep = node->add_attribute();
  keep->set_name("keepdims");
  keep->set_type(AttributeProto::INT);
  keep->set_i(0);
  AddOutput(graph, "y");
  return model;
}

Result<Graph> Import(const ModelProto& model, std::vector<InputConstant> constants,
                     OnnxOptions options = {}) {
  const std::string bytes = model.SerializeAsString();
  options.constants = std::move(constants);
  return ImportOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "m", options);
}

std::string WhyNot(const ModelProto& model, std::vector<InputConstant> constants) {
  return Import(model, std::move(constants)).status().message();
}

InputConstant Axes(const std::vector<int64_t>& axes) {
  return MakeInputConstant<int64_t>("axes", {static_cast<int>(axes.size())}, axes);
}

// The only output, of float32.
std::vector<float> ResultsOf(Graph graph, const std::vector<std::vector<float>>& inputs) {
  Result<Model> model = Model::Prepare(std::move(graph));
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  std::vector<float> y(static_cast<size_t>(*CountElements(model->output(0).shape)));
  std::vector<InputBuffer> in;
  for (const std::vector<float>& input : inputs) in.push_back(MakeInput(input));
  const OutputBuffer out[] = {MakeOutput(y)};
  const Status status = model->Run(in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

TEST(OnnxConstants, DecideShapes) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  for (const auto& [axes, expected] :
       std::vector<std::pair<std::vector<int64_t>, std::vector<float>>>{
           {{1}, {6, 15}}, {{0}, {5, 7, 9}}, {{0, -1}, {21}}}) {
    Result<Graph> graph = Import(Sum(), {Axes(axes)});
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    ASSERT_EQ(graph->inputs.size(), 1u);
    EXPECT_EQ(graph->tensors[static_cast<size_t>(graph->inputs[0])].name, "x");
    EXPECT_EQ(ResultsOf(std::move(*graph), {x}), expected);
  }
}

TEST(OnnxConstants, HaveNoPlaceAmongTheShapes) {
  Result<Graph> graph = Import(Sum(), {Axes({0})}, {.input_shapes = {{1, 2}}});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(ResultsOf(std::move(*graph), {{3, 4}}), (std::vector<float>{3, 4}));
  EXPECT_EQ(Import(Sum(), {Axes({0})}, {.input_shapes = {{1, 2}, {3}}}).status().message(),
            "m: there are shapes for 2 inputs; the model has 1");
}

TEST(OnnxConstants, AreInTheOrderOfTheFile) {
  ModelProto model = Empty();
  GraphProto& graph = *model.mutable_graph();
  AddInput(graph, "x", TensorProto::FLOAT, {1, 2, 1, 2});
  AddInput(graph, "c", TensorProto::FLOAT, {1, 2, 1, 2});
  AddNode(graph, "Add", {"x", "c"}, "y");
  AddOutput(graph, "y");
  Result<Graph> read =
      Import(model, {MakeInputConstant<float>("c", {1, 2, 1, 2}, {10, 20, 30, 40})},
             {.nhwc_inputs = true});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ResultsOf(std::move(*read), {{1, 3, 2, 4}}), (std::vector<float>{11, 22, 33, 44}));
}

TEST(OnnxConstants, MayBeAllInputsAndOutputs) {
  ModelProto model = Sum();
  AddOutput(*model.mutable_graph(), "x");
  Result<Graph> graph =
      Import(model, {Axes({1}), MakeInputConstant<float>("x", {2, 3}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(graph->inputs.empty());
  Result<Model> prepared = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  std::vector<float> y(2), x(6);
  const OutputBuffer out[] = {MakeOutput(y), MakeOutput(x)};
  ASSERT_TRUE(prepared->Run({}, out).ok());
  EXPECT_EQ(y, (std::vector<float>{6, 15}));
  EXPECT_EQ(x, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(OnnxConstants, AreRefusedWhereTheyDoNotFit) {
  EXPECT_EQ(WhyNot(Sum(), {MakeInputConstant<int64_t>("axis", {1}, {1})}),
            "m: the model has no input 'axis' that a value could be given to (its inputs are "
            "'axes', 'x')");
  EXPECT_EQ(WhyNot(Sum(), {MakeInputConstant<int32_t>("axes", {1}, {1})}),
            "m: the value of input 'axes' is int32 [1]; the input is int64 [?]");
  EXPECT_EQ(WhyNot(Sum(), {MakeInputConstant<int64_t>("axes", {}, {1})}),
            "m: the value of input 'axes' is int64 []; the input is int64 [?]");
  EXPECT_EQ(WhyNot(Sum(), {MakeInputConstant<float>("x", {3, 2}, {1, 2, 3, 4, 5, 6})}),
            "m: the value of input 'x' is float32 [3, 2]; the input is float32 [2, 3]");
  EXPECT_EQ(WhyNot(Sum(), {Axes({0}), Axes({1})}), "m: the value of input 'axes' is given twice");
  EXPECT_EQ(WhyNot(Sum(), {{"axes", Type::kInt64, {2}, {1, 2, 3}}}),
            "m: the value of input 'axes' has 3 bytes; int64 [2] has 16");
  EXPECT_EQ(WhyNot(Sum(), {{"axes", Type::kInt64, {-2}, {}}}).find("m: the value of input 'axes' "),
            0u);
  EXPECT_EQ(WhyNot(Sum(), {{"axes", Type::kBool, {2}, {1, 2}}}),
            "m: the value of input 'axes' has a bool other than 0 and 1");
  EXPECT_EQ(WhyNot(Sum(), {Axes({7})}).find("m: ReduceSum 'y': axis 7 does not exist"), 0u);
}

TEST(OnnxConstants, AreNotForConstantsOfTheFile) {
  ModelProto model = Sum();
  TensorProto* const axes = model.mutable_graph()->add_initializer();
  axes->set_name("axes");
  axes->set_data_type(TensorProto::INT64);
  axes->add_dims(1);
  axes->add_int64_data(1);
  EXPECT_EQ(WhyNot(model, {Axes({0})}),
            "m: the model has no input 'axes' that a value could be given to (its inputs are 'x')");
}

TEST(OnnxConstants, CountAsMemory) {
  const std::vector<float> values(size_t{1} << 16, 1.0f);
  ModelProto model = Empty();
  AddInput(*model.mutable_graph(), "c", TensorProto::FLOAT, {1 << 16});
  AddNode(*model.mutable_graph(), "Relu", {"c"}, "y");
  AddOutput(*model.mutable_graph(), "y");
  const std::vector<InputConstant> constants = {MakeInputConstant("c", {1 << 16}, values)};
  EXPECT_TRUE(Import(model, constants).ok());
  const Status status = Import(model, constants, {.limits = {.max_bytes = 1 << 17}}).status();
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << status.message();
}

TEST(OnnxConstants, AreNamedWhereTheyAreMissing) {
  EXPECT_EQ(WhyNot(Sum(), {}),
            "m: ReduceSum 'y': the axes: only values that are known beforehand are supported" +
                std::string(kAdvice));
  // Axes that follow from the input.
  ModelProto model = Sum();
  GraphProto& graph = *model.mutable_graph();
  graph.mutable_node(0)->set_input(1, "negative");
  AddNode(graph, "Neg", {"axes"}, "negative");
  graph.mutable_node()->SwapElements(0, 1);
  EXPECT_NE(WhyNot(model, {}).find(kAdvice), std::string::npos) << WhyNot(model, {});
  EXPECT_TRUE(Import(model, {Axes({1})}).ok());
}

TEST(OnnxConstants, AreNamedTogether) {
  ModelProto model = Empty();
  GraphProto& graph = *model.mutable_graph();
  for (const char* const name : {"start", "limit", "step"}) {
    AddInput(graph, name, TensorProto::INT32, {});
  }
  AddNode(graph, "Range", {"start", "limit", "step"}, "y");
  AddOutput(graph, "y");
  const auto scalar = [](const char* name, int32_t value) {
    return MakeInputConstant<int32_t>(name, {}, {value});
  };
  EXPECT_EQ(WhyNot(model, {scalar("step", 1)}),
            "m: Range 'y': start, limit and step that are not constant; give inputs 'start' and "
            "'limit' values with the option constants (--constant start=VALUE)");
  EXPECT_TRUE(Import(model, {scalar("step", 1), scalar("start", 1), scalar("limit", 4)}).ok());
}

// A graph inside a node that takes the axes from around it.
TEST(OnnxConstants, AreNamedInBranches) {
  ModelProto model = Sum();
  GraphProto& graph = *model.mutable_graph();
  AddInput(graph, "condition", TensorProto::BOOL, {});
  GraphProto branch;
  *branch.add_node() = graph.node(0);
  AddOutput(branch, "y");
  NodeProto node;
  node.set_op_type("If");
  node.add_input("condition");
  node.add_output("y");
  for (const char* const name : {"then_branch", "else_branch"}) {
    AttributeProto* const attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(AttributeProto::GRAPH);
    *attribute->mutable_g() = branch;
  }
  *graph.mutable_node(0) = node;
  EXPECT_NE(WhyNot(model, {}).find(kAdvice), std::string::npos) << WhyNot(model, {});
  EXPECT_TRUE(Import(model, {Axes({1})}).ok());
}

TEST(OnnxConstants, SignaturesOfMemoryAreThoseOfFiles) {
  const std::string bytes = Sum().SerializeAsString();
  const Result<Graph> signature =
      ImportOnnxSignature({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "m");
  ASSERT_TRUE(signature.ok());
  ASSERT_EQ(signature->inputs.size(), 2u);
  EXPECT_EQ(signature->tensors[0].name, "axes");
  EXPECT_EQ(signature->tensors[1].shape, (Shape{2, 3}));
  EXPECT_EQ(ImportOnnxSignature({}, "m").status().message(), "m: the file is empty");
}

}  // namespace
}  // namespace intaglio::nn
