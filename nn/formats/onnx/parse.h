// Inside the .onnx reader: from bytes to messages.
#ifndef INTAGLIO_NN_FORMATS_ONNX_PARSE_H_
#define INTAGLIO_NN_FORMATS_ONNX_PARSE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/formats/onnx/external_data.h"
#include "intaglio/nn/formats/onnx/large_constants.h"
#include "intaglio/nn/formats/onnx/onnx.pb.h"

namespace intaglio::nn::onnx {

// An error unless the bytes are one message with a graph. Nothing else is known of it.
Status Parse(std::span<const uint8_t> bytes, ModelProto& model);

// The same, but constants of `large` bytes and more are not copied: their elements stay in the
// file, and `kept` knows where. The model's initializers must stay where they are.
Status ParseFile(const MappedFile& file, ModelProto& model, ExternalData& kept,
                 size_t large = kLargeConstant);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_PARSE_H_
