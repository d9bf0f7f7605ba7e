// Real models, resized at random: a graph that is resized is what reading the file with the new
// shapes gives, and so are its results.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/passes/infer_shapes.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/raw_run.h"
#include "intaglio/test/nn/shared_models.h"

namespace intaglio::nn {
namespace {

using test::RawTensors;

constexpr int64_t kMaxWork = 20'000'000;  // of a run that is compared

std::vector<Shape> ShapesOf(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<Shape> shapes;
  for (const TensorId id : ids) shapes.push_back(graph.tensors[static_cast<size_t>(id)].shape);
  return shapes;
}

std::vector<Shape> RandomShapes(const Graph& graph, std::mt19937& random) {
  std::vector<Shape> shapes = ShapesOf(graph, graph.inputs);
  for (Shape& shape : shapes) {
    for (size_t axis = 0; axis + 1 < shape.size(); ++axis) {  // channels seldom change
      if (random() % 2 == 0) shape[axis] = static_cast<int>(1 + random() % (axis == 0 ? 4 : 40));
    }
  }
  return shapes;
}

// Whether the shapes fit.
bool Compare(const std::string& path, Model& model, const std::vector<Shape>& shapes) {
  Result<Graph> read = LoadTflite(path, {.input_shapes = shapes});
  const Result<Graph> resized = ResizeInputs(model.graph(), shapes);
  EXPECT_EQ(read.ok(), resized.ok()) << read.status().message() << resized.status().message();
  if (!read.ok() || !resized.ok()) {
    EXPECT_NE(read.status().message().find(resized.status().message()), std::string::npos)
        << read.status().message() << "\n"
        << resized.status().message();
    return false;
  }
  EXPECT_EQ(ShapesOf(*read, read->outputs), ShapesOf(*resized, resized->outputs));
  EXPECT_EQ(read->layers.size(), resized->layers.size());
  Result<Model> fresh = Model::Prepare(std::move(*read));
  const Status status = model.Resize(shapes);
  EXPECT_EQ(fresh.ok(), status.ok()) << status.message();
  if (!fresh.ok() || !status.ok() || fresh->work() > kMaxWork) return false;
  EXPECT_LE(model.taken_bytes(), fresh->taken_bytes()) << "constants stay aligned";
  RawTensors expected;
  RawTensors results;
  const RawTensors inputs = test::RandomInputs(model.graph(), 1);
  EXPECT_EQ(test::RunRaw(*fresh, inputs, expected), test::RunRaw(model, inputs, results));
  EXPECT_EQ(expected, results);
  return true;
}

TEST(ResizedModels, AreThoseThatAreRead) {
  const auto files = test::SharedModelFiles();
  if (files.empty()) GTEST_SKIP() << test::NoSharedModels();
  std::mt19937 random(1);  // NOLINT: the same shapes each time
  size_t fitted = 0;
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    Result<Graph> graph = LoadTflite(file.string());
    if (!graph.ok()) continue;
    const std::vector<Shape> own = ShapesOf(*graph, graph->inputs);
    Result<Model> model = Model::Prepare(std::move(*graph));
    if (!model.ok()) continue;
    for (int i = 0; i < 6; ++i) {
      const std::vector<Shape> shapes = i < 5 ? RandomShapes(model->graph(), random) : own;
      fitted += Compare(file.string(), *model, shapes) ? 1 : 0;
    }
  }
  EXPECT_GT(fitted, 100u);
}

}  // namespace
}  // namespace intaglio::nn
