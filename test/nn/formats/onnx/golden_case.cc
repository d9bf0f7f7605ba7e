#include "intaglio/test/nn/formats/onnx/golden_case.h"

#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "intaglio/nn/formats/onnx/reader.h"

namespace intaglio::nn::test {
namespace {

// "test_x@a,b": a and b
std::set<std::string> GivenNames(const std::string& name) {
  const size_t at = name.find('@');
  if (at == std::string::npos) return {};
  std::set<std::string> names;
  std::istringstream list(name.substr(at + 1));
  for (std::string one; std::getline(list, one, ',');) names.insert(one);
  return names;
}

}  // namespace

OnnxCase ReadOnnxCase(const GoldenCase& c) {
  const std::set<std::string> given = GivenNames(c.name);
  if (given.empty()) return {ImportOnnx(c.model, "case"), c.runs};
  const Result<Graph> signature = ImportOnnxSignature(c.model, "case");
  if (!signature.ok()) return {signature.status(), {}};
  if (c.runs.size() != 1) return {InvalidArgument("values for more than one run"), {}};
  OnnxOptions options;
  GoldenRun run = c.runs[0];
  run.inputs.clear();
  for (size_t i = 0; i < signature->inputs.size(); ++i) {
    const Tensor& input = signature->tensors[static_cast<size_t>(signature->inputs[i])];
    const GoldenBytes& bytes = c.runs[0].inputs.at(i);
    if (given.contains(input.name)) {
      options.constants.push_back({input.name, input.type, input.shape, bytes});
    } else {
      run.inputs.push_back(bytes);
    }
  }
  return {ImportOnnx(c.model, "case", options), {std::move(run)}};
}

}  // namespace intaglio::nn::test
