#include "intaglio/nn/export/tflite_writer.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "intaglio/nn/export/subgraph_writer.h"
#include "intaglio/nn/replace_file.h"

namespace intaglio::nn {
namespace {

constexpr uint32_t kSchemaVersion = 3;
// FlatBuffers' offsets end at 2 GiB, and its builder, which doubles its memory, does not check.
constexpr size_t kMaxBytes = size_t{1} << 30;
// Bounds what a tensor and a layer take beside data, names and vectors.
constexpr size_t kBytesPerTensor = 256;
constexpr size_t kBytesPerLayer = 512;

// A variable may need a first value.
size_t BytesOf(const Tensor& tensor) {
  const size_t per_scale = sizeof(float) + sizeof(int64_t);
  const size_t state =
      tensor.variable ? std::min(*CountBytes(tensor.shape, tensor.type), kMaxBytes) : 0;
  return kBytesPerTensor + state + tensor.data_bytes + tensor.name.size() +
         tensor.quantization.scales.size() * per_scale + tensor.shape.size() * sizeof(int);
}

// Constants are in memory, so that this sum does not overflow.
size_t BytesOf(const Graph& graph) {
  size_t bytes = graph.name.size();
  for (const Tensor& tensor : graph.tensors) bytes += BytesOf(tensor);
  for (const Layer& layer : graph.layers) {
    bytes += kBytesPerLayer + (layer.inputs.size() + layer.outputs.size()) * sizeof(TensorId);
  }
  return bytes;
}

Status CheckSize(size_t bytes) {
  if (bytes < kMaxBytes) return {};
  return Unsupported("the model comes to about " + std::to_string(bytes) +
                     " bytes; files of less than 1 GiB are written");
}

// The graphs that others run follow those that run them.
Result<std::vector<uint8_t>> Write(const Graph& graph) {
  FileParts file(graph);
  flatbuffers::FlatBufferBuilder& b = file.builder;
  file.buffers.push_back(tflite::CreateBuffer(b));  // number 0 is that of tensors without data
  std::vector<flatbuffers::Offset<tflite::SubGraph>> subgraphs;
  size_t bytes = 0;
  for (size_t i = 0; i < file.subgraphs.count(); ++i) {
    bytes += BytesOf(file.subgraphs.At(i));
    INTAGLIO_RETURN_IF_ERROR(CheckSize(bytes));
    const auto subgraph = WriteSubgraph(i, file);
    if (!subgraph.ok()) return subgraph.status();
    subgraphs.push_back(*subgraph);
  }
  const auto all = b.CreateVector(subgraphs);
  const auto codes = file.codes.Write(b);
  const auto description = b.CreateString(graph.name);
  const auto buffers = b.CreateVector(file.buffers);
  b.Finish(tflite::CreateModel(b, kSchemaVersion, codes, all, description, buffers),
           tflite::ModelIdentifier());
  return std::vector<uint8_t>(b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize());
}

}  // namespace

Result<std::vector<uint8_t>> ExportTflite(const Graph& graph) try {
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  return Write(graph);
} catch (const std::bad_alloc&) {
  return OutOfMemory("no memory to write the model");
}

Status SaveTflite(const Graph& graph, const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = ExportTflite(graph);
  if (!bytes.ok()) return {bytes.status().code(), path + ": " + bytes.status().message()};
  return ReplaceFile(path, *bytes);
}

}  // namespace intaglio::nn
