#include "intaglio/tools/model_io.h"

#include <cstdio>
#include <cstring>
#include <utility>

#include "intaglio/nn/graph/printable.h"
#include "intaglio/nn/tune/plan.h"
#include "intaglio/tools/backend.h"
#include "intaglio/tools/constants.h"
#include "intaglio/tools/file.h"
#include "intaglio/tools/inputs.h"
#include "intaglio/tools/operator_library.h"

namespace intaglio::tools {
namespace {

template <class T>
T Load(const std::vector<uint8_t>& bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

double StoredValue(Type type, const std::vector<uint8_t>& bytes, size_t i) {
  switch (type) {
    case Type::kInt8:
      return Load<int8_t>(bytes, i);
    case Type::kUInt8:
    case Type::kBool:
      return Load<uint8_t>(bytes, i);
    case Type::kInt16:
      return Load<int16_t>(bytes, i);
    case Type::kUInt16:
      return Load<uint16_t>(bytes, i);
    case Type::kInt32:
      return Load<int32_t>(bytes, i);
    case Type::kInt64:
      return static_cast<double>(Load<int64_t>(bytes, i));
    case Type::kFloat32:
      return static_cast<double>(Load<float>(bytes, i));
  }
  return 0;
}

// A plan for the graph.
Result<nn::tune::Replay> ReadPlan(const std::string& path, const nn::Graph& graph,
                                  const nn::PrepareOptions& options) {
  const Result<std::vector<uint8_t>> text = ReadFile(path, nn::tune::kMaxPlanBytes);
  if (!text.ok()) return text.status();
  const auto wrap = [&](const Status& s) { return Status(s.code(), path + ": " + s.message()); };
  const Result<nn::tune::Plan> plan =
      nn::tune::ParsePlan({reinterpret_cast<const char*>(text->data()), text->size()});
  if (!plan.ok()) return wrap(plan.status());
  Result<nn::tune::Replay> replay = nn::tune::ReplayOf(*plan, graph, options);
  return replay.ok() ? replay : wrap(replay.status());
}

// Takes the network and the choices of the source's plan. What of it does not fit here is said on
// stderr.
Status TakePlan(const ModelSource& source, nn::Graph& graph, nn::PrepareOptions& options) {
  Result<nn::tune::Replay> replay = ReadPlan(source.plan, graph, options);
  if (!replay.ok()) return replay.status();
  for (const std::string& warning : replay->warnings) {
    const std::string text = source.plan + ": " + warning;
    if (source.strict_plan) return InvalidArgument(text);
    std::fprintf(stderr, "intaglio: %s\n", nn::Printable(text).c_str());
  }
  options.routines = std::move(replay->choices);
  graph = std::move(replay->graph);
  return {};
}

size_t BytesOf(const nn::Tensor& tensor) { return *nn::CountBytes(tensor.shape, tensor.type); }

}  // namespace

Result<nn::LoadOptions> LoadOptionsOf(const ModelSource& source) {
  nn::LoadOptions options;
  Result<std::vector<nn::CustomOperator>> operators = LoadOperators(source.operators);
  if (!operators.ok()) return operators.status();
  options.custom_operators = std::move(*operators);
  options.external_data_folder = source.external_data;
  options.ort_fused = source.ort_fused;
  options.nhwc_inputs = source.nhwc_inputs;
  options.float64_as_float32 = source.float64_as_float32;
  options.without_passes = source.without_passes;
  options.limits = source.limits;
  Result<std::vector<nn::InputConstant>> constants = ConstantsOf(source);
  if (!constants.ok()) return constants.status();
  options.constants = std::move(*constants);
  if (source.shapes.empty()) return options;
  const Result<nn::Graph> signature = SignatureOf(source);
  if (!signature.ok()) return signature.status();
  Result<std::vector<nn::Shape>> shapes = ShapesFrom(*signature, source.shapes);
  if (!shapes.ok()) return shapes.status();
  options.input_shapes = std::move(*shapes);
  return options;
}

Status TakeOptions(const ModelSource& source, nn::PrepareOptions& options) {
  options.limits = source.limits;
  if (source.unfused_sums) options.float_sums = nn::FloatSums::kUnfused;
  if (!source.winograd_weights.empty()) {
    options.winograd_weights =
        source.winograd_weights == "kept" ? WinogradWeights::kKept : WinogradWeights::kPerCall;
  }
  if (source.device.empty()) return {};
  Result<std::shared_ptr<const nn::Backend>> device = BackendOf(source.device);
  if (!device.ok()) return device.status();
  options.device = std::move(*device);
  return {};
}

Result<nn::Model> LoadModel(const ModelSource& source, nn::PrepareOptions options,
                            std::vector<nn::Shape> shapes, std::vector<nn::PassReport>* passes,
                            std::vector<nn::Signature>* signatures) {
  Result<nn::LoadOptions> import = LoadOptionsOf(source);
  if (!import.ok()) return import.status();
  if (!shapes.empty()) import->input_shapes = std::move(shapes);
  import->pass_reports = passes;
  import->signatures = signatures;
  INTAGLIO_RETURN_IF_ERROR(TakeOptions(source, options));
  Result<nn::Graph> graph = nn::LoadGraph(source.path, *import);
  if (!graph.ok()) return graph.status();
  if (!source.plan.empty()) INTAGLIO_RETURN_IF_ERROR(TakePlan(source, *graph, options));
  Result<nn::Model> model = nn::Model::Prepare(std::move(*graph), options);
  if (!model.ok()) {
    return Status(model.status().code(), source.path + ": " + model.status().message());
  }
  return model;
}

Buffers::Buffers(const nn::Model& model) {
  for (size_t i = 0; i < model.input_count(); ++i) {
    inputs.emplace_back(BytesOf(model.input(i)));
    input_types_.push_back(model.input(i).type);
  }
  for (size_t i = 0; i < model.output_count(); ++i) {
    outputs.emplace_back(BytesOf(model.output(i)));
    output_types_.push_back(model.output(i).type);
  }
}

Status Buffers::Run(nn::Model& model, std::span<std::chrono::nanoseconds> layer_times) {
  std::vector<nn::InputBuffer> in;
  std::vector<nn::OutputBuffer> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back({inputs[i].data(), inputs[i].size(), input_types_[i]});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.push_back({outputs[i].data(), outputs[i].size(), output_types_[i]});
  }
  return model.Run(in, out, layer_times);
}

std::string Describe(const nn::Tensor& tensor) {
  return std::string(NameOf(tensor.type)) + " " + nn::ToString(tensor.shape);
}

double RealValue(const nn::Tensor& tensor, const std::vector<uint8_t>& bytes, size_t i) {
  const double stored = StoredValue(tensor.type, bytes, i);
  const nn::Quantization& q = tensor.quantization;
  if (q.scales.size() != 1) return stored;
  return static_cast<double>(q.scales[0]) * (stored - q.zero_points[0]);
}

std::string FormatBytes(size_t bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

}  // namespace intaglio::tools
