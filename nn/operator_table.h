// The table of operators: all that is asked of an operator by its kind goes through its row. To add
// one: its struct in operators.h (end of the variant), its file in ops/ with two functions declared
// in ops/ops.h, and its row here.
#ifndef INTAGLIO_NN_OPERATOR_TABLE_H_
#define INTAGLIO_NN_OPERATOR_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/layer.h"

namespace intaglio::nn {

// Sets of types, as bits 1 << type.
using TypeSet = uint32_t;
constexpr TypeSet SetOf(Type type) { return TypeSet{1} << static_cast<unsigned>(type); }

struct OperatorRow {
  const char* name;  // TFLite's
  size_t min_inputs;
  size_t max_inputs;
  // The types of input 0. Every other type follows from it or is the operator's own business.
  TypeSet types;
  // Output shapes from the parameters and input shapes. Called with a right number of inputs, of
  // which the first min_inputs are present.
  Result<std::vector<Shape>> (*infer)(const LayerView& layer);
  // Called on graphs that passed Validate, with input 0 of an accepted type.
  Result<PreparedLayer> (*prepare)(const LayerView& layer, const LayerOptions& options);
  // What else a user must know, for lists of operators.
  const char* remark = "";
  // The inputs that are weights, biases and the like: bit i is input i. Some routines take only
  // constants as these inputs; others are faster with constants.
  uint32_t parameters = 0;
};

const OperatorRow& RowOf(const Operator& op);
const OperatorRow* FindRow(std::string_view name);  // null where there is none
std::string ListTypes(TypeSet types);               // "int8, uint8", or "any"

// InferShapes and the row's prepare, after the checks that the table states.
Result<std::vector<Shape>> Infer(const LayerView& layer);
Result<PreparedLayer> Prepare(const LayerView& layer, const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPERATOR_TABLE_H_
