#include "intaglio/nn/formats/onnx/parse.h"

#include <google/protobuf/io/coded_stream.h>

#include <limits>
#include <optional>
#include <string>

namespace intaglio::nn::onnx {
namespace {

Status Damaged() { return InvalidArgument("not an .onnx file, or damaged or cut short"); }

}  // namespace

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
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) return Damaged();
  if (!model.has_graph()) return InvalidArgument("not an .onnx file: it has no graph");
  return {};
}

Status ParseFile(const MappedFile& file, ModelProto& model, ExternalData& kept, size_t large) {
  auto lean = file.bytes.size() <= std::numeric_limits<int>::max()
                  ? WithoutLargeConstants(file.bytes, large)
                  : std::nullopt;
  if (!lean) return Parse(file.bytes, model);
  const std::span message(reinterpret_cast<const uint8_t*>(lean->message.data()),
                          lean->message.size());
  INTAGLIO_RETURN_IF_ERROR(Parse(message, model));
  lean->message = std::string();  // frees it
  const auto& initializers = model.graph().initializer();
  for (const LargeConstant& constant : lean->constants) {
    const auto place = static_cast<int>(constant.initializer);
    if (place >= initializers.size()) return Damaged();
    kept.Keep(initializers[place], {constant.elements, file.owner});
  }
  return {};
}

}  // namespace intaglio::nn::onnx
