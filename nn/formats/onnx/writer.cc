#include "intaglio/nn/formats/onnx/writer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "intaglio/nn/formats/onnx/layer_writer.h"
#include "intaglio/nn/formats/onnx/node_writer.h"
#include "intaglio/nn/formats/onnx/onnx.pb.h"
#include "intaglio/nn/formats/onnx/rows.h"
#include "intaglio/nn/formats/onnx/write_rows.h"
#include "intaglio/nn/formats/write_model_file.h"

namespace intaglio::nn {
namespace {

using onnx::LayerWriter;
using onnx::NodeWriter;
using onnx::Order;
using onnx::TensorValues;
using onnx::Value;

// Names the values of a layer's outputs after them.
void NameOutputs(const Graph& graph, const Layer& layer, Value first, NodeWriter& nodes,
                 TensorValues& values) {
  for (const TensorId id : layer.outputs) {
    for (const Order order : {Order::kOurs, Order::kChannelsFirst}) {
      if (!values.Has(id, order)) continue;
      const Value value = values.Numbers(id, order);
      // Others stand for another tensor already.
      if (value >= first) {
        nodes.Rename(value, onnx::NameOfForm(graph.tensors[static_cast<size_t>(id)], order));
      }
    }
  }
}

Status WriteLayer(const Graph& graph, size_t index, NodeWriter& nodes, TensorValues& values) {
  const LayerView layer(graph, index);
  const onnx::WriteRow* const row = onnx::FindWriteRow(
      [&](const onnx::WriteRow& candidate) { return candidate.op == &layer.layer().op.row(); });
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (layer.has_input(i) && layer.input(i).variable) {
      return layer.Unsupported("the .onnx format has no variables");
    }
  }
  if (row == nullptr) return layer.Unsupported("the .onnx format has no such operator");
  nodes.SetName(layer.layer().outputs.empty() ? "" : layer.output().name);
  const Value first = nodes.count();
  LayerWriter writer(layer, nodes, values);
  if (writer.status().ok()) row->write(writer, *row);
  INTAGLIO_RETURN_IF_ERROR(writer.status());
  NameOutputs(graph, layer.layer(), first, nodes, values);
  return nodes.status();
}

size_t BytesOfConstants(const Graph& graph) {
  size_t bytes = 0;
  for (const Tensor& tensor : graph.tensors) bytes += tensor.data_bytes;
  return bytes;
}

// Before any is copied.
Status CheckConstants(const Graph& graph) { return onnx::CheckSize(BytesOfConstants(graph)); }

// Files of more bytes of constants have these beside them: some are written twice, in two orders.
constexpr size_t kMostTogether = size_t{1} << 29;

Status WriteGraph(const Graph& graph, NodeWriter& nodes) {
  TensorValues values(graph, nodes);
  for (const TensorId id : graph.inputs) {
    values.Set(id, Order::kOurs, nodes.AddInput(graph.tensors[static_cast<size_t>(id)]));
  }
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    INTAGLIO_RETURN_IF_ERROR(WriteLayer(graph, i, nodes, values));
  }
  std::vector<Value> outputs;
  std::vector<const Tensor*> tensors;
  for (const TensorId id : graph.outputs) {
    const Tensor& tensor = graph.tensors[static_cast<size_t>(id)];
    if (tensor.variable) return Unsupported("output '" + tensor.name + "' is a variable");
    nodes.SetName(tensor.name);
    outputs.push_back(values.Numbers(id, Order::kOurs));
    tensors.push_back(&tensor);
  }
  nodes.Finish(outputs, tensors);
  return nodes.status();
}

// Where constants go that are not in the model's own file.
struct Apart {
  std::string name;
  std::vector<uint8_t> bytes;
};

void AddEntry(onnx::TensorProto& tensor, const char* key, const std::string& value) {
  onnx::StringStringEntryProto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

// Other programs map the file, and want numbers where the CPU likes them.
constexpr size_t kAlignment = 64;

// Moves the bytes of constants to the other file.
void MoveConstants(onnx::GraphProto& graph, Apart& apart) {
  size_t all = 0;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    all += tensor.raw_data().size() + kAlignment;
  }
  apart.bytes.reserve(all);
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    const size_t size = tensor.raw_data().size();
    if (size < onnx::kLeastApart) continue;
    apart.bytes.resize((apart.bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
    AddEntry(tensor, "location", apart.name);
    AddEntry(tensor, "offset", std::to_string(apart.bytes.size()));
    AddEntry(tensor, "length", std::to_string(size));
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    apart.bytes.insert(apart.bytes.end(), tensor.raw_data().begin(), tensor.raw_data().end());
    const std::unique_ptr<std::string> moved(tensor.release_raw_data());
  }
}

// All constants are in the file if `apart` is null.
Result<std::vector<uint8_t>> Write(const Graph& graph, Apart* apart) {
  constexpr int kIrVersion = 10;  // that of opset 21
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("intaglio");
  onnx::GraphProto& main = *model.mutable_graph();
  main.set_name(graph.name.empty() ? "main" : graph.name);
  NodeWriter nodes(main, apart == nullptr ? SIZE_MAX : onnx::kLeastApart);
  INTAGLIO_RETURN_IF_ERROR(WriteGraph(graph, nodes));
  model.add_opset_import()->set_version(nodes.opset());
  if (nodes.uses_microsoft()) {
    onnx::OperatorSetIdProto& opset = *model.add_opset_import();
    opset.set_domain(onnx::kMicrosoft);
    opset.set_version(1);
  }
  if (apart != nullptr) MoveConstants(main, *apart);
  std::vector<uint8_t> bytes(model.ByteSizeLong());
  if (!model.SerializeToArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Unsupported("the model is too large for an .onnx file");
  }
  return bytes;
}

}  // namespace

Result<std::vector<uint8_t>> ExportOnnx(const Graph& graph) try {
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  INTAGLIO_RETURN_IF_ERROR(CheckConstants(graph));
  return Write(graph, nullptr);
} catch (const std::bad_alloc&) {
  return OutOfMemory("no memory to write the model");
}

Result<ModelFile> ExportOnnxFile(const Graph& graph, const std::string& constants_name,
                                 bool keeps_apart) try {
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  if (!keeps_apart && BytesOfConstants(graph) < kMostTogether) {
    Result<std::vector<uint8_t>> bytes = Write(graph, nullptr);
    if (!bytes.ok()) return bytes.status();
    return ModelFile{std::move(*bytes)};
  }
  Apart apart{constants_name, {}};
  Result<std::vector<uint8_t>> bytes = Write(graph, &apart);
  if (!bytes.ok()) return bytes.status();
  if (apart.bytes.empty()) return ModelFile{std::move(*bytes)};
  return ModelFile{std::move(*bytes), std::move(apart.name), std::move(apart.bytes)};
} catch (const std::bad_alloc&) {
  return OutOfMemory("no memory to write the model");
}

Status SaveOnnx(const Graph& graph, const std::string& path, bool keeps_apart) {
  const Result<ModelFile> file = ExportOnnxFile(graph, ConstantsNameOf(path), keeps_apart);
  if (!file.ok()) return {file.status().code(), path + ": " + file.status().message()};
  return WriteModelFile(path, *file);
}

}  // namespace intaglio::nn
