#include "intaglio/nn/formats/save.h"

#include "intaglio/nn/files/replace_file.h"
#include "intaglio/nn/formats/tflite/writer.h"
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

Status SaveGraph(const Graph& graph, const std::string& path, const SaveOptions& options) {
  const Result<Format> format = FormatByName(path);
  if (!format.ok()) return format.status();
  const Result<std::vector<uint8_t>> bytes = ExportGraph(graph, *format, options);
  if (!bytes.ok()) return {bytes.status().code(), path + ": " + bytes.status().message()};
  return ReplaceFile(path, *bytes);
}

}  // namespace intaglio::nn
