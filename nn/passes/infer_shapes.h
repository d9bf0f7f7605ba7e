// Gives the inputs of a graph other shapes, and infers all shapes that follow, layer by layer.
#ifndef INTAGLIO_NN_PASSES_INFER_SHAPES_H_
#define INTAGLIO_NN_PASSES_INFER_SHAPES_H_

#include <cstddef>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"

namespace intaglio::nn {

// Returns the graph with these shapes of its inputs, in their order. An empty shape, or none past
// the end, leaves an input as it is. The graph must pass Validate.
//
// A graph that was read gives what reading its file with ImportOptions::input_shapes gives:
// constants and parameters that follow from shapes are computed anew, also in the graphs inside
// layers. A variable that starts without elements takes the shape of the first value that is
// assigned to it. All else stays: an error names the layer where a new shape meets a constant, a
// parameter or a state that it does not fit.
//
// Parts that Partition makes are refused if anything in the whole model was computed from shapes.
// So are graphs that FoldConstants folded after they had been read. `limits` bounds what is
// computed.
Result<Graph> ResizeInputs(Graph graph, const std::vector<Shape>& shapes,
                           const Limits& limits = {});

// For whoever makes graphs: sets the inputs' shapes, and nothing else.
Status SetInputShapes(const std::vector<Shape>& shapes, Graph& graph);

// For whoever makes graphs: sets the shapes of a layer's outputs, except those of constants.
Status SetOutputShapes(Graph& graph, size_t layer);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_INFER_SHAPES_H_
