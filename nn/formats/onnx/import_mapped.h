// Inside the .onnx reader: the way of LoadOnnx with a file that lies in memory already.
#ifndef INTAGLIO_NN_FORMATS_ONNX_IMPORT_MAPPED_H_
#define INTAGLIO_NN_FORMATS_ONNX_IMPORT_MAPPED_H_

#include <cstddef>
#include <string>

#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/formats/onnx/reader.h"

namespace intaglio::nn::onnx {

// Constants of `large` bytes and more stay in the file. Tests choose small numbers, so that small
// files take this way.
Result<Graph> ImportMapped(const MappedFile& file, const std::string& name,
                           const OnnxOptions& options, size_t large);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_IMPORT_MAPPED_H_
