// Other shapes of the inputs than the file's: of a file that is read, of a graph, of a model.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/passes/fold_constants.h"
#include "intaglio/nn/passes/infer_shapes.h"
#include "intaglio/nn/passes/partition.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/tflite/crafted_models.h"
#include "intaglio/test/nn/formats/tflite/exercise.h"

namespace intaglio::nn {
namespace {

using Shapes = std::vector<Shape>;

Result<Graph> Import(const std::vector<uint8_t>& bytes, Shapes shapes) {
  ImportOptions options;
  options.input_shapes = std::move(shapes);
  return ImportTflite(bytes, nullptr, "model", options);
}

std::vector<float> RunOnce(Model& model, const std::vector<float>& x) {
  std::vector<float> y(static_cast<size_t>(*CountElements(model.output(0).shape)));
  const Status status = model.Run(std::vector<InputBuffer>{MakeInput(std::span<const float>(x))},
                                  std::vector<OutputBuffer>{MakeOutput(std::span<float>(y))});
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

TEST(Resize, ABatchGivesWhatItsPartsGive) {
  const std::vector<uint8_t> bytes = test::Build(test::SmallElementwise());
  Result<Graph> graph = Import(bytes, {{3, 4}});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  Result<Model> model = Model::Prepare(std::move(*graph));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->output(0).shape, (Shape{3, 1}));
  Result<Graph> one = Import(bytes, {});
  ASSERT_TRUE(one.ok());
  Result<Model> single = Model::Prepare(std::move(*one));
  ASSERT_TRUE(single.ok());
  const std::vector<float> x = {1, -2, 3, 0.5f, 4, 4, 4, 4, -1, -1, 0, 7};
  const std::vector<float> y = RunOnce(*model, x);
  for (size_t i = 0; i < 3; ++i) {
    const auto begin = x.begin() + static_cast<ptrdiff_t>(4 * i);
    EXPECT_EQ(RunOnce(*single, {begin, begin + 4}), (std::vector<float>{y[i]}));
  }
}

// Converters write 1 for dimensions that they do not know; here, for the channels that the filter
// has.
TEST(Resize, TheFilesOwnShapesNeedNotBeValid) {
  test::ModelSpec spec = test::SmallNetwork();
  spec.tensors[0].shape = {1, 4, 4, 1};
  const std::vector<uint8_t> bytes = test::Build(spec);
  EXPECT_FALSE(Import(bytes, {}).ok());
  const Result<Graph> graph = Import(bytes, {{1, 4, 4, 2}});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->tensors[3].shape, (Shape{1, 4, 4, 4}));
}

TEST(Resize, AnEmptyShapeIsTheFiles) {
  const Result<Graph> graph = Import(test::Build(test::SmallElementwise()), {{}});
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->tensors[0].shape, (Shape{1, 4}));
}

TEST(Resize, NamesTheLayerThatDoesNotFit) {
  const Result<Graph> graph = Import(test::Build(test::SmallNetwork()), {{1, 4, 4, 3}});
  ASSERT_FALSE(graph.ok());
  EXPECT_NE(graph.status().message().find("CONV_2D #0 'conv'"), std::string::npos)
      << graph.status().message();
}

TEST(Resize, RefusesWhatIsNoShape) {
  const std::vector<uint8_t> bytes = test::Build(test::SmallElementwise());
  const auto message = [&](Shapes shapes) {
    return Import(bytes, std::move(shapes)).status().message();
  };
  EXPECT_EQ(message({{1, 4}, {1, 4}}),
            "model: shapes for 2 inputs were given, but the model has 1");
  EXPECT_EQ(message({{-1, 4}}),
            "model: input 0 'x' cannot have the shape [-1, 4]: shape [-1, 4] has a negative "
            "dimension");
  EXPECT_EQ(message({{1, 1, 1, 1, 1, 1, 1, 1, 4}}),
            "model: input 0 'x' cannot have the shape [1, 1, 1, 1, 1, 1, 1, 1, 4]: more than 8 "
            "dimensions");
  EXPECT_TRUE(test::Says(message({{1 << 30, 4}}), "needs more than the limit"));
}

// Keeps the bytes alive.
Graph Read(const test::ModelSpec& spec) {
  const auto bytes = std::make_shared<const std::vector<uint8_t>>(test::Build(spec));
  Result<Graph> graph = ImportTflite(*bytes, bytes, "model");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.ok() ? std::move(*graph) : Graph();
}

TEST(ResizeInputs, ComputesParametersAnew) {
  Result<Graph> graph = Read(test::Flattening());
  const std::pair<Shape, Shape> shapes[] = {
      {{5, 3, 4}, {5, 12}}, {{1, 6, 2}, {1, 12}}, {{7, 1}, {7, 1}}, {{2, 3, 4}, {2, 12}}};
  for (const auto& [x, y] : shapes) {
    graph = ResizeInputs(std::move(*graph), {x});
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    ASSERT_EQ(graph->layers.size(), 1u);
    EXPECT_EQ(LabelOf(*graph, 0), "RESHAPE #3 'y'");
    EXPECT_EQ(graph->tensors[7].shape, y);
  }
}

TEST(ResizeInputs, ComputesConstantsAnew) {
  test::ModelSpec spec = test::Flattening();
  spec.outputs = {6, 1};  // the shapes
  const Result<Graph> graph = ResizeInputs(Read(spec), {{5, 3, 4}});
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto* const packed = static_cast<const int32_t*>(graph->tensors[6].data);
  EXPECT_EQ(std::vector<int32_t>(packed, packed + 2), (std::vector<int32_t>{5, -1}));
}

