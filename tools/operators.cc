// intaglio operators: what the readers of files take, as the text of docs/operators.md.
#include <cstdio>

#ifdef INTAGLIO_NN_ONNX
#include "intaglio/nn/formats/onnx/registry.h"
#endif
#include "intaglio/nn/formats/tflite/registry.h"
#include "intaglio/tools/commands.h"

namespace intaglio::tools {
namespace {

void PrintOnnx() {
#ifdef INTAGLIO_NN_ONNX
  std::printf(
      "\n## .onnx\n\n"
      "[onnx.md](onnx.md) says how files are read. Opsets newer than the last are read as the "
      "last.\n\n"
      "| operator | opsets | types | |\n|---|---|---|---|\n");
  for (const nn::OnnxOperator& op : nn::ListOnnxOperators()) {
    std::printf("| %s | %s | %s | %s |\n", op.name.c_str(), op.opsets.c_str(), op.types.c_str(),
                op.remark.c_str());
  }
  std::printf(
      "\n### What is written\n\nLayers of these operators, by their names above or our own:\n");
  const char* separator = "";
  for (const std::string& name : nn::ListOperatorsWrittenAsOnnx()) {
    std::printf("%s%s", separator, name.c_str());
    separator = ", ";
  }
  std::printf("\n");
#endif
}

}  // namespace

Status Operators() {
  std::printf(
      "# Operators\n\n"
      "What runs of each format, printed by `intaglio operators`.\n\n"
      "## .tflite\n\n"
      "Types are those of the data; every other type follows from them. Shapes, axes, paddings\n"
      "and the like must be constant, or computed from constants and shapes. Constants of\n"
      "float16, int4 and int2 are widened when they are read: to float32 and int8.\n\n"
      "| operator | versions | types | |\n|---|---|---|---|\n");
  for (const nn::TfliteOperator& op : nn::ListTfliteOperators()) {
    const std::string versions = op.max_version == 1 ? "1" : "1-" + std::to_string(op.max_version);
    std::printf("| %s | %s | %s | %s |\n", op.name.c_str(), versions.c_str(), op.types.c_str(),
                op.remark.c_str());
  }
  PrintOnnx();
  return {};
}

}  // namespace intaglio::tools
