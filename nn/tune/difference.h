// By how much the outputs of networks differ.
#ifndef INTAGLIO_NN_TUNE_DIFFERENCE_H_
#define INTAGLIO_NN_TUNE_DIFFERENCE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/tune/plan.h"

namespace intaglio::nn::tune {

// Compares the bytes of all outputs of a graph with what they should be. Outputs that are neither
// float32 nor quantized count as numbers. NaN where no NaN should be counts as a difference of the
// number itself.
Difference DifferenceOf(const Graph& graph, std::span<const std::vector<uint8_t>> expected,
                        std::span<const std::vector<uint8_t>> outputs);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_DIFFERENCE_H_
