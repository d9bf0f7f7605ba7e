// A graph of layers: what a model computes, independent of how. Importers and the builder make
// graphs; Model::Prepare checks them. Nothing in a graph needs to be right before that.
//
// The words of nn, each with one meaning:
//
//   tensor          a typed array with a shape and a quantization (graph/tensor.h)
//   constant        a tensor whose elements the graph holds
//   variable        a tensor that keeps its elements from run to run
//   operator        what a layer computes: a row, and a struct of parameters (graph/operator.h)
//   row             what is known of all layers with one operator (graph/operator_row.h)
//   layer           an operator with the tensors that it reads and writes
//   graph           layers in an order in which they can run
//   nested graph    a graph that a layer runs, as WHILE and IF do
//   pass            a function from graph to graph (passes/)
//   candidate       one of the ways to compute the layers of an operator (graph/candidate.h)
//   routine         what a candidate makes for one layer, with all that it needs packed and computed
//   prepared layer  a routine, and what the memory plan must know of it (routine/routine.h)
//   arena           the memory of one instance for all tensors but constants
//   block           a part of the arena; tensors that never live at once may share its bytes
//   memory plan     where each tensor and each layer's scratch lies in the arena
//   program         a graph with its prepared layers and its memory plan (routine/program.h)
//   model           a program with an arena, threads, inputs and outputs (runtime/model.h)
//   instance        one of the models that share a program (Model::Share)
//   backend         where routines run: this CPU, or a device with memory of its own
//   format          a kind of model file, with a reader and a writer (formats/)
//   limits          what a model may take of memory, work and rounds (graph/limits.h)
//   ledger          what a model has taken of its memory limit (graph/ledger.h)
#ifndef INTAGLIO_NN_GRAPH_GRAPH_H_
#define INTAGLIO_NN_GRAPH_GRAPH_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/numerics.h"
#include "intaglio/nn/graph/operator.h"
#include "intaglio/nn/graph/tensor.h"

namespace intaglio::nn {

// An index into Graph::tensors.
using TensorId = int;
inline constexpr TensorId kNoTensor = -1;  // an optional input that is absent

struct Layer {
  Operator op;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  // Names the layer in messages, as in "CONV_2D #3 'MobilenetV1/Conv2d_0'". Where empty, it is made
  // from the operator, the position and the first output's name.
  std::string label;
  // Where empty, TFLite's rules hold (LayerView::numerics).
  std::optional<Numerics> numerics = std::nullopt;
};

struct FoldedShapes;

struct Graph {
  std::string name;  // of the model; may be empty
  std::vector<Tensor> tensors;
  std::vector<Layer> layers;  // in an order in which they can run
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  // How constants and parameters follow from shapes (nn/graph/folded_shapes.h). Null if none does.
  std::shared_ptr<const FoldedShapes> folded_shapes = nullptr;
};

// TFLite's name of an operator, such as "CONV_2D".
const char* NameOf(const Operator& op);

// The layer's label, or one made as said above.
std::string LabelOf(const Graph& graph, size_t layer);

// The shapes of a layer's outputs, from its parameters and the shapes of its inputs (those of its
// outputs are not read). Checks all that decides them: number of inputs, ranks, strides, axes,
// channels. The message starts with the label. Only for tensor ids in range.
Result<std::vector<Shape>> InferShapes(const Graph& graph, size_t layer);

// Checks what holds for every graph: tensor ids in range, sizes that fit, constants as long as
// their shape says, one zero point per scale, no NaN, infinite or negative scale, every tensor
// written once and before it is read, no layer that writes what it reads or a constant, and the
// output shapes of InferShapes. Model::Prepare calls it, and checks there what a layer needs of the
// types and quantizations it uses.
Status Validate(const Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_GRAPH_H_
