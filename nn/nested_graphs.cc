#include "intaglio/nn/nested_graphs.h"

#include <variant>

namespace intaglio::nn {

std::vector<NestedGraph> NestedGraphsOf(const Operator& op) {
  if (const auto* const loop = std::get_if<While>(&op); loop != nullptr) {
    return {{"the condition", loop->condition.get()}, {"the body", loop->body.get()}};
  }
  if (const auto* const choice = std::get_if<If>(&op); choice != nullptr) {
    return {{"the first branch", choice->then_branch.get()},
            {"the second branch", choice->else_branch.get()}};
  }
  return {};
}

}  // namespace intaglio::nn
