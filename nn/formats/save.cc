#include "intaglio/nn/formats/save.h"

#include <utility>

#include "intaglio/nn/formats/tflite/writer.h"
#include "intaglio/nn/formats/write_model_file.h"
#ifdef INTAGLIO_NN_ONNX
#include "intaglio/nn/formats/onnx/writer.h"
#endif

namespace intaglio::nn {

Result<std::vector<uint8_t>> ExportGraph(const Graph& graph, Format format,
                                         const SaveOptions& options) {
  if (format == Format::kTflite) {
    return ExportTflite(graph, {options.custom_operators, options.signatures});
  }
#ifdef INTAGLIO_NN_ONNX
  return ExportOnnx(graph);
#else
  return Unsupported("this build has no .onnx files");
#endif
}

Result<ModelFile> ExportFile(const Graph& graph, [[maybe_unused]] const std::string& path,
                             Format format, const SaveOptions& options) {
#ifdef INTAGLIO_NN_ONNX
  if (format == Format::kOnnx) {
    return ExportOnnxFile(graph, ConstantsNameOf(path), options.constants_apart);
  }
#endif
  Result<std::vector<uint8_t>> bytes = ExportGraph(graph, format, options);
  if (!bytes.ok()) return bytes.status();
  return ModelFile{std::move(*bytes)};
}

Status SaveGraph(const Graph& graph, const std::string& path, const SaveOptions& options) {
  const Result<Format> format = FormatByName(path);
  if (!format.ok()) return format.status();
  const Result<ModelFile> file = ExportFile(graph, path, *format, options);
  if (!file.ok()) return {file.status().code(), path + ": " + file.status().message()};
  return WriteModelFile(path, *file);
}

}  // namespace intaglio::nn
