#include "intaglio/nn/formats/onnx/parse.h"

#include <google/protobuf/io/coded_stream.h>

#include <limits>

namespace intaglio::nn::onnx {

Status Parse(std::span<const uint8_t> bytes, ModelProto& model) {
  if (bytes.empty()) return InvalidArgument("the file is empty");
  if (bytes.size() > std::numeric_limits<int>::max()) {
    return Unsupported(
        "an .onnx file of more than 2 GB is not supported (large constants belong "
        "into files beside it)");
  }
  google::protobuf::io::CodedInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  constexpr int kMaxNesting = 100;  // of messages; Protobuf's own default
  stream.SetRecursionLimit(kMaxNesting);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return InvalidArgument("not an .onnx file, or damaged or cut short");
  }
  if (!model.has_graph()) return InvalidArgument("not an .onnx file: it has no graph");
  return {};
}

}  // namespace intaglio::nn::onnx