TEST(ResizeInputs, GivesTheErrorsOfReading) {
  test::ModelSpec fixed = test::SmallNetwork();
  fixed.tensors[10].data = test::Bytes<int32_t>({1, 16});
  const std::pair<test::ModelSpec, Shapes> cases[] = {
      {test::SmallNetwork(), {{1, 4, 4, 3}}},  // the filter's channels
      {test::SmallNetwork(), {{1, 6, 6, 2}}},  // the weights
      {fixed, {{3, 4, 4, 2}}},                 // the constant shape of a RESHAPE
      {test::SmallStateful(), {{2, 4}}},       // the state
      {test::SmallElementwise(), {{1, 4}, {1, 4}}},
      {test::SmallElementwise(), {{-1, 4}}},
  };
  for (const auto& [spec, shapes] : cases) {
    const std::string read = Import(test::Build(spec), shapes).status().message();
    const std::string resized = ResizeInputs(Read(spec), shapes).status().message();
    EXPECT_FALSE(read.empty());
    EXPECT_EQ("model: " + resized, read);
  }
}

TEST(ResizeInputs, RefusesAPartOfWhatFollowsFromShapes) {
  const Result<Parts> parts = Partition(Read(test::Flattening()));
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  const std::string expected =
      "the graph does not keep how its constants and parameters follow from shapes";
  EXPECT_EQ(ResizeInputs(parts->quantized_main, {{5, 3, 4}}).status().message(), expected);
  Graph folded = Read(test::Flattening());
  FoldBudget budget = FoldBudget::ForModelOf(0);
  FoldConstants(folded, budget);
  EXPECT_EQ(ResizeInputs(folded, {{5, 3, 4}}).status().message(), expected);
}

Model Prepared(Graph graph) {
  Result<Model> model = Model::Prepare(std::move(graph));
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(*model);
}

std::vector<int8_t> RunInt8(Model& model) {
  std::vector<int8_t> x(static_cast<size_t>(*CountElements(model.input(0).shape)));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int8_t>(i * 37);
  std::vector<int8_t> y(static_cast<size_t>(*CountElements(model.output(0).shape)));
  const Status status =
      model.Run(std::vector<InputBuffer>{MakeInput(x)}, std::vector<OutputBuffer>{MakeOutput(y)});
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

// A convolution and what follows, without the fully connected layer that fixes the shape.
test::ModelSpec AnySize() {
  test::ModelSpec spec = test::SmallNetwork();
  spec.operators.resize(5);
  spec.outputs = {9};
  return spec;
}

TEST(ModelResize, GivesTheModelOfTheNewShapes) {
  const std::vector<uint8_t> bytes = test::Build(AnySize());
  Model model = Prepared(Read(AnySize()));
  for (const Shape& shape : {Shape{2, 9, 6, 2}, Shape{1, 4, 4, 2}, Shape{3, 32, 32, 2}}) {
    const Status status = model.Resize({shape});
    ASSERT_TRUE(status.ok()) << status.message();
    Result<Graph> read = Import(bytes, {shape});
    ASSERT_TRUE(read.ok()) << read.status().message();
    Model fresh = Prepared(std::move(*read));
    EXPECT_EQ(model.output(0).shape, fresh.output(0).shape);
    EXPECT_EQ(RunInt8(model), RunInt8(fresh));
    EXPECT_EQ(model.arena_bytes(), fresh.arena_bytes());
    EXPECT_EQ(model.constant_bytes(), fresh.constant_bytes());
    EXPECT_EQ(model.taken_bytes(), fresh.taken_bytes()) << "what is not packed again counts too";
  }
}

TEST(ModelResize, LosesNothingWhereItFails) {
  Model model = Prepared(Read(AnySize()));
  const std::vector<int8_t> before = RunInt8(model);
  EXPECT_FALSE(model.Resize({{1, 4, 4, 3}}).ok());
  EXPECT_FALSE(model.Resize({{1, 1 << 28, 1 << 28, 2}}).ok());
  EXPECT_EQ(RunInt8(model), before);
}

TEST(ModelResize, SharedInstancesKeepTheirShapes) {
  Model model = Prepared(Read(AnySize()));
  const std::vector<int8_t> before = RunInt8(model);
  Result<Model> shared = model.Share();
  ASSERT_TRUE(shared.ok());
  ASSERT_TRUE(model.Resize({{1, 8, 8, 2}}).ok());
  EXPECT_EQ(RunInt8(*shared), before);
  EXPECT_EQ(model.Share()->input(0).shape, (Shape{1, 8, 8, 2}));
  EXPECT_EQ(shared->input(0).shape, (Shape{1, 4, 4, 2}));
}

TEST(ModelResize, RefusesBoundBuffers) {
  Model model = Prepared(Read(AnySize()));
  const std::vector<int8_t> x(32);
  ASSERT_TRUE(model.BindInput(0, MakeInput(x)).ok());
  EXPECT_EQ(model.Resize({{1, 8, 8, 2}}).message(),
            "the model has bound buffers: unbind them before it is resized");
  ASSERT_TRUE(model.BindInput(0, {}).ok());
  EXPECT_TRUE(model.Resize({{1, 8, 8, 2}}).ok());
}

TEST(ModelResize, StaysWithinItsLimits) {
  Graph graph = Read(AnySize());
  Result<Model> model = Model::Prepare(graph, {.limits = {.max_bytes = 1 << 20}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->Resize({{1, 1024, 1024, 2}}).code(), StatusCode::kOutOfMemory);
}

}  // namespace
}  // namespace intaglio::nn
