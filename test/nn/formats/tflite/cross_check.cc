#include "intaglio/test/nn/formats/tflite/cross_check.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/formats/tflite/writer.h"
#include "intaglio/nn/passes/infer_shapes.h"
#include "intaglio/nn/passes/partition.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/formats/tflite/exercise.h"

namespace intaglio::nn::test {
namespace {

using Bytes = std::vector<uint8_t>;
using Tensors = std::vector<Bytes>;

// A NaN equals every other NaN, because no operation promises which one it gives.
bool SameFloats(const Bytes& a, const Bytes& b) {
  for (size_t i = 0; i + sizeof(float) <= a.size(); i += sizeof(float)) {
    float x = 0;
    float y = 0;
    std::memcpy(&x, a.data() + i, sizeof(float));
    std::memcpy(&y, b.data() + i, sizeof(float));
    const bool both_nan = std::isnan(x) && std::isnan(y);
    if (!both_nan && std::memcmp(&x, &y, sizeof(float)) != 0) return false;
  }
  return true;
}

bool Same(const Graph& graph, const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const Type type = graph.tensors[static_cast<size_t>(graph.outputs[i])].type;
    if (a[i].size() != b[i].size()) return false;
    if (type == Type::kFloat32 ? !SameFloats(a[i], b[i]) : a[i] != b[i]) return false;
  }
  return true;
}

// The outputs of one run; none if it fails.
std::optional<Tensors> RunOnce(Model& model, const Tensors& in) {
  if (in.size() != model.input_count()) return std::nullopt;
  std::vector<InputBuffer> inputs;
  for (size_t i = 0; i < in.size(); ++i) {
    inputs.push_back({in[i].data(), in[i].size(), model.input(i).type});
  }
  Tensors out;
  std::vector<OutputBuffer> outputs;
  for (size_t i = 0; i < model.output_count(); ++i) {
    const Tensor& tensor = model.output(i);
    out.emplace_back(*CountBytes(tensor.shape, tensor.type));
    outputs.push_back({out.back().data(), out.back().size(), tensor.type});
  }
  if (!model.Run(inputs, outputs).ok()) return std::nullopt;
  return out;
}

// The outputs of one run from the first state; none if the model does not run.
std::optional<Tensors> Outputs(const Graph& graph, const Tensors& in, PrepareOptions options = {}) {
  Result<Model> model = Model::Prepare(graph, Limited(std::move(options)));
  return model.ok() ? RunOnce(*model, in) : std::nullopt;
}

Tensors Inputs(const Graph& graph) {
  Tensors inputs;
  for (const TensorId id : graph.inputs) {
    const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
    inputs.push_back(Ramp(*CountBytes(tensor.shape, tensor.type)));
  }
  return inputs;
}

Result<Graph> Import(std::span<const uint8_t> bytes, std::vector<Shape> shapes = {}) {
  ImportOptions options = LimitedImport();
  options.input_shapes = std::move(shapes);
  return ImportTflite(bytes, nullptr, "bytes", options);
}

// Writes a graph and reads it again. It is an error if the reader refuses what the writer wrote.
Result<Graph> ThroughFile(const Graph& graph, const Bytes& file) {
  Result<Graph> again = Import(file);
  if (again.ok() && (again->inputs.size() != graph.inputs.size() ||
                     again->outputs.size() != graph.outputs.size())) {
    return InvalidArgument("another number of inputs or outputs");
  }
  return again;
}

struct Expected {
  const Graph& graph;
  const Tensors& inputs;
  const Tensors& outputs;
  size_t choice;  // selects one way among many
};

// Checks one kernel besides the best. As a file mutates, the choice changes too.
std::string OtherKernel(const Expected& expected) {
  std::vector<std::string> usable;
  for (const KernelInfo& kernel : ListKernels()) {
    if (kernel.usable) usable.push_back(kernel.name);
  }
  PrepareOptions options;
  options.kernel = usable[expected.choice % usable.size()];
  const std::optional<Tensors> outputs = Outputs(expected.graph, expected.inputs, options);
  if (outputs && Same(expected.graph, *outputs, expected.outputs)) return {};
  return "kernel " + options.kernel + " gives other bits";
}

std::string Threads(const Expected& expected) {
  PrepareOptions options;
  options.threads = 3;
  options.keep_all_tensors = true;
  const std::optional<Tensors> outputs = Outputs(expected.graph, expected.inputs, options);
  if (outputs && Same(expected.graph, *outputs, expected.outputs)) return {};
  return "three threads and memory for every tensor give other bits";
}

std::string Written(const Expected& expected) {
  const Result<Bytes> file = ExportTflite(expected.graph);
  if (!file.ok()) return {};  // it has no encoding
  const Result<Graph> again = ThroughFile(expected.graph, *file);
  if (!again.ok()) return "what was written is refused: " + again.status().message();
  const std::optional<Tensors> outputs = Outputs(*again, expected.inputs);
  if (outputs && Same(expected.graph, *outputs, expected.outputs)) return {};
  return "what was written gives other bits";
}

std::string InParts(const Expected& expected) {
  const Result<Parts> parts = Partition(expected.graph);
  if (!parts.ok()) return {};
  Tensors tensors = expected.inputs;
  for (const Graph* part :
       {&parts->quantize_inputs, &parts->quantized_main, &parts->dequantize_outputs}) {
    PrepareOptions options;
    options.integer_only = part == &parts->quantized_main;
    std::optional<Tensors> outputs = Outputs(*part, tensors, options);
    if (!outputs) return "a part does not run";
    tensors = std::move(*outputs);
    const Result<Bytes> file = ExportTflite(*part);
    if (!file.ok()) continue;
    const Result<Graph> again = ThroughFile(*part, *file);
    if (!again.ok()) return "a part that was written is refused: " + again.status().message();
  }
  return Same(expected.graph, tensors, expected.outputs) ? "" : "the parts give other bits";
}

bool SameOutputs(const Graph& graph, const std::optional<Tensors>& a,
                 const std::optional<Tensors>& b) {
  return a.has_value() == b.has_value() && (!a.has_value() || Same(graph, *a, *b));
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
  const Tensors inputs = Inputs(graph);
  const std::optional<Tensors> before = RunOnce(*model, inputs);
  const Status status = model->Resize(shapes);
  const bool prepares = Model::Prepare(read, Limited({})).ok();
  if (status.ok() != prepares) return "a model that is resized answers " + status.message();
  if (status.ok() &&
      !SameOutputs(read, RunOnce(*model, Inputs(read)), Outputs(read, Inputs(read)))) {
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
  const Tensors inputs = Inputs(*read);
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
  if (!wrong.empty()) return wrong;
  const Tensors inputs = Inputs(*graph);
  const std::optional<Tensors> outputs = Outputs(*graph, inputs);
  if (!outputs) return {};
  const Expected expected = {*graph, inputs, *outputs, choice};
  for (const auto check : {OtherKernel, Threads, Written, InParts}) {
    std::string error = check(expected);
    if (!error.empty()) return error;
  }
  return {};
}

}  // namespace intaglio::nn::test
