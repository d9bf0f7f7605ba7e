// Rounds weights to the integers that keep a layer's results, not to the nearest ones (Nagel et
// al., 2020, "Up or down? Adaptive rounding for post-training quantization").
#ifndef INTAGLIO_NN_QUANTIZE_LEARN_ROUNDING_H_
#define INTAGLIO_NN_QUANTIZE_LEARN_ROUNDING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"
#include "intaglio/nn/quantize/calibrate.h"
#include "intaglio/nn/quantize/quantize_graph.h"

namespace intaglio::nn::quantize {

struct RoundingOptions {
  int threads = 1;     // of the models; everything else runs on one thread
  Limits limits = {};  // of each model that runs
  // Biases are corrected afterwards (correct_bias.h), so only errors around their mean count.
  bool biases_follow = false;
  // Places of a layer's result that are looked at in each sample, drawn evenly; all if it has
  // fewer.
  size_t most_places = 64;
  uint64_t seed = 0;  // of the draw
  // For the matrices of all layers that one pass over the samples serves.
  size_t most_bytes = size_t{256} << 20;
  // Is called after each sample with the number of samples so far; may be null.
  std::function<void(size_t samples)> progress = {};
};

// One layer whose weights were rounded.
struct RoundedLayer {
  size_t layer = 0;  // its number in the graph of float32
  std::string label;
  size_t weights = 0;
  size_t moved = 0;  // weights that are not the nearest integers
  // The mean squared error of its products at the places that were looked at.
  double nearest_error = 0;  // with the nearest integers
  double error = 0;          // now
};

struct Rounded {
  std::vector<RoundedLayer> layers;
  size_t samples = 0;
  size_t passes = 0;  // over the samples
};

// `quantized` was made of `graph` by `rules`, with Form::kIntegers or Form::kPairs. For each
// quantized layer with weights, the error of its products is
//
//   sum of (W x - W' x)^2 over all samples and the places that are looked at
//
// W are the weights of float32, W' the dequantized ones, and x is the layer's exact input. The sum
// is a function of the matrix sum x x^T alone, so memory does not depend on the number of samples.
// Each weight becomes the integer below or above it (round_channel.h). The error never is larger
// than that of the nearest integers. Each layer is looked at alone.
//
// These keep the nearest integers, and Outcome::note says so: transposed convolutions, weights that
// several layers share, and layers whose matrix alone is larger than most_bytes.
//
// The same samples and seed give the same integers, whatever the number of threads, on all machines
// that add float32 in the same way (docs/numerics.md).
// It is an error if there is no sample, or if a number is not finite.
Result<Rounded> LearnRounding(const Graph& graph, Quantized& quantized, const Rules& rules,
                              const OpenSamples& open, const RoundingOptions& options = {});

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_LEARN_ROUNDING_H_
