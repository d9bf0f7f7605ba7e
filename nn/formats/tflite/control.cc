// Operators that run subgraphs, and variables, in .tflite files.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/resources.h"
#include "intaglio/nn/formats/tflite/rows.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

Status TranslateVarHandle(Translation& t) {
  if (t.output_count() != 1) return InvalidArgument("has no output");
  t.Drop();
  return t.resources().MakeHandle(t.output_id(0), t.options<tflite::VarHandleOptions>());
}

Status TranslateReadVariable(Translation& t) {
  const Result<TensorId> variable = t.resources().Find(t.id(0));
  if (!variable.ok()) return variable.status();
  t.KeepInputs(0);
  t.AddInput(*variable);
  t.set(ReadVariable{});
  return {};
}

Status TranslateAssignVariable(Translation& t) {
  if (!t.has_input(1)) return InvalidArgument("input 1 is absent");
  const TensorId value = t.id(1);
  const Result<TensorId> variable = t.resources().FindOrMake(t.id(0), value);
  if (!variable.ok()) return variable.status();
  t.KeepInputs(0);
  t.AddInput(value);
  t.AddInput(*variable);
  t.set(AssignVariable{});
  return {};
}

Status TranslateCallOnce(Translation& t) {
  const Result<const tflite::CallOnceOptions*> options =
      t.RequiredOptions<tflite::CallOnceOptions>();
  if (!options.ok()) return options.status();
  t.Drop();
  return t.resources().Initialize((*options)->init_subgraph_index());
}

// The constants among the state of a loop: what the body gives back as it came.
std::vector<bool> FindInvariants(const Translation& t, const tflite::SubGraph& body) {
  std::vector<bool> invariant(t.input_count());
  for (uint32_t i = 0; i < invariant.size(); ++i) {
    invariant[i] = t.IsConstant(i) && i < Length(body.inputs()) && i < Length(body.outputs()) &&
                   body.inputs()->Get(i) == body.outputs()->Get(i);
  }
  return invariant;
}

void DropOutput(Graph& graph, size_t i) {
  if (i < graph.outputs.size())
    graph.outputs.erase(graph.outputs.begin() + static_cast<ptrdiff_t>(i));
}

Status TranslateWhile(Translation& t) {
  const Result<const tflite::WhileOptions*> options = t.RequiredOptions<tflite::WhileOptions>();
  if (!options.ok()) return options.status();
  const Result<const tflite::SubGraph*> subgraph =
      t.NestedSubgraph((*options)->body_subgraph_index());
  if (!subgraph.ok()) return subgraph.status();
  const std::vector<bool> invariant = FindInvariants(t, **subgraph);
  Result<Graph> condition = t.ReadNested((*options)->cond_subgraph_index(), 0, invariant);
  if (!condition.ok()) return condition.status();
  Result<Graph> body = t.ReadNested((*options)->body_subgraph_index(), 0, invariant);
  if (!body.ok()) return body.status();
  for (size_t i = invariant.size(); i-- > 0;) {
    if (!invariant[i]) continue;
    INTAGLIO_RETURN_IF_ERROR(t.MakeOutputConstant(i, t.input(i)));
    t.DropInput(i);
    DropOutput(*body, i);
  }
  t.set(While{std::make_shared<const Graph>(std::move(*condition)),
              std::make_shared<const Graph>(std::move(*body))});
  return {};
}

Status TranslateIf(Translation& t) {
  const Result<const tflite::IfOptions*> options = t.RequiredOptions<tflite::IfOptions>();
  if (!options.ok()) return options.status();
  if (!t.has_input(0)) return InvalidArgument("input 0 is absent");
  std::vector<bool> constant(t.input_count());
  for (size_t i = 1; i < constant.size(); ++i) constant[i] = t.IsConstant(i);
  Result<Graph> chosen = t.ReadNested((*options)->then_subgraph_index(), 1, constant);
  if (!chosen.ok()) return chosen.status();
  Result<Graph> other = t.ReadNested((*options)->else_subgraph_index(), 1, constant);
  if (!other.ok()) return other.status();
  for (size_t i = constant.size(); i-- > 0;) {
    if (constant[i]) t.DropInput(i);
  }
  t.set(If{std::make_shared<const Graph>(std::move(*chosen)),
           std::make_shared<const Graph>(std::move(*other))});
  return {};
}

Status Encode(const ReadVariable&, Encoding& e) {
  e.set_inputs({e.HandleOf(e.inputs()[0])});
  return {};
}

Status Encode(const AssignVariable&, Encoding& e) {
  e.set_inputs({e.HandleOf(e.inputs()[1]), e.inputs()[0]});
  return {};
}

Status Encode(const While& op, Encoding& e) {
  const int32_t condition = e.IndexOf(*op.condition);
  e.SetOptions(tflite::CreateWhileOptions(e.builder(), condition, e.IndexOf(*op.body)));
  return {};
}

Status Encode(const If& op, Encoding& e) {
  const int32_t chosen = e.IndexOf(*op.then_branch);
  e.SetOptions(tflite::CreateIfOptions(e.builder(), chosen, e.IndexOf(*op.else_branch)));
  return {};
}

constexpr TfliteRow kRows[] = {
    {Code::VAR_HANDLE, 1, TranslateVarHandle, nullptr, nullptr, "resource"},
    {Code::READ_VARIABLE, 1, TranslateReadVariable, &ReadVariable::kRow,
     WriteBy<ReadVariable, Encode>},
    {Code::ASSIGN_VARIABLE, 1, TranslateAssignVariable, &AssignVariable::kRow,
     WriteBy<AssignVariable, Encode>},
    {Code::CALL_ONCE, 1, TranslateCallOnce, nullptr, nullptr, "resource"},
    {Code::WHILE, 1, TranslateWhile, &While::kRow, WriteBy<While, Encode>},
    {Code::IF, 1, TranslateIf, &If::kRow, WriteBy<If, Encode>},
};

}  // namespace

std::span<const TfliteRow> ControlRows() { return kRows; }

}  // namespace intaglio::nn
