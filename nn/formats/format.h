// The formats of model files that this build knows.
#ifndef INTAGLIO_NN_FORMATS_FORMAT_H_
#define INTAGLIO_NN_FORMATS_FORMAT_H_

#include <cstdint>
#include <span>
#include <string>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn {

enum class Format : uint8_t { kTflite, kOnnx };

// How the names of a format's files end: "tflite", "onnx".
const char* ExtensionOf(Format format);

// The format that the name of a file says. An error for other names.
Result<Format> FormatByName(const std::string& path);

// The format that the content of a file says. A file that cannot be opened is one of .tflite, whose
// reader says why.
Format FormatByContent(const std::string& path);

// The same of a file that is in memory. Bytes of no format are taken for .tflite.
Format FormatOfBytes(std::span<const uint8_t> bytes);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_FORMAT_H_
