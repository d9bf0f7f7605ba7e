#include "intaglio/nn/formats/format.h"

#include <algorithm>
#include <string_view>

#include "intaglio/nn/files/mapped_file.h"

namespace intaglio::nn {

const char* ExtensionOf(Format format) { return format == Format::kOnnx ? "onnx" : "tflite"; }

Result<Format> FormatByName(const std::string& path) {
  for (const Format format : {Format::kTflite, Format::kOnnx}) {
    if (path.ends_with(std::string(".") + ExtensionOf(format))) return format;
  }
  return InvalidArgument(path + ": the name must end in .tflite or .onnx, which says the format");
}

#ifdef INTAGLIO_NN_ONNX
// A .tflite file has its identifier behind the first offset. An .onnx file has none: every file
// without the other's identifier is taken for one if its first byte is a field of a model.
Format FormatOfBytes(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return Format::kTflite;
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<size_t>(bytes.size(), 8));
  if (start.size() == 8 && start.substr(4) == "TFL3") return Format::kTflite;
  constexpr std::string_view kFields("\x08\x12\x1a\x22\x28\x32\x3a\x42\x72", 9);
  const bool is_field = kFields.find(start[0]) != std::string_view::npos;
  return is_field ? Format::kOnnx : Format::kTflite;
}

Format FormatByContent(const std::string& path) {
  const Result<MappedFile> file = MapFile(path);
  return file.ok() ? FormatOfBytes(file->bytes) : Format::kTflite;
}
#else
Format FormatOfBytes(std::span<const uint8_t>) { return Format::kTflite; }
Format FormatByContent(const std::string&) { return Format::kTflite; }
#endif

}  // namespace intaglio::nn
