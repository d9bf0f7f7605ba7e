// Some layers of a quantized network compute in float32 instead, and the others stay as they are:
//
//   x - CONV_2D - y - CONV_2D - z        x - DEQUANTIZE - CONV_2D - CONV_2D - QUANTIZE - z
//
// Words: a *border* is where a tensor has one form and a reader needs the other; an *adapter* is
// the DEQUANTIZE or QUANTIZE there.
#ifndef INTAGLIO_NN_PASSES_COMPUTE_IN_FLOAT_H_
#define INTAGLIO_NN_PASSES_COMPUTE_IN_FLOAT_H_

#include <cstddef>
#include <span>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Where a layer of a graph that was rewritten comes from.
struct LayerOrigin {
  static constexpr size_t kAdapter = static_cast<size_t>(-1);
  size_t layer = kAdapter;      // its number before; kAdapter: it was put in
  TensorId tensor = kNoTensor;  // of an adapter: the integer tensor whose form it changes
  bool to_float = false;        // of an adapter
};

struct FloatRewrite {
  Graph graph;
  std::vector<LayerOrigin> origins;  // by layer of the new graph
};

// Layers that have a float32 form (WhyNotFloat in float_form.h).
std::vector<size_t> ListFloatLayers(const Graph& graph);

// Computes these layers in float32. Inputs and outputs of the graph keep their types, and tensors
// their ids; float32 forms of tensors are new ones. If `layers` is empty, so is the change.
//
//  - A tensor has one adapter at most, however many layers read its other form. An adapter that the
//    graph has already serves too, and vanishes if no border is left.
//  - Constants become float32 once each, exact but for one rounding of scale * integer.
//  - Between two such layers nothing is rounded to a step of a quantization, and nothing saturates
//    at the ends of its range. Only activations and bounds that the numerics state remain, and 0
//    where the range begins there (FloatOperator in float_form.h).
//
// So the results differ from those of the integers. The graph does not know any more how its
// constants follow from shapes, if it did before. An error names a layer that has no float32 form,
// and why. Only for graphs that passed Validate.
Result<FloatRewrite> ComputeInFloat(const Graph& graph, std::span<const size_t> layers);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_COMPUTE_IN_FLOAT_H_
