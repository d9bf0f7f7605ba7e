// Branches and loops.
#include <vector>

#include "intaglio/nn/formats/onnx/graph_reader.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

// A condition that is known selects the branch while the file is read.
void ReadIf(Translation& t) {
  const std::vector<int64_t> condition = t.make.Ints(t.in(0), "the condition");
  if (condition.size() != 1) return t.Invalid("needs one condition");
  const GraphProto* const branch = t.Subgraph(condition[0] != 0 ? "then_branch" : "else_branch");
  if (branch == nullptr) return;
  const std::vector<TensorId> outputs = t.reader().ReadBranch(*branch);
  for (size_t i = 0; i < outputs.size(); ++i) t.Set(i, outputs[i]);
}

constexpr OnnxRow kRows[] = {
    {"If", ReadIf, "any", 1, std::numeric_limits<int>::max(),
     "a condition that is known beforehand"},
};

}  // namespace

std::span<const OnnxRow> ControlRows() { return kRows; }

}  // namespace intaglio::nn::onnx
