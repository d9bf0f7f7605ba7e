#include "intaglio/nn/formats/onnx/registry.h"

#include <algorithm>
#include <set>

#include "intaglio/nn/formats/onnx/rows.h"
#include "intaglio/nn/formats/onnx/write_rows.h"

namespace intaglio::nn {
namespace {

std::string OpsetsOf(const onnx::OnnxRow& row) {
  if (row.domain == std::string(onnx::kMicrosoft)) return "1";
  return std::to_string(std::max(row.since, onnx::kOldest)) + "-" +
         std::to_string(std::min(row.until, onnx::kNewest));
}

}  // namespace

std::vector<OnnxOperator> ListOnnxOperators() {
  std::vector<OnnxOperator> operators;
  onnx::FindRow([&](const onnx::OnnxRow& row) {
    const std::string domain = row.domain;
    operators.push_back({domain.empty() ? row.name : domain + "." + row.name, OpsetsOf(row),
                         row.types, row.remark});
    return false;
  });
  std::sort(operators.begin(), operators.end(),
            [](const OnnxOperator& a, const OnnxOperator& b) { return a.name < b.name; });
  return operators;
}

std::vector<std::string> ListOperatorsWrittenAsOnnx() {
  std::set<std::string> names;
  onnx::FindWriteRow([&](const onnx::WriteRow& row) {
    names.insert(row.op->name);
    return false;
  });
  return {names.begin(), names.end()};
}

}  // namespace intaglio::nn
