#include "intaglio/nn/graph/operator.h"

#include "intaglio/nn/graph/layer_view.h"

namespace intaglio::nn {
namespace {

ShapesResult RefuseShapes(const LayerView& layer) { return layer.Invalid("has no operator"); }

constinit const OperatorRow kNone = {.name = "NONE",
                                     .min_inputs = 0,
                                     .max_inputs = SIZE_MAX,
                                     .types = 0,
                                     .infer = RefuseShapes,
                                     .candidates = {}};

}  // namespace

Operator::Operator() : row_(&kNone) {}

std::string ListTypes(TypeSet types) {
  if (types == kAnyType) return "any";
  std::string text;
  for (int type = 0; type <= static_cast<int>(kLastType); ++type) {
    if ((types & SetOf(static_cast<Type>(type))) == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(NameOf(static_cast<Type>(type)));
  }
  return text;
}

}  // namespace intaglio::nn
