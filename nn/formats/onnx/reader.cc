#include "intaglio/nn/formats/onnx/reader.h"

#include <new>
#include <utility>

#include "intaglio/fixedpoint/float_environment.h"
#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/formats/onnx/external_data.h"
#include "intaglio/nn/formats/onnx/graph_reader.h"
#include "intaglio/nn/formats/onnx/import_mapped.h"
#include "intaglio/nn/formats/onnx/narrow_float64.h"
#include "intaglio/nn/formats/onnx/parse.h"
#include "intaglio/nn/formats/take_constants.h"
#include "intaglio/nn/passes/fold_constants.h"
#include "intaglio/nn/passes/pass_list.h"

namespace intaglio::nn {
namespace {

// `parse` fills the model, says what stays in its file, and returns the size of that file.
template <class Parse>
Result<Graph> Import(const Parse& parse, const OnnxOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckPassNames(options.without_passes));
  INTAGLIO_RETURN_IF_ERROR(CheckConstants(options.constants));
  const DefaultFloatEnvironment environment;
  onnx::ModelProto model;
  onnx::ExternalData external(options.external_data_folder, options.copy_file);
  const Result<size_t> size = parse(model, external);
  if (!size.ok()) return size.status();
  if (options.float64_as_float32) onnx::NarrowFloat64(model);
  for (const FileInMemory& file : options.external_files) {
    external.Give(file.name, {file.bytes, file.owner});
  }
  Ledger ledger(options.limits, *size);
  FoldBudget folding = FoldBudget::ForModelOf(*size, options.limits, &ledger);
  onnx::File file{model, external, ledger, folding, options};
  Graph graph;
  INTAGLIO_RETURN_IF_ERROR(onnx::GraphReader(file, graph).ReadModel(options.input_shapes));
  if (options.pass_reports != nullptr) *options.pass_reports = std::move(file.reports);
  return graph;
}

std::string FolderOf(const std::string& path) {
  const size_t end = path.rfind('/');
  return end == std::string::npos ? "." : path.substr(0, end + 1);
}

template <class Parse>
Result<Graph> ImportNamed(const std::string& name, const Parse& parse,
                          const OnnxOptions& options) try {
  Result<Graph> graph = Import(parse, options);
  if (!graph.ok()) return Status(graph.status().code(), name + ": " + graph.status().message());
  graph->name = name;
  return graph;
} catch (const std::bad_alloc&) {
  return OutOfMemory(name + ": no memory to read the model");
}

}  // namespace

Result<Graph> ImportOnnx(std::span<const uint8_t> bytes, const std::string& name,
                         const OnnxOptions& options) {
  const auto parse = [&](onnx::ModelProto& model, onnx::ExternalData&) -> Result<size_t> {
    INTAGLIO_RETURN_IF_ERROR(onnx::Parse(bytes, model));
    return bytes.size();
  };
  return ImportNamed(name, parse, options);
}

Result<Graph> onnx::ImportMapped(const MappedFile& file, const std::string& name,
                                 const OnnxOptions& options, size_t large) {
  const auto parse = [&](ModelProto& model, ExternalData& kept) -> Result<size_t> {
    INTAGLIO_RETURN_IF_ERROR(ParseFile(file, model, kept, large));
    return file.bytes.size();
  };
  return ImportNamed(name, parse, options);
}

namespace {

Result<Graph> ReadSignature(std::span<const uint8_t> bytes, const OnnxOptions& options) {
  onnx::ModelProto model;
  INTAGLIO_RETURN_IF_ERROR(onnx::Parse(bytes, model));
  if (options.float64_as_float32) onnx::NarrowFloat64(model);
  onnx::ExternalData external({}, false);
  Ledger ledger({}, bytes.size());
  FoldBudget folding = FoldBudget::ForModelOf(bytes.size());
  onnx::File file{model, external, ledger, folding, options};
  Graph graph;
  INTAGLIO_RETURN_IF_ERROR(onnx::GraphReader(file, graph).ReadSignature());
  return graph;
}

}  // namespace

Result<Graph> ImportOnnxSignature(std::span<const uint8_t> bytes, const std::string& name,
                                  const OnnxOptions& options) try {
  Result<Graph> graph = ReadSignature(bytes, options);
  if (graph.ok()) return graph;
  return Status(graph.status().code(), name + ": " + graph.status().message());
} catch (const std::bad_alloc&) {
  return OutOfMemory(name + ": no memory to read the model");
}

Result<Graph> LoadOnnxSignature(const std::string& path, const OnnxOptions& options) {
  const Result<MappedFile> file = MapFile(path);
  if (!file.ok()) return Status(file.status().code(), path + ": " + file.status().message());
  return ImportOnnxSignature(file->bytes, path, options);
}

Result<Graph> LoadOnnx(const std::string& path, const OnnxOptions& options) {
  OnnxOptions with_folder = options;
  if (with_folder.external_data_folder.empty()) with_folder.external_data_folder = FolderOf(path);
  // The file is let go before the graph is made, unless large constants stay in it.
  const auto parse = [&](onnx::ModelProto& model, onnx::ExternalData& kept) -> Result<size_t> {
    const Result<MappedFile> file = options.copy_file ? ReadWholeFile(path) : MapFile(path);
    if (!file.ok()) return file.status();
    INTAGLIO_RETURN_IF_ERROR(onnx::ParseFile(*file, model, kept));
    return file->bytes.size();
  };
  return ImportNamed(path, parse, with_folder);
}

}  // namespace intaglio::nn
