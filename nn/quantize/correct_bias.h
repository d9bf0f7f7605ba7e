// Takes the mean error that rounded weights cause out of biases (Nagel et al., 2019, "Data-free
// quantization through weight equalization and bias correction", section 4.2).
#ifndef INTAGLIO_NN_QUANTIZE_CORRECT_BIAS_H_
#define INTAGLIO_NN_QUANTIZE_CORRECT_BIAS_H_

#include <cstddef>
#include <functional>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"
#include "intaglio/nn/quantize/calibrate.h"
#include "intaglio/nn/quantize/quantize_graph.h"

namespace intaglio::nn::quantize {

// Gives a bias of zeros to each linear layer of float32 with constant weights that has none. So
// there is something to correct. Call it before Calibrate, whose ranges belong to the tensors of
// the graph. Returns how many layers it changed.
size_t AddBiases(Graph& graph);

struct CorrectionOptions {
  int threads = 1;
  Limits limits = {};  // of each model that runs
  // Is called after each sample with the number of samples so far; may be null.
  std::function<void(size_t samples)> progress = {};
};

struct Corrected {
  size_t layers = 0;   // that are quantized, with weights and a bias
  size_t changed = 0;  // whose bias is another one now
  size_t samples = 0;
};

// `quantized` was made of `graph`, with Form::kIntegers or Form::kPairs. For each quantized linear
// layer with a bias, the integers of the bias change by
//
//   mean((W x + b) - (W' x + b')) / scale of the bias, rounded half away from zero
//
// W and b are the weights and the bias of float32, W' and b' the dequantized ones, and x is the
// layer's exact input. The mean is over all samples and all places of a channel, before the
// activation. Each layer is looked at alone, and the rounding of x and of the result is left out:
// it has no mean to speak of. Biases stay within GreatestBias.
//
// The sums are float64 in the order of the samples, so the same samples give the same integers,
// whatever the number of threads. It is an error if there is no sample, or if a mean is not finite.
Result<Corrected> CorrectBiases(const Graph& graph, Quantized& quantized, const NextSample& next,
                                const CorrectionOptions& options = {});

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_CORRECT_BIAS_H_
