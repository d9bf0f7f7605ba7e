// WHILE and IF. Weights that a file hands to subgraphs as inputs become constants in them, which is
// what layers take.
#include <memory>
#include <utility>

#include "intaglio/nn/import/translate.h"

namespace intaglio::nn {
namespace {

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

}  // namespace

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

}  // namespace intaglio::nn
