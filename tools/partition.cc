// intaglio partition: a model as three, of which the middle one computes with integers only.
#include "intaglio/nn/partition.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "intaglio/nn/export/tflite_writer.h"
#include "intaglio/nn/import/tflite_reader.h"
#include "intaglio/nn/printable.h"
#include "intaglio/tools/commands.h"
#include "intaglio/tools/model_io.h"

namespace intaglio::tools {
namespace {

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

}  // namespace

Status Partition(const PartitionOptions& options) {
  const Result<nn::Graph> graph = nn::LoadTflite(options.model);
  if (!graph.ok()) return graph.status();
  nn::PartitionOptions partition;
  partition.sensors.resize(graph->inputs.size());
  size_t next = 0;
  for (const std::string& sensor : options.sensors) {
    INTAGLIO_RETURN_IF_ERROR(AddSensor(*graph, sensor, next, partition));
  }
  const Result<nn::Parts> parts = nn::Partition(*graph, partition);
  if (!parts.ok()) {
    return {parts.status().code(), options.model + ": " + parts.status().message()};
  }
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error) return IoError(options.output + ": cannot create: " + error.message());
  const std::pair<const char*, const nn::Graph*> files[] = {
      {"quantize_inputs", &parts->quantize_inputs},
      {"quantized_main", &parts->quantized_main},
      {"dequantize_outputs", &parts->dequantize_outputs}};
  for (const auto& [name, part] : files) {
    const auto path = std::filesystem::path(options.output) / (std::string(name) + ".tflite");
    INTAGLIO_RETURN_IF_ERROR(nn::SaveTflite(*part, path.string()));
    std::printf("wrote    %s: %zu layers, %s -> %s\n", nn::Printable(path.string()).c_str(),
                part->layers.size(), DescribeAll(*part, part->inputs).c_str(),
                DescribeAll(*part, part->outputs).c_str());
  }
  return {};
}

}  // namespace intaglio::tools
