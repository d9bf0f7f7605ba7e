// Branches and loops of files that nobody should trust.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "intaglio/nn/graph/nested_graphs.h"
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

void CastTo(TensorProto::DataType type, NodeProto* cast) {
  AttributeProto* const to = cast->add_attribute();
  to->set_name("to");
  to->set_type(AttributeProto::INT);
  to->set_i(type);
}

TEST(OnnxReader, ElementsOfFewBitsStayOutsideOfBranches) {
  ModelProto made_inside = Choose("Cast", "Cast");
  ModelProto made_outside = made_inside;
  auto* nodes = made_inside.mutable_graph()->mutable_node();
  for (AttributeProto& branch : *nodes->rbegin()->mutable_attribute()) {
    CastTo(TensorProto::INT4, branch.mutable_g()->mutable_node(0));
  }
  const std::string reason = "elements of fewer than 8 bits";
  EXPECT_NE(WhyNot(made_inside).find(reason), std::string::npos) << WhyNot(made_inside);
  nodes = made_outside.mutable_graph()->mutable_node();
  for (AttributeProto& branch : *nodes->rbegin()->mutable_attribute()) {
    branch.mutable_g()->mutable_node(0)->set_input(0, "narrow");
    CastTo(TensorProto::FLOAT, branch.mutable_g()->mutable_node(0));
  }
  CastTo(TensorProto::INT4, AddNode(nodes, "Cast", {"x"}, "narrow"));
  nodes->SwapElements(nodes->size() - 2, nodes->size() - 1);
  EXPECT_NE(WhyNot(made_outside).find(reason), std::string::npos) << WhyNot(made_outside);
  nodes->rbegin()[1].mutable_attribute(0)->set_i(TensorProto::INT8);
  EXPECT_EQ(WhyNot(made_outside), "");
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

TEST(OnnxReader, ElementsOfFewBitsStayOutsideOfLoops) {
  ModelProto model = Model1();
  TensorProto* const rounds = model.mutable_graph()->add_initializer();
  rounds->set_name("rounds");
  rounds->set_data_type(TensorProto::INT64);
  rounds->add_int64_data(100);
  auto* const nodes = model.mutable_graph()->mutable_node();
  CastTo(TensorProto::INT4, AddNode(nodes, "Cast", {"x"}, "narrow"));
  AddNode(AddLoop(nodes, "rounds", "narrow", "y")->mutable_node(), "Identity", {"h"}, "next");
  EXPECT_NE(WhyNot(model).find("elements of fewer than 8 bits"), std::string::npos)
      << WhyNot(model);
  nodes->Mutable(0)->mutable_attribute(0)->set_i(TensorProto::INT8);
  EXPECT_EQ(WhyNot(model), "");
}

// y collects what the body makes of each element of `from`.
NodeProto* AddScan(google::protobuf::RepeatedPtrField<NodeProto>* to, const std::string& from) {
  NodeProto* const scan = AddNode(to, "Scan", {from}, "y");
  AttributeProto* const count = scan->add_attribute();
  count->set_name("num_scan_inputs");
  count->set_i(1);
  count->set_type(AttributeProto::INT);
  onnx::GraphProto* const body = AddGraph(scan, "body", "Cast", {"h"}, "next");
  SetScalar(body->add_input(), "h", TensorProto::FLOAT);
  SetScalar(body->add_output(), "next", TensorProto::FLOAT);
  return body->mutable_node(0);
}

TEST(OnnxReader, ScansReadNoElementsOfFewBits) {
  for (const bool is_read : {true, false}) {
    ModelProto model = Model1();
    auto* const nodes = model.mutable_graph()->mutable_node();
    CastTo(is_read ? TensorProto::INT4 : TensorProto::INT8, AddNode(nodes, "Cast", {"x"}, "whole"));
    NodeProto* const cast = AddScan(nodes, "whole");
    CastTo(is_read ? TensorProto::FLOAT : TensorProto::INT4, cast);
    EXPECT_NE(WhyNot(model).find("elements of fewer than 8 bits"), std::string::npos)
        << WhyNot(model);
    nodes->Mutable(0)->mutable_attribute(0)->set_i(TensorProto::INT8);
    cast->mutable_attribute(0)->set_i(TensorProto::FLOAT);
    const Result<Graph> graph = Import(model);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(ResultsOf(*graph, {1.5f, -2.5f, 300, 4}), (std::vector<float>{1, -2, 127, 4}));
  }
}

// ys collects x, 2 x, 3 x, ..., as long as the largest number is below 10, in `limit` rounds.
ModelProto CollectUntilTen(const std::string& limit) {
  ModelProto model = Model1();
  TensorProto* const rounds = model.mutable_graph()->add_initializer();
  rounds->set_name("rounds");
  rounds->set_data_type(TensorProto::INT64);
  rounds->add_int64_data(3);
  TensorProto* const ten = model.mutable_graph()->add_initializer();
  ten->set_name("ten");
  ten->set_data_type(TensorProto::FLOAT);
  ten->add_float_data(10);
  SetScalar(model.mutable_graph()->add_input(), "n", TensorProto::INT64);
  auto* const nodes = model.mutable_graph()->mutable_node();
  AddNode(nodes, "Sub", {"x", "x"}, "zeros");
  onnx::GraphProto* const body = AddLoop(nodes, limit, "zeros", "last");
  body->clear_node();
  nodes->Mutable(1)->add_output("y");
  AddNode(body->mutable_node(), "Add", {"h", "x"}, "next");
  AddNode(body->mutable_node(), "ReduceMax", {"next"}, "largest");
  AddNode(body->mutable_node(), "Less", {"largest", "ten"}, "on");
  AddNode(body->mutable_node(), "Identity", {"next"}, "collected");
  SetFloats(body->add_output(), "collected", {4});
  SetFloats(model.mutable_graph()->mutable_output(0), "y", {3, 4});
  return model;
}

TEST(OnnxReader, ALoopThatCollectsMustTakeAllItsRounds) {
  ModelProto model = CollectUntilTen("rounds");
  model.mutable_graph()->mutable_input()->RemoveLast();  // n
  const Result<Graph> graph = Import(model);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  // The condition behind the last round no longer matters.
  for (const float most : {3.0f, 4.0f}) {
    EXPECT_EQ(ResultsOf(*graph, {1, 2, most, 0}),
              (std::vector<float>{1, 2, most, 0, 2, 4, 2 * most, 0, 3, 6, 3 * most, 0}));
  }
  Result<Model> prepared = Model::Prepare(*graph);
  ASSERT_TRUE(prepared.ok());
  const std::vector<float> x = {1, 2, 5, 0};
  std::vector<float> y(12);
  const InputBuffer inputs[] = {MakeInput(x)};
  const OutputBuffer outputs[] = {MakeOutput(y)};
  const std::string error = prepared->Run(inputs, outputs).message();
  EXPECT_NE(error.find("results of 3 rounds"), std::string::npos) << error;
}

TEST(OnnxReader, ALoopThatCollectsNeedsANumberOfRounds) {
  const std::string of_run = WhyNot(CollectUntilTen("n"));
  EXPECT_NE(of_run.find("only a run would know; give input 'n' a value"), std::string::npos)
      << of_run;
  OnnxOptions options;
  options.constants = {MakeInputConstant<int64_t>("n", {}, {3})};
  EXPECT_TRUE(Import(CollectUntilTen("n"), options).ok());
  const std::string endless = WhyNot(CollectUntilTen(""));
  EXPECT_NE(endless.find("nothing but a condition of the run limits"), std::string::npos)
      << endless;
}

// Two transposes that cancel, and a group of Dequantize- and QuantizeLinear.
void AddWorkForPasses(onnx::GraphProto* graph, const std::string& from, const std::string& to) {
  TensorProto* const scale = graph->add_initializer();
  scale->set_name("scale");
  scale->set_data_type(TensorProto::FLOAT);
  scale->add_float_data(0.05f);
  TensorProto* const zero = graph->add_initializer();
  zero->set_name("zero");
  zero->set_data_type(TensorProto::UINT8);
  zero->add_int32_data(120);
  TensorProto* const shape = graph->add_initializer();
  shape->set_name("shape");
  shape->set_data_type(TensorProto::INT64);
  shape->add_dims(2);
  for (const int extent : {2, 2}) shape->add_int64_data(extent);
  TensorProto* const flat = graph->add_initializer();
  flat->set_name("flat");
  flat->set_data_type(TensorProto::INT64);
  flat->add_dims(1);
  flat->add_int64_data(4);
  auto* const nodes = graph->mutable_node();
  AddNode(nodes, "Reshape", {from, "shape"}, "matrix");
  AddNode(nodes, "Transpose", {"matrix"}, "turned");
  AddNode(nodes, "QuantizeLinear", {"turned", "scale", "zero"}, "q");
  AddNode(nodes, "DequantizeLinear", {"q", "scale", "zero"}, "d");
  AddNode(nodes, "Sigmoid", {"d"}, "s");
  AddNode(nodes, "QuantizeLinear", {"s", "scale", "zero"}, "q2");
  AddNode(nodes, "DequantizeLinear", {"q2", "scale", "zero"}, "d2");
  AddNode(nodes, "Transpose", {"d2"}, "back");
  AddNode(nodes, "Reshape", {"back", "flat"}, to);
}

int CountLayers(const Graph& graph, const std::string& name) {
  return static_cast<int>(std::count_if(graph.layers.begin(), graph.layers.end(),
                                        [&](const Layer& l) { return l.op.row().name == name; }));
}

// In the graph that a layer of this name runs last.
void ExpectPassesRan(const Graph& graph, const std::string& name) {
  for (const Layer& layer : graph.layers) {
    if (layer.op.row().name != name) continue;
    const Graph& inner = *NestedGraphsOf(layer.op).back().graph;
    EXPECT_EQ(CountLayers(inner, "TRANSPOSE"), 0);
    EXPECT_EQ(CountLayers(inner, "LOGISTIC"), 0);  // one of bytes is a table
    EXPECT_EQ(CountLayers(inner, "DEQUANTIZE"), 1);
    return;
  }
  ADD_FAILURE() << "no " << name;
}

TEST(OnnxReader, PassesRunInsideOfBranches) {
  ModelProto model = Choose("Relu", "Neg");
  onnx::GraphProto* const branch =
      model.mutable_graph()->mutable_node(4)->mutable_attribute(1)->mutable_g();
  branch->clear_node();
  AddWorkForPasses(branch, "x", "b");
  OnnxOptions without;
  without.without_passes = {"remove-transposes", "fuse-quantization"};
  const Result<Graph> graph = Import(model);
  const Result<Graph> plain = Import(model, without);
  ASSERT_TRUE(graph.ok() && plain.ok()) << graph.status().message();
  ExpectPassesRan(*graph, "IF");
  const std::vector<float> x = {-1, -2, -0.3f, -4};
  EXPECT_EQ(ResultsOf(*graph, x), ResultsOf(*plain, x));
}

TEST(OnnxReader, PassesRunInsideOfLoops) {
  ModelProto model = Model1();
  TensorProto* const rounds = model.mutable_graph()->add_initializer();
  rounds->set_name("rounds");
  rounds->set_data_type(TensorProto::INT64);
  rounds->add_int64_data(100);
  onnx::GraphProto* const body = AddLoop(model.mutable_graph()->mutable_node(), "rounds", "x", "y");
  AddWorkForPasses(body, "h", "work");
  AddNode(body->mutable_node(), "Add", {"work", "x"}, "next");
  OnnxOptions without;
  without.without_passes = {"remove-transposes", "fuse-quantization"};
  const Result<Graph> graph = Import(model);
  const Result<Graph> plain = Import(model, without);
  ASSERT_TRUE(graph.ok() && plain.ok()) << graph.status().message();
  ExpectPassesRan(*graph, "WHILE");
  const std::vector<float> x = {-1, -2, -0.3f, -4};
  EXPECT_EQ(ResultsOf(*graph, x), ResultsOf(*plain, x));
}

void AddScale(onnx::GraphProto* graph) {
  TensorProto* const scale = graph->add_initializer();
  scale->set_name("scale");
  scale->set_data_type(TensorProto::FLOAT);
  scale->add_float_data(0.05f);
  TensorProto* const zero = graph->add_initializer();
  zero->set_name("offset");
  zero->set_data_type(TensorProto::INT8);
  zero->add_int32_data(3);
}

// Weights that are dequantized outside of the graphs that read them.
void AddWeights(onnx::GraphProto* graph) {
  AddScale(graph);
  TensorProto* const weights = graph->add_initializer();
  weights->set_name("w");
  weights->set_data_type(TensorProto::INT8);
  for (const int extent : {4, 4}) weights->add_dims(extent);
  for (int i = 0; i < 16; ++i) weights->add_int32_data(i * 37 % 23 - 11);
  AddNode(graph->mutable_node(), "DequantizeLinear", {"w", "scale", "offset"}, "weights");
}

// A product with them between QuantizeLinear and DequantizeLinear.
void AddProduct(onnx::GraphProto* graph, const std::string& from, const std::string& to) {
  auto* const nodes = graph->mutable_node();
  AddNode(nodes, "QuantizeLinear", {from, "scale", "offset"}, "q");
  AddNode(nodes, "DequantizeLinear", {"q", "scale", "offset"}, "d");
  AddNode(nodes, "MatMul", {"d", "weights"}, "product");
  AddNode(nodes, "QuantizeLinear", {"product", "scale", "offset"}, "q2");
  AddNode(nodes, "DequantizeLinear", {"q2", "scale", "offset"}, to);
}

// The product of a graph that a layer of this name runs is one of integers.
void ExpectProductOfIntegers(const Graph& graph, const std::string& name) {
  EXPECT_EQ(CountLayers(graph, "DEQUANTIZE"), 0);
  for (const Layer& layer : graph.layers) {
    if (layer.op.row().name != name) continue;
    const Graph& inner = *NestedGraphsOf(layer.op).back().graph;
    for (const Layer& product : inner.layers) {
      if (product.op.row().name != std::string("BATCH_MATMUL")) continue;
      EXPECT_EQ(inner.tensors[static_cast<size_t>(product.outputs[0])].type, Type::kInt8);
      return;
    }
  }
  ADD_FAILURE() << "no product in " << name;
}

TEST(OnnxReader, WeightsDequantizedOutsideOfLoops) {
  ModelProto model = Model1();
  onnx::GraphProto* const graph = model.mutable_graph();
  AddWeights(graph);
  TensorProto* const rounds = graph->add_initializer();
  rounds->set_name("rounds");
  rounds->set_data_type(TensorProto::INT64);
  rounds->add_int64_data(100);
  onnx::GraphProto* const body = AddLoop(graph->mutable_node(), "rounds", "x", "y");
  AddProduct(body, "h", "work");
  AddNode(body->mutable_node(), "Add", {"work", "x"}, "next");
  OnnxOptions without;
  without.without_passes = {"fuse-quantization"};
  const Result<Graph> fused = Import(model);
  const Result<Graph> plain = Import(model, without);
  ASSERT_TRUE(fused.ok() && plain.ok()) << fused.status().message();
  ExpectProductOfIntegers(*fused, "WHILE");
  const std::vector<float> x = {-1, -2, -0.3f, -4};
  EXPECT_EQ(ResultsOf(*fused, x), ResultsOf(*plain, x));
}

TEST(OnnxReader, WeightsDequantizedOutsideOfBranches) {
  ModelProto model = Choose("Relu", "Neg");
  onnx::GraphProto* const graph = model.mutable_graph();
  onnx::GraphProto* const branch = graph->mutable_node(4)->mutable_attribute(1)->mutable_g();
  branch->clear_node();
  AddProduct(branch, "x", "b");
  // Behind the other constants, and before the nodes.
  onnx::GraphProto with_weights;
  AddWeights(&with_weights);
  for (const onnx::NodeProto& node : graph->node()) *with_weights.add_node() = node;
  graph->mutable_node()->Swap(with_weights.mutable_node());
  graph->mutable_initializer()->MergeFrom(with_weights.initializer());
  OnnxOptions without;
  without.without_passes = {"fuse-quantization"};
  const Result<Graph> fused = Import(model);
  const Result<Graph> plain = Import(model, without);
  ASSERT_TRUE(fused.ok() && plain.ok()) << fused.status().message();
  ExpectProductOfIntegers(*fused, "IF");
  const std::vector<float> x = {-1, -2, -0.3f, -4};
  EXPECT_EQ(ResultsOf(*fused, x), ResultsOf(*plain, x));
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
