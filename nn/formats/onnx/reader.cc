#include "intaglio/nn/formats/onnx/reader.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>
#include <new>
#include <utility>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/formats/onnx/external_data.h"
#include "intaglio/nn/formats/onnx/graph_reader.h"
#include "intaglio/nn/graph/folded_shapes.h"

namespace intaglio::nn {
namespace {

constexpr int kMaxNesting = 100;  // of messages; Protobuf's own default

Status Parse(std::span<const uint8_t> bytes, onnx::ModelProto& model) {
  if (bytes.empty()) return InvalidArgument("the file is empty");
  if (bytes.size() > std::numeric_limits<int>::max()) {
    return Unsupported(
        "an .onnx file of more than 2 GB is not supported (large constants belong "
        "into files beside it)");
  }
  google::protobuf::io::CodedInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kMaxNesting);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return InvalidArgument("not an .onnx file, or damaged or cut short");
  }
  if (!model.has_graph()) return InvalidArgument("not an .onnx file: it has no graph");
  return {};
}

Result<Graph> Import(std::span<const uint8_t> bytes, const OnnxOptions& options) {
  const DefaultFloatEnvironment environment;
  onnx::ModelProto model;
  INTAGLIO_RETURN_IF_ERROR(Parse(bytes, model));
  onnx::ExternalData external(options.external_data_folder, options.copy_file);
  Ledger ledger(options.limits, bytes.size());
  FoldBudget folding = FoldBudget::ForModelOf(bytes.size(), options.limits, &ledger);
  onnx::File file{model, external, ledger, folding};
  Graph graph;
  INTAGLIO_RETURN_IF_ERROR(onnx::GraphReader(file, graph).ReadModel(options.input_shapes));
  // The reader computes with shapes itself, and keeps no record of it.
  graph.folded_shapes = IncompleteShapes();
  INTAGLIO_RETURN_IF_ERROR(Validate(graph));
  return graph;
}

std::string FolderOf(const std::string& path) {
  const size_t end = path.rfind('/');
  return end == std::string::npos ? "." : path.substr(0, end + 1);
}

}  // namespace

Result<Graph> ImportOnnx(std::span<const uint8_t> bytes, const std::string& name,
                         const OnnxOptions& options) try {
  Result<Graph> graph = Import(bytes, options);
  if (!graph.ok()) return Status(graph.status().code(), name + ": " + graph.status().message());
  graph->name = name;
  return graph;
} catch (const std::bad_alloc&) {
  return OutOfMemory(name + ": no memory to read the model");
}

Result<Graph> LoadOnnx(const std::string& path, const OnnxOptions& options) try {
  const Result<MappedFile> file = options.copy_file ? ReadWholeFile(path) : MapFile(path);
  if (!file.ok()) return Status(file.status().code(), path + ": " + file.status().message());
  OnnxOptions with_folder = options;
  if (with_folder.external_data_folder.empty()) with_folder.external_data_folder = FolderOf(path);
  return ImportOnnx(file->bytes, path, with_folder);
} catch (const std::bad_alloc&) {
  return OutOfMemory(path + ": no memory to read the model");
}

}  // namespace intaglio::nn
