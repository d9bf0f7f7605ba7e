// Branches and loops.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/graph_reader.h"
#include "intaglio/nn/formats/onnx/inner_graph.h"
#include "intaglio/nn/formats/onnx/loops.h"
#include "intaglio/nn/formats/onnx/rows.h"
#include "intaglio/nn/ops/control/require.h"

namespace intaglio::nn::onnx {
namespace {

// The nodes of the branch instead of the node.
std::vector<TensorId> TakeBranch(Translation& t, const GraphProto& branch) {
  std::vector<TensorId> outputs = t.reader().ReadBranch(branch);
  if (outputs.size() < t.output_count()) t.Invalid("a branch has too few outputs");
  return outputs;
}

// Reads a branch as a graph. All its outputs become outputs of the graph.
Status ReadAlone(InnerGraph& inner, const GraphProto& branch) {
  return inner.Try([&] {
    for (const TensorId id : inner.reader.ReadBranch(branch)) inner.reader.AddOutput(id);
  });
}

// A branch that cannot be read, such as one for inputs of another shape, is an error only of a run
// that chooses it.
bool IsOfOneBranch(const Status& status) {
  return status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kUnsupported;
}

// The only branch that can be read, which the condition has to choose.
void ReadOnlyBranch(Translation& t, const GraphProto& branch, bool choice, const Status& other) {
  const std::vector<TensorId> outputs = TakeBranch(t, branch);
  const Require require = {choice, "the other branch cannot run: " + other.message()};
  for (size_t i = 0; i < t.output_count(); ++i) {
    t.Set(i, t.make.AddLike(require, {outputs[i], t.in(0)}));
  }
}

// Gives the graph these inputs, tensors of the graph around. What it takes from there is among
// them.
void SetInputs(InnerGraph& inner, const std::vector<TensorId>& outside) {
  std::vector<TensorId> inputs;
  for (const TensorId id : outside) inputs.push_back(inner.reader.Capture(id));
  inner.graph->inputs = std::move(inputs);
}

// Both branches, of which each run chooses one.
void ReadBothBranches(Translation& t, InnerGraph& first, InnerGraph& second) {
  std::vector<TensorId> inputs = first.reader.captured();
  for (const TensorId id : second.reader.captured()) {
    if (std::find(inputs.begin(), inputs.end(), id) == inputs.end()) inputs.push_back(id);
  }
  for (InnerGraph* const inner : {&first, &second}) {
    t.make.Fail(inner->Try([&] {
      SetInputs(*inner, inputs);
      inner->reader.make().Fail(inner->reader.Finish());
    }));
  }
  std::vector<Type> types;
  for (const TensorId id : first.graph->outputs) types.push_back(first.reader.make().At(id).type);
  if (types.size() < t.output_count()) t.Invalid("a branch has too few outputs");
  inputs.insert(inputs.begin(), t.in(0));
  const std::vector<TensorId> outputs =
      t.make.AddMany(If{first.graph, second.graph}, inputs, types);
  for (size_t i = 0; i < t.output_count(); ++i) t.Set(i, outputs[i]);
}

void ReadChoice(Translation& t, const GraphProto& then_branch, const GraphProto& else_branch) {
  InnerGraph first(t.reader());
  InnerGraph second(t.reader());
  const Status of_first = ReadAlone(first, then_branch);
  const Status of_second = ReadAlone(second, else_branch);
  for (const Status& status : {of_first, of_second}) {
    if (!IsOfOneBranch(status)) t.make.Fail(status);
  }
  if (!of_first.ok() && !of_second.ok()) t.make.Fail(of_first);
  if (!of_first.ok()) return ReadOnlyBranch(t, else_branch, false, of_first);
  if (!of_second.ok()) return ReadOnlyBranch(t, then_branch, true, of_second);
  ReadBothBranches(t, first, second);
}

void ReadIf(Translation& t) {
  const GraphProto& then_branch = *t.Subgraph("then_branch");
  const GraphProto& else_branch = *t.Subgraph("else_branch");
  const TensorId condition = t.in(0);
  if (Count(t.make.ShapeOf(condition)) != 1) t.Invalid("needs one condition");
  if (!t.make.IsConstant(condition)) return ReadChoice(t, then_branch, else_branch);
  const bool choice = t.make.Ints(condition, "the condition")[0] != 0;
  const std::vector<TensorId> outputs = TakeBranch(t, choice ? then_branch : else_branch);
  for (size_t i = 0; i < t.output_count(); ++i) t.Set(i, outputs[i]);
}

constexpr OnnxRow kRows[] = {
    {"If", ReadIf, "any", 1, kEver, "branches of the same shapes"},
    {"Loop", ReadLoop, "any", 1, kEver, "collected results need a known number of rounds"},
    {"Scan", ReadScan, "any", 9},
};

}  // namespace

std::span<const OnnxRow> ControlRows() { return kRows; }

}  // namespace intaglio::nn::onnx
