// What is known of an operator: a row, and the parameters of one layer.
//
// A type T of parameters is an operator if it has a member `static const OperatorRow kRow`. There
// is no list of all operators: a program has the rows of those operators that its code names.
#ifndef INTAGLIO_NN_GRAPH_OPERATOR_ROW_H_
#define INTAGLIO_NN_GRAPH_OPERATOR_ROW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/candidate.h"
#include "intaglio/nn/graph/numerics.h"
#include "intaglio/nn/graph/tensor.h"
#include "intaglio/nn/graph/type_set.h"

namespace intaglio::nn {

class Operator;
struct Graph;
struct NestedGraph;

using ShapesResult = Result<std::vector<Shape>>;

// A constant seen as matrices of channels by depth.
struct MatrixCounts {
  int64_t count = 1;
  int64_t channels = 1;
  int64_t depth = 1;
};

// How an operator packs its constants. The bounds on memory follow from it (graph/cost.h).
struct Packing {
  // Null: the operator packs none.
  MatrixCounts (*matrices)(const LayerView& layer, const Tensor& constant) = nullptr;
  bool packs_activations = false;  // each run packs weights that are activations
  bool to_float32 = false;
  int64_t copies = 1;  // the most copies of one element
};

struct OperatorRow {
  const char* name;  // TFLite's, or the user's
  size_t min_inputs;
  size_t max_inputs;
  // The types of input 0. Every other type follows from it or is the operator's own business.
  TypeSet types;
  // Returns the output shapes, from the parameters and the input shapes. Only called if the number
  // of inputs is right and the first min_inputs are present.
  ShapesResult (*infer)(const LayerView& layer);
  // The ways to compute a layer, in order. They only see layers of graphs that passed Validate, and
  // whose input 0 has one of the types above.
  Candidates candidates;
  // What else a user must know. Lists of operators show it.
  const char* remark = "";
  // The inputs that are weights, biases and the like: bit i is input i. Some routines take only
  // constants as these inputs; others are faster with constants.
  uint32_t parameters = 0;
  // Says why the layer computes in floating point although none of its tensors is float32. The text
  // is empty if it does not. Null: it never does.
  std::string (*forces_float)(const LayerView& layer) = nullptr;
  // TFLite's rules for the sums of a layer. Null: the operator has no sums of products, or TFLite
  // treats them as Numerics says. Only for layers whose shapes have been inferred.
  Numerics (*numerics)(const LayerView& layer) = nullptr;
  // Lists the graphs inside the operator. Null: there are none.
  std::vector<NestedGraph> (*nested_graphs)(const Operator& op) = nullptr;
  // The values of the inputs do not matter, only their shapes.
  bool reads_only_shapes = false;
  Packing packing = {};
  // Bounds the bytes of lists whose lengths follow from shapes, which the routine makes. Null: it
  // makes none.
  int64_t (*list_bytes)(const LayerView& layer) = nullptr;
  // Counts the steps of a run besides multiply-accumulates and one step per element. Null: there
  // are none.
  int64_t (*extra_work)(const LayerView& layer) = nullptr;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_OPERATOR_ROW_H_
