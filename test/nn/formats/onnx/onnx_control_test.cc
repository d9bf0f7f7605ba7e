// Branches and loops of files that nobody should trust.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "intaglio/test/nn/formats/onnx/small_models.h"

namespace intaglio::nn::test {
namespace {

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

}  // namespace
}  // namespace intaglio::nn::test
