#include "intaglio/nn/formats/onnx/survey.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "intaglio/nn/files/mapped_file.h"
#include "intaglio/nn/formats/onnx/graph_reader.h"
#include "intaglio/nn/formats/onnx/parse.h"
#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn {
namespace onnx {
namespace {

int OpsetOf(const ModelProto& model, const std::string& domain) {
  for (const OperatorSetIdProto& opset : model.opset_import()) {
    constexpr int64_t kMost = 1 << 20;
    if (DomainOf(opset.domain()) != DomainOf(domain)) continue;
    return static_cast<int>(std::clamp<int64_t>(opset.version(), 1, kMost));
  }
  return 1;
}

bool IsFunction(const ModelProto& model, const NodeProto& node) {
  const auto& functions = model.functions();
  return std::any_of(functions.begin(), functions.end(), [&](const FunctionProto& function) {
    return function.name() == node.op_type() &&
           DomainOf(function.domain()) == DomainOf(node.domain());
  });
}

Result<std::vector<SurveyRow>> Survey(std::span<const uint8_t> bytes) {
  ModelProto model;
  INTAGLIO_RETURN_IF_ERROR(Parse(bytes, model));
  std::vector<SurveyRow> rows;
  for (const NodeProto& node : model.graph().node()) {
    const int opset = OpsetOf(model, node.domain());
    const std::string name = Printable(node.op_type());
    auto row = std::find_if(rows.begin(), rows.end(), [&](const SurveyRow& other) {
      return other.name == name && other.version == opset;
    });
    if (row == rows.end()) {
      const bool known = IsFunction(model, node) || RowOf(node, opset) != nullptr;
      row = rows.insert(rows.end(), {name, opset, "", 0, known ? "" : "not supported"});
    }
    ++row->count;
  }
  return rows;
}

}  // namespace
}  // namespace onnx

Result<std::vector<SurveyRow>> SurveyOnnx(const std::string& path) try {
  const Result<MappedFile> file = MapFile(path);
  if (!file.ok()) return Status(file.status().code(), path + ": " + file.status().message());
  Result<std::vector<SurveyRow>> rows = onnx::Survey(file->bytes);
  if (rows.ok()) return rows;
  return Status(rows.status().code(), path + ": " + rows.status().message());
} catch (const std::bad_alloc&) {
  return OutOfMemory(path + ": no memory to read the model");
}

}  // namespace intaglio::nn
