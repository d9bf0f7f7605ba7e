// Inside QuantizeGraph: builds the graph that a plan describes.
#ifndef INTAGLIO_NN_QUANTIZE_EMIT_H_
#define INTAGLIO_NN_QUANTIZE_EMIT_H_

#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/quantize/plan.h"
#include "intaglio/nn/quantize/quantize_graph.h"

namespace intaglio::nn::quantize {

Result<Quantized> Emit(const Graph& graph, const Ranges& ranges, const Plan& plan,
                       const Rules& rules);

// Form::kDynamic, which needs no plan.
Result<Quantized> EmitDynamic(const Graph& graph, const Rules& rules,
                              const std::vector<std::string>& refused);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_EMIT_H_
