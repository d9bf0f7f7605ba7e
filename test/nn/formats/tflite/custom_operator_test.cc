// An operator that the library does not know, from a custom operator of a file to its results.
#include "intaglio/nn/formats/tflite/custom_operator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/formats/tflite/survey.h"
#include "intaglio/nn/formats/tflite/writer.h"
#include "intaglio/nn/ops/builder.h"
#include "intaglio/nn/passes/integer_only.h"
#include "intaglio/nn/passes/partition.h"
#include "intaglio/nn/routine/routine_of.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/tflite/crafted_models.h"

namespace intaglio::nn {
namespace {

// y = x + times * amounts, where the amounts are int8 constants, one for each element.
struct AddAmounts {
  int times = 1;
  static const OperatorRow kRow;
};

ShapesResult Infer(const LayerView& layer) { return std::vector<Shape>{layer.input(0).shape}; }

Result<PreparedLayer> Prepare(const LayerView& layer, const LayerOptions&) {
  const auto count = static_cast<size_t>(*CountElements(layer.input(0).shape));
  const auto times = static_cast<size_t>(layer.op<AddAmounts>().times);
  PreparedLayer prepared;
  prepared.routine = RoutineOf([=](const RunArguments& arguments) {
    const auto* const x = static_cast<const uint8_t*>(arguments.inputs[0]);
    const auto* const amounts = static_cast<const uint8_t*>(arguments.inputs[1]);
    auto* const y = static_cast<uint8_t*>(arguments.outputs[0]);
    for (size_t i = 0; i < count; ++i) y[i] = static_cast<uint8_t>(x[i] + times * amounts[i]);
  });
  return prepared;
}

constexpr int64_t kWork = 1000;

constinit const OperatorRow AddAmounts::kRow = {
    .name = "ADD_AMOUNTS",
    .min_inputs = 2,
    .max_inputs = 2,
    .types = SetOf(Type::kInt8),
    .infer = Infer,
    .candidates = Candidate{.algorithm = "add_amounts", .prepare = Prepare, .backend = "test"},
    .parameters = 0b10,
    .extra_work = [](const LayerView&) { return kWork; }};

Result<Operator> Read(std::span<const uint8_t> options, const LayerView& layer) {
  if (options.size() != 1) return InvalidArgument("needs one byte of options");
  if (layer.input_count() != 2 || !layer.has_input(1) || !layer.input(1).constant) {
    return Unsupported("its amounts are not constant");
  }
  return Operator(AddAmounts{options[0]});
}

Result<std::vector<uint8_t>> Write(const LayerView& layer) {
  return std::vector<uint8_t>{static_cast<uint8_t>(layer.op<AddAmounts>().times)};
}

constexpr CustomOperator kCustom = {
    .name = "AddAmounts", .row = &AddAmounts::kRow, .read = Read, .write = Write};

test::TensorSpec TensorOf(const char* name, std::vector<uint8_t> data = {}) {
  test::TensorSpec tensor;
  tensor.name = name;
  tensor.shape = {4};
  tensor.data = std::move(data);
  return tensor;
}

test::OperatorSpec Custom(std::vector<int> inputs, std::vector<int> outputs) {
  test::OperatorSpec op;
  op.code = tflite::BuiltinOperator::CUSTOM;
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  op.custom_code = "AddAmounts";
  op.custom_options = {2};
  return op;
}

// x, amounts -> AddAmounts -> y
test::ModelSpec OneLayer() {
  test::ModelSpec spec;
  spec.tensors = {TensorOf("x"), TensorOf("amounts", {1, 2, 3, 255}), TensorOf("y")};
  spec.operators = {Custom({0, 1}, {2})};
  spec.inputs = {0};
  spec.outputs = {2};
  return spec;
}

Result<Graph> Import(const test::ModelSpec& spec, std::vector<CustomOperator> list = {kCustom}) {
  const auto bytes = std::make_shared<const std::vector<uint8_t>>(test::Build(spec));
  return ImportTflite(*bytes, bytes, "crafted", {.custom_operators = std::move(list)});
}

std::string WhyNot(const test::ModelSpec& spec, std::vector<CustomOperator> list = {kCustom}) {
  return Import(spec, std::move(list)).status().message();
}

Model PrepareIt(Graph graph, const PrepareOptions& options = {}) {
  Result<Model> model = Model::Prepare(std::move(graph), options);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(*model);
}

std::vector<int8_t> RunIt(Model& model) {
  const std::vector<int8_t> x = {10, 20, 30, 40};
  std::vector<int8_t> y(4);
  const InputBuffer inputs[] = {MakeInput(x)};
  const OutputBuffer outputs[] = {MakeOutput(y)};
  std::vector<std::chrono::nanoseconds> times(model.layers().size());
  EXPECT_TRUE(model.Run(inputs, outputs, times).ok());
  return y;
}

const std::vector<int8_t> kResult = {12, 24, 36, 38};

TEST(CustomOperator, RunsFromAFile) {
  const Result<Graph> graph = Import(OneLayer());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(LabelOf(*graph, 0), "ADD_AMOUNTS #0 'y'");
  Model model = PrepareIt(*graph);
  EXPECT_EQ(RunIt(model), kResult);
  EXPECT_EQ(model.layers()[0].operator_name, "ADD_AMOUNTS");
  EXPECT_EQ(model.layers()[0].routine, "test:qint8/add_amounts");
  EXPECT_GE(model.layers()[0].work, kWork);
  Result<Model> other = model.Share();
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(RunIt(*other), kResult);
}

TEST(CustomOperator, TakesOtherShapes) {
  Model model = PrepareIt(*Import(OneLayer()));
  ASSERT_TRUE(model.Resize({{2}}).ok());
  const std::vector<int8_t> x = {10, 20};
  std::vector<int8_t> y(2);
  const InputBuffer inputs[] = {MakeInput(x)};
  const OutputBuffer outputs[] = {MakeOutput(y)};
  ASSERT_TRUE(model.Run(inputs, outputs).ok());
  EXPECT_EQ(y, (std::vector<int8_t>{12, 24}));
}

TEST(CustomOperator, IsRefusedByWhoDoesNotKnowIt) {
  EXPECT_EQ(WhyNot(OneLayer(), {}), "crafted: operator #0 CUSTOM 'AddAmounts' v1: not supported");
  test::ModelSpec spec = OneLayer();
  spec.operators[0].version = 2;
  EXPECT_EQ(WhyNot(spec), "crafted: operator #0 CUSTOM 'AddAmounts' v2: not supported");
  spec = OneLayer();
  spec.operators[0].custom_code = "AddAmount";
  EXPECT_EQ(WhyNot(spec), "crafted: operator #0 CUSTOM 'AddAmount' v1: not supported");
  spec = OneLayer();
  spec.operators[0].code = tflite::BuiltinOperator::RFFT2D;  // the name is not looked at
  EXPECT_EQ(WhyNot(spec), "crafted: operator #0 RFFT2D v1: not supported");
}

TEST(CustomOperator, SaysWhatIsWrongInTheFile) {
  const std::string place = "crafted: operator #0 CUSTOM 'AddAmounts' v1: ";
  test::ModelSpec spec = OneLayer();
  spec.operators[0].custom_options = {};
  EXPECT_EQ(WhyNot(spec), place + "needs one byte of options");
  spec = OneLayer();
  spec.operators[0].inputs = {0};
  EXPECT_EQ(WhyNot(spec), place + "its amounts are not constant");
  spec = OneLayer();
  spec.operators[0].inputs = {-1, 1};
  EXPECT_EQ(WhyNot(spec), "crafted: ADD_AMOUNTS #0 'y': input 0 is absent");
  spec = OneLayer();
  spec.operators[0].outputs = {};
  spec.outputs = {0};
  EXPECT_NE(WhyNot(spec).find("has 0 outputs; 1 expected"), std::string::npos) << WhyNot(spec);
}

TEST(CustomOperator, ItsTypesAreThoseOfItsRow) {
  test::ModelSpec spec = OneLayer();
  spec.tensors[0].type = spec.tensors[2].type = tflite::TensorType::UINT8;
  const Result<Graph> graph = Import(spec);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(Model::Prepare(*graph).status().message(),
            "ADD_AMOUNTS #0 'y': input 'x' is uint8; int8 is supported");
}

TEST(CustomOperator, ListsMustBeComplete) {
  const auto why_not = [](CustomOperator custom) { return WhyNot(OneLayer(), {custom}); };
  CustomOperator custom = kCustom;
  custom.name = "";
  EXPECT_EQ(why_not(custom), "crafted: a custom operator has no name");
  custom = kCustom;
  custom.row = nullptr;
  EXPECT_EQ(why_not(custom), "crafted: custom operator 'AddAmounts' has no row");
  custom = kCustom;
  custom.read = nullptr;
  EXPECT_EQ(why_not(custom), "crafted: custom operator 'AddAmounts' has no function that reads it");
  custom = kCustom;
  custom.name = "ADD";
  EXPECT_EQ(why_not(custom),
            "crafted: custom operator 'ADD' has the name of one of the format's own operators");
  custom = kCustom;
  custom.row = &Relu::kRow;
  EXPECT_EQ(why_not(custom),
            "crafted: operator #0 CUSTOM 'AddAmounts' v1: the function that reads it made another "
            "operator, ADD_AMOUNTS");
  const Graph graph;
  EXPECT_EQ(ExportTflite(graph, {.custom_operators = {{}}}).status().message(),
            "a custom operator has no name");
}

TEST(CustomOperator, IsWrittenAgain) {
  const Result<Graph> graph = Import(OneLayer());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(ExportTflite(*graph).status().message(),
            "ADD_AMOUNTS #0 'y': the format has no such operator");
  CustomOperator only_read = kCustom;
  only_read.write = nullptr;
  EXPECT_EQ(ExportTflite(*graph, {.custom_operators = {only_read}}).status().message(),
            "ADD_AMOUNTS #0 'y': there is no function that writes the custom operator");
  const auto bytes = ExportTflite(*graph, {.custom_operators = {kCustom}});
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const auto again = ImportTflite(*bytes, nullptr, "again", {.custom_operators = {kCustom}});
  ASSERT_TRUE(again.ok()) << again.status().message();
  ASSERT_NE(again->layers[0].op.As<AddAmounts>(), nullptr);
  EXPECT_EQ(again->layers[0].op.As<AddAmounts>()->times, 2);
  Model model = PrepareIt(*again);
  EXPECT_EQ(RunIt(model), kResult);
}

// Amounts, which are parameters, follow from constants through a layer of the operator itself.
test::ModelSpec TwoLayers() {
  test::ModelSpec spec = OneLayer();
  spec.tensors.push_back(TensorOf("zeros", {0, 0, 0, 0}));
  spec.tensors.push_back(TensorOf("doubled"));
  spec.operators = {Custom({3, 1}, {4}), Custom({0, 4}, {2})};
  return spec;
}

TEST(CustomOperator, IsFolded) {
  const Result<Graph> graph = Import(TwoLayers());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->layers.size(), 1u);
  Model model = PrepareIt(*graph);
  EXPECT_EQ(RunIt(model), (std::vector<int8_t>{14, 28, 42, 36}));
}

TEST(CustomOperator, KeepsTheLimits) {
  const Result<Graph> graph = Import(OneLayer());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const Status status = Model::Prepare(*graph, {.limits = {.max_work = kWork}}).status();
  EXPECT_NE(status.message().find("ADD_AMOUNTS #0 'y'"), std::string::npos) << status.message();
}

TEST(CustomOperator, BelongsToTheIntegers) {
  const Result<Graph> graph = Import(OneLayer());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_TRUE(CheckIntegerOnly(*graph).ok());
  const Result<Parts> parts = Partition(*graph);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  Model model = PrepareIt(parts->quantized_main, {.integer_only = true});
  EXPECT_EQ(RunIt(model), kResult);
}

TEST(CustomOperator, IsSurveyed) {
  const std::vector<uint8_t> bytes = test::Build(OneLayer());
  const std::string path = testing::TempDir() + "/custom_operator.tflite";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  const CustomOperator list[] = {kCustom};
  const Result<std::vector<SurveyRow>> without = SurveyTflite(path);
  const Result<std::vector<SurveyRow>> with = SurveyTflite(path, {}, list);
  std::remove(path.c_str());
  ASSERT_TRUE(without.ok() && with.ok());
  EXPECT_EQ(without->at(0).why_not, "not supported");
  EXPECT_EQ(with->at(0).why_not, "");
  EXPECT_EQ(with->at(0).name, "CUSTOM 'AddAmounts'");
}

// A row may ask for no input at all.
struct Sevens {
  static const OperatorRow kRow;
};

constinit const OperatorRow Sevens::kRow = {
    .name = "SEVENS",
    .min_inputs = 0,
    .max_inputs = 0,
    .types = kAnyType,
    .infer = [](const LayerView&) -> ShapesResult { return std::vector<Shape>{{4}}; },
    .candidates =
        Candidate{.algorithm = "sevens",
                  .prepare = [](const LayerView&, const LayerOptions&) -> Result<PreparedLayer> {
                    PreparedLayer prepared;
                    prepared.routine = RoutineOf([](const RunArguments& arguments) {
                      for (int i = 0; i < 4; ++i) static_cast<int8_t*>(arguments.outputs[0])[i] = 7;
                    });
                    return prepared;
                  },
                  .kind = "int8"}};

TEST(CustomOperator, MayHaveNoInputs) {
  test::ModelSpec spec = OneLayer();
  spec.operators[0].inputs = {};
  spec.operators[0].custom_code = "Sevens";
  const auto read = [](std::span<const uint8_t>, const LayerView&) -> Result<Operator> {
    return Operator(Sevens{});
  };
  const Result<Graph> graph =
      Import(spec, {{.name = "Sevens", .row = &Sevens::kRow, .read = read}});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Model model = PrepareIt(*graph);
  EXPECT_EQ(RunIt(model), (std::vector<int8_t>{7, 7, 7, 7}));
}

}  // namespace
}  // namespace intaglio::nn
