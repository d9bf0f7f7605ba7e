// intaglio operators: what the reader of .tflite files takes, as the text of docs/operators.md.
#include <cstdio>

#include "intaglio/nn/formats/tflite/registry.h"
#include "intaglio/tools/commands.h"

namespace intaglio::tools {

Status Operators() {
  std::printf(
      "# Operators\n\n"
      "What runs of the `.tflite` format, printed by `intaglio operators`. Types are those of the\n"
      "data; every other type follows from them. Shapes, axes, paddings and the like must be\n"
      "constant, or computed from constants and shapes. Constants of float16, int4 and int2\n"
      "are widened when they are read: to float32 and int8.\n\n"
      "| operator | versions | types | |\n|---|---|---|---|\n");
  for (const nn::TfliteOperator& op : nn::ListTfliteOperators()) {
    const std::string versions = op.max_version == 1 ? "1" : "1-" + std::to_string(op.max_version);
    std::printf("| %s | %s | %s | %s |\n", op.name.c_str(), versions.c_str(), op.types.c_str(),
                op.remark.c_str());
  }
  return {};
}

}  // namespace intaglio::tools
