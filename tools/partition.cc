// intaglio partition: a model as three, of which the middle one computes with integers only.
#include "intaglio/nn/passes/partition.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/formats/save.h"
#include "intaglio/nn/graph/printable.h"
#include "intaglio/tools/commands.h"
#include "intaglio/tools/model_io.h"
#include "intaglio/tools/new_model.h"
#include "intaglio/tools/operator_library.h"
#include "intaglio/tools/verify_parts.h"

namespace intaglio::tools {
namespace {

constexpr int kVerifiedRuns = 3;  // a state first has an effect in the second run

const nn::Tensor& InputOf(const nn::Graph& graph, size_t i) {
  return graph.tensors[static_cast<size_t>(graph.inputs[i])];
}

// "uint8,127.5,0.0078125"
Result<nn::Sensor> ParseSensor(const std::string& text) {
  const Status wrong = InvalidArgument("--sensor " + text +
                                       ": TYPE,MEAN,SCALE is needed, as in uint8,127.5,0.0078125");
  const size_t first = text.find(',');
  const size_t second = text.find(',', first + 1);
  if (first == std::string::npos || second == std::string::npos) return wrong;
  nn::Sensor sensor;
  const std::string type = text.substr(0, first);
  bool known = false;
  for (const Type candidate : {Type::kInt8, Type::kUInt8, Type::kInt16, Type::kInt32}) {
    if (type != NameOf(candidate)) continue;
    sensor.type = candidate;
    known = true;
  }
  if (!known) {
    return InvalidArgument("--sensor " + text + ": '" + type +
                           "' is none of int8, uint8, int16, int32");
  }
  const auto parse = [](const char* begin, const char* end, double& value) {
    const auto result = std::from_chars(begin, end, value);
    return result.ec == std::errc() && result.ptr == end;
  };
  const char* const data = text.data();
  if (!parse(data + first + 1, data + second, sensor.mean)) return wrong;
  if (!parse(data + second + 1, data + text.size(), sensor.scale)) return wrong;
  return sensor;
}

// NAME=SENSOR for the input of that name; else a sensor for the next input in the model's order.
Status AddSensor(const nn::Graph& graph, const std::string& argument, size_t& next,
                 nn::PartitionOptions& options) {
  const size_t split = argument.rfind('=');
  size_t index = next;
  std::string text = argument;
  if (split != std::string::npos) {
    const std::string name = argument.substr(0, split);
    index = 0;
    while (index < graph.inputs.size() && InputOf(graph, index).name != name) ++index;
    if (index == graph.inputs.size()) {
      return InvalidArgument("--sensor " + argument + ": the model has no input '" + name + "'");
    }
    text = argument.substr(split + 1);
  } else if (next++ >= graph.inputs.size()) {
    return InvalidArgument("--sensor " + argument + ": the model has only " +
                           std::to_string(graph.inputs.size()) + " inputs");
  }
  const Result<nn::Sensor> sensor = ParseSensor(text);
  if (!sensor.ok()) return sensor.status();
  if (options.sensors[index]) {
    return InvalidArgument("--sensor " + argument + ": input '" + InputOf(graph, index).name +
                           "' has two sensors");
  }
  options.sensors[index] = *sensor;
  return {};
}

std::string DescribeAll(const nn::Graph& graph, const std::vector<nn::TensorId>& ids) {
  std::string text;
  for (const nn::TensorId id : ids) {
    text += (text.empty() ? "" : ", ") + Describe(graph.tensors[static_cast<size_t>(id)]);
  }
  return text.empty() ? "nothing" : text;
}

// A part that is about to be written.
struct File {
  NewModel model;
  nn::Graph read_back;
};

Result<File> MakeFile(const std::string& folder, const char* name, const nn::Graph& part,
                      nn::Format format, const nn::LoadOptions& load, bool constants_apart) {
  const std::string path =
      (std::filesystem::path(folder) / name).string() + "." + nn::ExtensionOf(format);
  Result<NewModel> model = NewModel::Make(
      part, path, format,
      {.custom_operators = load.custom_operators, .constants_apart = constants_apart});
  if (!model.ok()) return model.status();
  Result<nn::Graph> again = model->ReadBack(load);
  if (!again.ok()) return again.status();
  return File{std::move(*model), std::move(*again)};
}

// Makes the three files in the order in which they run.
Result<std::vector<File>> MakeFiles(const std::string& folder, const nn::Parts& parts,
                                    nn::Format format, const nn::LoadOptions& load,
                                    bool constants_apart) {
  const std::pair<const char*, const nn::Graph*> named[] = {
      {"quantize_inputs", &parts.quantize_inputs},
      {"quantized_main", &parts.quantized_main},
      {"dequantize_outputs", &parts.dequantize_outputs}};
  std::vector<File> files;
  for (const auto& [name, part] : named) {
    Result<File> file = MakeFile(folder, name, *part, format, load, constants_apart);
    if (!file.ok()) return file.status();
    files.push_back(std::move(*file));
  }
  return files;
}

// The parts as they are read back. Files of .onnx say that integers stand for real numbers, not
// how integers alone are computed with; there the parts themselves are taken.
std::vector<ChainLink> ChainOf(const nn::Parts& parts, const std::vector<File>& files,
                               nn::Format format) {
  if (format == nn::Format::kOnnx) {
    return {{parts.quantize_inputs}, {parts.quantized_main, true}, {parts.dequantize_outputs}};
  }
  return {{files[0].read_back}, {files[1].read_back, true}, {files[2].read_back}};
}

// Checks that the parts give the bits of the model. Sensors are not inputs of the model. So the
// model's own inputs are quantized as if there were no sensors, and the part that takes the
// sensors' numbers is compared, as it is read back, with the part before it was written.
Status VerifyFiles(const PartitionOptions& options, const nn::Graph& graph, const nn::Parts& parts,
                   std::vector<ChainLink> chain) {
  if (!options.sensors.empty()) {
    INTAGLIO_RETURN_IF_ERROR(
        VerifyChain(parts.quantize_inputs, {chain[0]}, {}, kVerifiedRuns, options.model.limits));
    Result<nn::Parts> plain = nn::Partition(graph);
    if (!plain.ok()) return plain.status();
    chain[0].graph = std::move(plain->quantize_inputs);
  }
  return VerifyChain(graph, chain, options.inputs, kVerifiedRuns, options.model.limits);
}

Status WriteFiles(const std::string& folder, const std::vector<File>& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return IoError(folder + ": cannot create: " + error.message());
  for (const File& file : files) {
    INTAGLIO_RETURN_IF_ERROR(file.model.Write());
    std::printf("wrote    %s: %zu layers, %s -> %s\n", nn::Printable(file.model.path()).c_str(),
                file.read_back.layers.size(),
                DescribeAll(file.read_back, file.read_back.inputs).c_str(),
                DescribeAll(file.read_back, file.read_back.outputs).c_str());
  }
  return {};
}

nn::Format FormatOf(const PartitionOptions& options) {
  if (options.format.empty()) return nn::FormatByContent(options.model.path);
  return options.format == nn::ExtensionOf(nn::Format::kOnnx) ? nn::Format::kOnnx
                                                              : nn::Format::kTflite;
}

}  // namespace

Status Partition(const PartitionOptions& options) {
  const auto wrap = [&](const Status& status, const char* hint) -> Status {
    return {status.code(), options.model.path + ": " + status.message() + hint};
  };
  const Result<nn::LoadOptions> load = LoadOptionsOf(options.model);
  if (!load.ok()) return load.status();
  const nn::LoadOptions again = {.limits = load->limits,
                                 .custom_operators = load->custom_operators};
  const Result<nn::Graph> graph = nn::LoadGraph(options.model.path, *load);
  if (!graph.ok()) return graph.status();
  nn::PartitionOptions partition;
  partition.sensors.resize(graph->inputs.size());
  size_t next = 0;
  for (const std::string& sensor : options.sensors) {
    INTAGLIO_RETURN_IF_ERROR(AddSensor(*graph, sensor, next, partition));
  }
  const Result<nn::Parts> parts = nn::Partition(*graph, partition);
  if (!parts.ok()) return wrap(parts.status(), "");
  const nn::Format format = FormatOf(options);
  const Result<std::vector<File>> files =
      MakeFiles(options.output, *parts, format, again, options.constants_apart);
  if (!files.ok()) return files.status();
  if (options.verify) {
    const Status status = VerifyFiles(options, *graph, *parts, ChainOf(*parts, *files, format));
    if (!status.ok()) return wrap(status, " (nothing was written; --no-verify writes without)");
  }
  INTAGLIO_RETURN_IF_ERROR(WriteFiles(options.output, *files));
  if (options.verify) {
    const bool is_onnx = format == nn::Format::kOnnx;
    std::printf("verified in %d runs: the parts give the bits of the model%s\n", kVerifiedRuns,
                is_onnx ? "; as .onnx files they may differ by rounding" : "");
  }
  return {};
}

}  // namespace intaglio::tools
