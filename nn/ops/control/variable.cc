// READ_VARIABLE and ASSIGN_VARIABLE: copies.
#include <cstring>

#include "intaglio/nn/ops/control/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

Status CheckIsVariable(const LayerView& layer, const Tensor& tensor) {
  if (tensor.variable) return {};
  return layer.Invalid("'" + tensor.name + "' is not a variable");
}

ShapesResult InferReadVariable(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckIsVariable(layer, layer.input(0)));
  return std::vector<Shape>{layer.input(0).shape};
}

ShapesResult InferAssignVariable(const LayerView& layer) {
  const Tensor& value = layer.input(0);
  const Tensor& variable = layer.input(1);
  INTAGLIO_RETURN_IF_ERROR(CheckIsVariable(layer, variable));
  if (value.shape == variable.shape) return std::vector<Shape>{};
  return layer.Invalid("the variable '" + variable.name + "' has the shape " +
                       ToString(variable.shape) + ", not " + ToString(value.shape));
}

Result<PreparedLayer> PrepareAssignVariable(const LayerView& layer, const LayerOptions&) {
  const Tensor& value = layer.input(0);
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(1), value.type));
  PreparedLayer prepared;
  prepared.routine =
      RoutineOf([bytes = *CountBytes(value.shape, value.type)](const RunArguments& arguments) {
        std::memmove(arguments.variables[1], arguments.inputs[0], bytes);
      });
  return prepared;
}

}  // namespace

constinit const OperatorRow ReadVariable::kRow = {.name = "READ_VARIABLE",
                                                  .min_inputs = 1,
                                                  .max_inputs = 1,
                                                  .types = kAnyType,
                                                  .infer = InferReadVariable,
                                                  .candidates = Moves("copy", PrepareReshape)};

constinit const OperatorRow AssignVariable::kRow = {
    .name = "ASSIGN_VARIABLE",
    .min_inputs = 2,
    .max_inputs = 2,
    .types = kAnyType,
    .infer = InferAssignVariable,
    .candidates = Moves("copy", PrepareAssignVariable)};

}  // namespace intaglio::nn
