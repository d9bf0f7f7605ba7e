// Functions of a file, which are inlined.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "intaglio/test/nn/formats/onnx/small_models.h"

namespace intaglio::nn::test {
namespace {

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

}  // namespace
}  // namespace intaglio::nn::test
