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
//   routine         what a candidate makes for one layer, with all that it needs packed
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
  // Names the layer in messages, as in "CONV_2D #3 'MobilenetV1/Conv2d_0'". If it is empty, LabelOf
  // makes one from the operator, the position and the name of the first output.
  std::string label;
  // If there is no value, TFLite's rules hold (LayerView::numerics).
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

// The layer's label or, if that is empty, one that is made (Layer::label).
std::string LabelOf(const Graph& graph, size_t layer);

// Returns the shapes of a layer's outputs. They follow from its parameters and the shapes of its
// inputs. Checks everything that decides them: number of inputs, ranks, strides, axes, channels. An
// error starts with the layer's label. All tensor ids must be in range.
Result<std::vector<Shape>> InferShapes(const Graph& graph, size_t layer);

// Checks what every graph must fulfil:
//  - tensor ids are in range;
//  - sizes can be counted, and constants are as long as their shapes say;
//  - each scale has a zero point, and no scale is NaN, infinite or negative;
//  - every tensor is written once, before it is read;
//  - no layer writes a constant, or a tensor that it reads;
//  - the outputs of layers have the shapes of InferShapes.
// Model::Prepare calls it. The types and quantizations that a layer needs are checked later, when
// the layer is prepared.
Status Validate(const Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_GRAPH_H_
