// Variables in files: which of them become resources, and what they start with.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/formats/tflite/writer.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/test/nn/raw_run.h"

namespace intaglio::nn {
namespace {

using test::RawTensors;

Tensor MakeTensor(std::string name, Shape shape = {3}) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.quantization = PerTensor(0.5f, -7);
  return tensor;
}

Tensor MakeVariable(std::string name, Shape shape = {3}) {
  Tensor tensor = MakeTensor(std::move(name), std::move(shape));
  tensor.variable = true;
  return tensor;
}

void SetData(Tensor& tensor, const std::vector<int8_t>& values) {
  tensor.data = values.data();
  tensor.data_bytes = values.size();
}

Graph Again(const Graph& graph) {
  const Result<std::vector<uint8_t>> bytes = ExportTflite(graph);
  if (!bytes.ok()) {
    ADD_FAILURE() << bytes.status().message();
    return graph;
  }
  const auto owner = std::make_shared<const std::vector<uint8_t>>(*bytes);
  const Result<Graph> again = ImportTflite(*owner, owner, graph.name);
  if (!again.ok()) {
    ADD_FAILURE() << again.status().message();
    return graph;
  }
  EXPECT_EQ(*ExportTflite(*again), *bytes) << "the second file differs from the first";
  return *again;
}

std::string ErrorOf(const Graph& graph) {
  const Result<std::vector<uint8_t>> bytes = ExportTflite(graph);
  return bytes.ok() ? "ok" : bytes.status().message();
}

// Runs one instance four times.
std::vector<RawTensors> RunFour(const Graph& graph) {
  std::vector<RawTensors> outputs(4);
  Result<Model> model = Model::Prepare(graph);
  EXPECT_TRUE(model.ok()) << model.status().message();
  for (unsigned i = 0; model.ok() && i < outputs.size(); ++i) {
    EXPECT_EQ(test::RunRaw(*model, test::RandomInputs(graph, i), outputs[i]), "");
  }
  return outputs;
}

// Outputs old = v; v = x, for variables of the given names.
Graph Delays(const std::vector<std::string>& names) {
  Graph graph;
  for (const std::string& name : names) {
    const auto x = static_cast<TensorId>(graph.tensors.size());
    graph.tensors.push_back(MakeTensor("x"));
    graph.tensors.push_back(MakeTensor("old"));
    graph.tensors.push_back(MakeVariable(name));
    graph.layers.push_back({ReadVariable{}, {x + 2}, {x + 1}, {}});
    graph.layers.push_back({AssignVariable{}, {x, x + 2}, {}, {}});
    graph.inputs.push_back(x);
    graph.outputs.push_back(x + 1);
  }
  return graph;
}

TEST(WrittenVariables, StartAtTheirZeroPoints) {
  const Graph graph = Delays({"v"});
  const std::vector<RawTensors> outputs = RunFour(Again(graph));
  EXPECT_EQ(outputs[0][0], std::vector<uint8_t>(3, static_cast<uint8_t>(-7)));
  EXPECT_EQ(outputs[1][0], test::RandomInputs(graph, 0)[0]);
  EXPECT_EQ(outputs, RunFour(graph));
}

TEST(WrittenVariables, StartAsTheirData) {
  const std::vector<int8_t> data = {1, -2, 3};
  Graph graph = Delays({"zeros", "v", "w"});
  SetData(graph.tensors[5], data);
  const Graph again = Again(graph);
  EXPECT_EQ(RunFour(again), RunFour(graph));
  const std::vector<RawTensors> outputs = RunFour(again);
  EXPECT_EQ(outputs[0][1], test::RawTensors({{1, 0xfe, 3}})[0]);
}

TEST(WrittenVariables, OfOneNameStayTwo) {
  const Graph graph = Delays({"v", "v", "v_1", ""});
  EXPECT_EQ(RunFour(Again(graph)), RunFour(graph));
}

// Here every variable that is read was assigned before.
TEST(WrittenVariables, MayHaveNoFirstValue) {
  Graph graph = Delays({"v", "w"});
  std::swap(graph.layers[0], graph.layers[1]);
  std::swap(graph.layers[2], graph.layers[3]);
  std::swap(graph.layers[0], graph.layers[2]);
  std::swap(graph.layers[1], graph.layers[3]);
  const Graph again = Again(graph);
  EXPECT_EQ(again.layers.size(), 4u);
  EXPECT_EQ(RunFour(again), RunFour(graph));
  for (const Tensor& tensor : again.tensors) {
    EXPECT_TRUE(!tensor.variable || tensor.data == nullptr) << tensor.name;
  }
}

TEST(WrittenVariables, StayWhatAFileKnows) {
  Graph direct = Delays({"v"});
  direct.tensors.push_back(MakeTensor("y"));
  direct.layers.push_back({Reshape{{3}}, {2}, {3}, {}});
  EXPECT_EQ(ErrorOf(direct),
            "RESHAPE #2 'y': uses the variable 'v' as it is, and READ_VARIABLE or ASSIGN_VARIABLE "
            "use it too; .tflite files know no such variable");
  Graph output = Delays({"v"});
  output.outputs.push_back(2);
  EXPECT_EQ(ErrorOf(output),
            "the variable 'v' is an output of the model; READ_VARIABLE must read it first");
  const std::vector<int8_t> data = {1, -2, 3};
  Graph state;
  state.tensors = {MakeVariable("v"), MakeTensor("y")};
  state.layers = {{Reshape{{3}}, {0}, {1}, {}}};
  state.outputs = {1};
  EXPECT_EQ(RunFour(Again(state)), RunFour(state));
  SetData(state.tensors[0], data);
  EXPECT_EQ(ErrorOf(state),
            "RESHAPE #0 'y': the variable 'v' starts with elements of its own, which .tflite files "
            "keep for READ_VARIABLE only");
}

// The writer allocates nothing of a size that no file has.
TEST(WrittenVariables, CountInTheSize) {
  Graph graph = Delays({"v"});
  for (Tensor& tensor : graph.tensors) tensor.shape = {1 << 15, 1 << 15};
  EXPECT_NE(ErrorOf(graph).find("files of less than 1 GiB are written"), std::string::npos);
}

}  // namespace
}  // namespace intaglio::nn
