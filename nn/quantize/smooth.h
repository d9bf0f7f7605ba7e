// Moves the ranges of activations into weights (Xiao et al., 2023, "SmoothQuant: accurate and
// efficient post-training quantization for large language models"). It helps where few channels of
// an activation are much larger than all others, as behind normalizations of transformers.
//
//   x - MUL(g)     - ADD(b)     - FULLY_CONNECTED(w)     - y
//   x - MUL(g / s) - ADD(b / s) - FULLY_CONNECTED(w * s) - y
#ifndef INTAGLIO_NN_QUANTIZE_SMOOTH_H_
#define INTAGLIO_NN_QUANTIZE_SMOOTH_H_

#include <cstddef>
#include <functional>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"
#include "intaglio/nn/quantize/calibrate.h"

namespace intaglio::nn::quantize {

struct SmoothOptions {
  int threads = 1;
  Limits limits = {};  // of the model that runs
  // Is called after each sample with the number of samples so far; may be null.
  std::function<void(size_t samples)> progress = {};
};

struct Smoothed {
  size_t inputs = 0;   // activations that products of constant weights read
  size_t changed = 0;  // that have other ranges now
  size_t samples = 0;
};

// Factors are within [1 / kMostSmoothing, kMostSmoothing].
inline constexpr double kMostSmoothing = 64;

// Takes a graph that passed Validate and Simplify. It looks at activations of float32 whose readers
// are all products: CONV_2D without groups, DEPTHWISE_CONV_2D or FULLY_CONNECTED with constant
// weights. Channel i, of the last dimension, is divided by s and its weights are multiplied by it
// in all readers. With a the greatest magnitude of the channel in all samples, and w that of its
// weights in all readers, s = sqrt(a / w), over the geometric mean of all channels. Channels
// without weights become no larger than the others.
//
// The division is folded into constants of the layers before: scales and biases of
// LAYER_NORMALIZATION and RMS_NORMALIZATION, constants of MUL, ADD and SUB, weights and biases of
// products. RELU, LEAKY_RELU, pools and RESHAPE may stand between. An activation stays as it is
// where there are no such constants: behind other activations, sums with what others read, the
// inputs of the graph. A layer that would divide is never added: it would be rounded, too.
//
// The outputs of the graph stay the same but for the rounding of the new constants to float32.
// Constants that other layers read, too, are copied. The samples run once, and memory does not
// depend on their number. It is an error if there is no sample, or if an activation that could be
// changed is not finite.
Result<Smoothed> SmoothChannels(Graph& graph, const NextSample& next,
                                const SmoothOptions& options = {});

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_SMOOTH_H_
