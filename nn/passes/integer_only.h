// Whether a graph computes with integers only.
#ifndef INTAGLIO_NN_PASSES_INTEGER_ONLY_H_
#define INTAGLIO_NN_PASSES_INTEGER_ONLY_H_

#include <cstddef>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// What forces float on a layer, as in "input 0 'x' is float32"; empty where nothing does. Only for
// graphs that passed Validate.
std::string WhatForcesFloat(const Graph& graph, size_t layer);

// Refuses a graph with a float32 tensor, or with a layer that computes in floating point although
// its tensors are integers, and names the first such layer and what forces float on it. Graphs that
// pass run without a floating-point instruction where they are prepared with
// PrepareOptions::integer_only; multipliers and tables are computed from the scales, in floating
// point, when a model is prepared. Only for graphs that passed Validate.
Status CheckIntegerOnly(const Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_INTEGER_ONLY_H_
