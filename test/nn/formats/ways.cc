#include "intaglio/test/nn/formats/ways.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include "intaglio/gemm/describe.h"
#include "intaglio/nn/formats/tflite/writer.h"
#include "intaglio/nn/passes/partition.h"

namespace intaglio::nn::test {
namespace {

constexpr size_t kMaxBytes = size_t{8} << 20;  // for a tensor, and for what reading makes
constexpr size_t kMaxPrepared = size_t{64} << 20;
// Per run. A file takes about a dozen runs, and one of them may be the scalar kernel's, which
// sanitizers slow down to some microseconds a step where windows are narrow.
constexpr int64_t kMaxWork = int64_t{1} << 18;
constexpr int64_t kMaxRounds = 8;  // of its loops

using Bytes = std::vector<uint8_t>;

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

}  // namespace

ImportOptions LimitedImport() {
  ImportOptions options;
  options.limits.max_bytes = kMaxBytes;
  return options;
}

// Kernels are compared with each other, so sums are unfused.
PrepareOptions Limited(PrepareOptions options) {
  options.float_sums = FloatSums::kUnfused;
  options.limits = {.max_bytes = kMaxPrepared, .max_work = kMaxWork, .max_rounds = kMaxRounds};
  return options;
}

std::vector<uint8_t> Ramp(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 127);
  return bytes;
}

Tensors RampInputs(const Graph& graph) {
  Tensors inputs;
  for (const TensorId id : graph.inputs) {
    const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
    inputs.push_back(Ramp(*CountBytes(tensor.shape, tensor.type)));
  }
  return inputs;
}

Result<Tensors> RunOnce(Model& model, const Tensors& in) {
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
  INTAGLIO_RETURN_IF_ERROR(model.Run(inputs, outputs));
  return out;
}

Result<Tensors> Outputs(const Graph& graph, const Tensors& in, PrepareOptions options) {
  Result<Model> model = Model::Prepare(graph, Limited(std::move(options)));
  return model.ok() ? RunOnce(*model, in) : model.status();
}

bool SameOutputs(const Graph& graph, const Result<Tensors>& a, const Result<Tensors>& b) {
  return a.ok() == b.ok() && (!a.ok() || Same(graph, *a, *b));
}

namespace {

// Writes a graph and reads it again. It is an error if the reader refuses what the writer wrote.
Result<Graph> ThroughFile(const Graph& graph, const Bytes& file) {
  Result<Graph> again = ImportTflite(file, nullptr, "bytes", LimitedImport());
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
  const Result<Tensors> outputs = Outputs(expected.graph, expected.inputs, options);
  if (outputs.ok() && Same(expected.graph, *outputs, expected.outputs)) return {};
  return "kernel " + options.kernel + " gives other bits";
}

std::string Threads(const Expected& expected) {
  PrepareOptions options;
  options.threads = 3;
  options.keep_all_tensors = true;
  const Result<Tensors> outputs = Outputs(expected.graph, expected.inputs, options);
  if (outputs.ok() && Same(expected.graph, *outputs, expected.outputs)) return {};
  return "three threads and memory for every tensor give other bits";
}

std::string Written(const Expected& expected) {
  const Result<Bytes> file = ExportTflite(expected.graph);
  if (!file.ok()) return {};  // it has no encoding
  const Result<Graph> again = ThroughFile(expected.graph, *file);
  if (again.status().code() == StatusCode::kOutOfMemory) return {};
  if (!again.ok()) return "what was written is refused: " + again.status().message();
  const Result<Tensors> outputs = Outputs(*again, expected.inputs);
  if (outputs.ok() && Same(expected.graph, *outputs, expected.outputs)) return {};
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
    Result<Tensors> outputs = Outputs(*part, tensors, options);
    if (!outputs.ok()) return "a part does not run";
    tensors = std::move(*outputs);
    const Result<Bytes> file = ExportTflite(*part);
    if (!file.ok()) continue;
    const Result<Graph> again = ThroughFile(*part, *file);
    if (again.status().code() == StatusCode::kOutOfMemory) continue;
    if (!again.ok()) return "a part that was written is refused: " + again.status().message();
  }
  return Same(expected.graph, tensors, expected.outputs) ? "" : "the parts give other bits";
}

}  // namespace

std::string CompareWays(const Graph& graph, size_t choice) {
  if (!Model::Prepare(graph, Limited({})).ok()) return {};  // its inputs may be too large to make
  const Tensors inputs = RampInputs(graph);
  const Result<Tensors> outputs = Outputs(graph, inputs);
  if (!outputs.ok()) return {};
  const Expected expected = {graph, inputs, *outputs, choice};
  for (const auto check : {OtherKernel, Threads, Written, InParts}) {
    std::string error = check(expected);
    if (!error.empty()) return error;
  }
  return {};
}

}  // namespace intaglio::nn::test
