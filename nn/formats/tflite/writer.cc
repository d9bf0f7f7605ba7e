#include "intaglio/nn/formats/tflite/writer.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "intaglio/nn/files/replace_file.h"
#include "intaglio/nn/formats/tflite/custom.h"
#include "intaglio/nn/formats/tflite/subgraph_writer.h"

namespace intaglio::nn {
namespace {

constexpr uint32_t kSchemaVersion = 3;
// Constants are in memory, so this sum does not overflow.
size_t BytesOf(const Graph& graph) {
  size_t bytes = graph.name.size();
  for (const Tensor& tensor : graph.tensors) bytes += BytesOf(tensor);
  for (const Layer& layer : graph.layers) {
    bytes += BytesOfOperator(layer.inputs.size() + layer.outputs.size());
  }
  return bytes;
}

// Subgraphs come after the subgraphs that run them.
Result<std::vector<uint8_t>> Write(const Graph& graph, const ExportOptions& options) {
  FileParts file(graph, options.custom_operators, options.signatures);
  flatbuffers::FlatBufferBuilder& b = file.builder;
  file.buffers.push_back(tflite::CreateBuffer(b));  // buffer 0 is for tensors without data
  std::vector<flatbuffers::Offset<tflite::SubGraph>> subgraphs;
  size_t bytes = 0;
  for (size_t i = 0; i < file.subgraphs.count(); ++i) {
    bytes += BytesOf(file.subgraphs.At(i));
    INTAGLIO_RETURN_IF_ERROR(CheckSize(bytes));
    const auto subgraph = WriteSubgraph(i, file);
    if (!subgraph.ok()) return subgraph.status();
    subgraphs.push_back(*subgraph);
  }
  INTAGLIO_RETURN_IF_ERROR(CheckSize(b.GetSize() + graph.name.size()));
  const auto all = b.CreateVector(subgraphs);
  const auto codes = file.codes.Write(b);
  const auto description = b.CreateString(graph.name);
  const auto buffers = b.CreateVector(file.buffers);
  b.Finish(tflite::CreateModel(b, kSchemaVersion, codes, all, description, buffers, 0, 0,
                               file.written_signatures),
           tflite::ModelIdentifier());
  return std::vector<uint8_t>(b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize());
}

}  // namespace

Result<std::vector<uint8_t>> ExportTflite(const Graph& graph, const ExportOptions& options) try {
  INTAGLIO_RETURN_IF_ERROR(CheckCustomOperators(options.custom_operators));
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  INTAGLIO_RETURN_IF_ERROR(CheckSignatures(graph, options.signatures));
  return Write(graph, options);
} catch (const std::bad_alloc&) {
  return OutOfMemory("no memory to write the model");
}

Status SaveTflite(const Graph& graph, const std::string& path, const ExportOptions& options) {
  const Result<std::vector<uint8_t>> bytes = ExportTflite(graph, options);
  if (!bytes.ok()) return {bytes.status().code(), path + ": " + bytes.status().message()};
  return ReplaceFile(path, *bytes);
}

}  // namespace intaglio::nn
