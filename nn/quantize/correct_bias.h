// Takes the mean error of rounding out of biases: empirical bias correction (Nagel et al., 2019,
// "Data-free quantization through weight equalization and bias correction", appendix D).
#ifndef INTAGLIO_NN_QUANTIZE_CORRECT_BIAS_H_
#define INTAGLIO_NN_QUANTIZE_CORRECT_BIAS_H_

#include <cstddef>
#include <functional>
#include <limits>

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
  // Which samples are looked at: the first, and each `every`th after it. All until the last of them
  // are read in each pass.
  size_t every = 1;
  size_t most_samples = std::numeric_limits<size_t>::max();
  // Is called after each sample with the number of samples so far in this pass; may be null.
  std::function<void(size_t samples)> progress = {};
};

struct Corrected {
  size_t layers = 0;   // that are quantized, with weights and a bias
  size_t changed = 0;  // whose bias is another one now
  size_t samples = 0;
};

// `quantized` was made of `graph`, with Form::kIntegers or Form::kPairs. For each quantized linear
// layer with a bias, in the order of the layers, the integers of the bias change by
//
//   mean((W x + b) - (W' x' + b')) / scale of the bias, rounded half away from zero
//
// W and b are the weights and the bias of float32, W' and b' the dequantized ones. x is the layer's
// exact input. x' is what the network of integers has there, with the layers before corrected; so
// mean errors of activations, which TFLite's double rounding makes, go away, too. The mean is over
// all samples that are looked at and all places of a channel, before the activation. Biases stay
// within GreatestBias.
//
// There is one pass over the samples with the network of float32, and one for each layer with the
// network of integers up to it. The sums are float64 in the order of the samples, so the same
// samples give the same integers, whatever the number of threads. It is an error if there is no
// sample, or if a mean is not finite.
Result<Corrected> CorrectBiases(const Graph& graph, Quantized& quantized, const OpenSamples& open,
                                const CorrectionOptions& options = {});

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_CORRECT_BIAS_H_
