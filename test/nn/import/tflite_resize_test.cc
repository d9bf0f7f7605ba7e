// Other shapes of the inputs than the file's.
#include <gtest/gtest.h>

#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/import/crafted_models.h"
#include "intaglio/test/nn/import/exercise.h"

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

}  // namespace
}  // namespace intaglio::nn
