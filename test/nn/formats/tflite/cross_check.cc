#include "intaglio/test/nn/formats/tflite/cross_check.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/passes/infer_shapes.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/ways.h"

namespace intaglio::nn::test {
namespace {

Result<Graph> Import(std::span<const uint8_t> bytes, std::vector<Shape> shapes = {}) {
  ImportOptions options = LimitedImport();
  options.input_shapes = std::move(shapes);
  return ImportTflite(bytes, nullptr, "bytes", options);
}

std::vector<Shape> InputShapes(const Graph& graph) {
  std::vector<Shape> shapes;
  for (const TensorId id : graph.inputs) {
    shapes.push_back(graph.tensors[static_cast<size_t>(id)].shape);
  }
  return shapes;
}

// Resizes a model, and back. A failure loses nothing.
std::string ResizedModel(const Graph& graph, const std::vector<Shape>& shapes, const Graph& read) {
  Result<Model> model = Model::Prepare(graph, Limited({}));
  if (!model.ok()) return {};
  const Tensors inputs = RampInputs(graph);
  const Result<Tensors> before = RunOnce(*model, inputs);
  const Status status = model->Resize(shapes);
  const bool prepares = Model::Prepare(read, Limited({})).ok();
  if (status.ok() != prepares) return "a model that is resized answers " + status.message();
  if (status.ok() &&
      !SameOutputs(read, RunOnce(*model, RampInputs(read)), Outputs(read, RampInputs(read)))) {
    return "a model that is resized gives other bits";
  }
  model->ResetState();
  if (status.ok() && !model->Resize(InputShapes(graph)).ok()) return "a model does not resize back";
  if (!SameOutputs(graph, RunOnce(*model, inputs), before)) {
    return "a model that is resized back gives other bits";
  }
  return {};
}

// No shape may break anything. The model decides whether a shape fits. A graph that is resized is
// the one that is read with these shapes.
std::string OtherShapes(std::span<const uint8_t> bytes, const Graph& graph,
                        const std::vector<Shape>& shapes) {
  const Result<Graph> read = Import(bytes, shapes);
  const Result<Graph> resized = ResizeInputs(graph, shapes, LimitedImport().limits);
  if (read.status().code() == StatusCode::kOutOfMemory) return {};  // it depends on the file's size
  if (read.ok() != resized.ok()) {
    return "read: " + read.status().message() + "; resized: " + resized.status().message();
  }
  if (!read.ok()) return {};
  const Tensors inputs = RampInputs(*read);
  if (!SameOutputs(*read, Outputs(*read, inputs), Outputs(*resized, inputs))) {
    return "a graph that is resized gives other bits";
  }
  return ResizedModel(graph, shapes, *read);
}

// Another batch, and another second dimension.
std::string OtherShapes(std::span<const uint8_t> bytes, const Graph& graph, int batch) {
  std::vector<Shape> batches = InputShapes(graph);
  std::vector<Shape> taller = batches;
  for (size_t i = 0; i < batches.size(); ++i) {
    if (!batches[i].empty()) batches[i][0] = batch;
    if (taller[i].size() > 1) taller[i][1] += batch;
  }
  std::string error = OtherShapes(bytes, graph, batches);
  return error.empty() ? OtherShapes(bytes, graph, taller) : error;
}

}  // namespace

std::string CrossCheck(std::span<const uint8_t> bytes) {
  const Result<Graph> graph = Import(bytes);
  if (!graph.ok()) return {};
  size_t choice = 0;
  for (const uint8_t byte : bytes) choice += byte;
  std::string wrong = OtherShapes(bytes, *graph, static_cast<int>(choice % 4));
  return wrong.empty() ? CompareWays(*graph, choice) : wrong;
}

}  // namespace intaglio::nn::test
