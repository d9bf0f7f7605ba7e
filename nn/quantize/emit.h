// Inside QuantizeGraph: builds the graph that a plan describes.
#ifndef INTAGLIO_NN_QUANTIZE_EMIT_H_
#define INTAGLIO_NN_QUANTIZE_EMIT_H_

#include <cstddef>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/quantize/plan.h"
#include "intaglio/nn/quantize/quantize_graph.h"

namespace intaglio::nn::quantize {

struct Emitted {
  Quantized quantized;
  // For each layer of the graph of float32, its place in the new one.
  std::vector<size_t> places;
};

Result<Emitted> Emit(const Graph& graph, const Plan& plan, const Rules& rules);

// Form::kDynamic, which needs no plan.
Result<Emitted> EmitDynamic(const Graph& graph, const Rules& rules,
                            const std::vector<std::string>& refused);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_EMIT_H_
