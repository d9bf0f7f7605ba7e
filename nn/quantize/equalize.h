// Makes the channels of weights alike in size before they are quantized (Nagel et al., 2019,
// "Data-free quantization through weight equalization and bias correction", section 4.1). It helps
// weights with one scale for all channels most.
//
//   x - CONV_2D(w, b)     - DEPTHWISE_CONV_2D(v)     - y
//   x - CONV_2D(w/s, b/s) - DEPTHWISE_CONV_2D(v * s) - y
#ifndef INTAGLIO_NN_QUANTIZE_EQUALIZE_H_
#define INTAGLIO_NN_QUANTIZE_EQUALIZE_H_

#include <cstddef>

#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn::quantize {

struct Equalized {
  size_t pairs = 0;    // that have the form above
  size_t changed = 0;  // whose weights are others now
  int sweeps = 0;      // over all pairs
};

// The product of all factors of one channel is within [1 / kMostFactor, kMostFactor]. Channels of
// tiny weights and a large bias would get huge activations without a bound, and then all others
// would lose. With 1024, MLPerf Tiny's MobileNet falls from 27.7 to 3.3 dB; between 4 and 32, the
// bound makes little difference there (docs/quantizing.md).
inline constexpr double kMostFactor = 8;
// Sweeps end when no factor of a sweep differs from 1 by more than kFactorTolerance, or after
// kMostSweeps.
inline constexpr double kFactorTolerance = 1e-4;
inline constexpr int kMostSweeps = 100;

// Takes a graph that passed Validate and Simplify. A pair is two layers among CONV_2D,
// DEPTHWISE_CONV_2D and FULLY_CONNECTED of float32 with constant, finite weights and biases. The
// second is the only reader of the first's output, which is no output of the graph. The first has
// no activation or RELU: max(0, x / s) = max(0, x) / s for s > 0. RELU6 and other bounds do not
// commute with factors, so such pairs stay as they are. So do grouped convolutions that are second.
//
// With r1 and r2 the greatest magnitudes of channel i in the first layer's weights and in the
// second's, s = sqrt(r1 r2) / r2 divides the channel in the first and multiplies it in the second.
// Then both magnitudes are sqrt(r1 r2). Chains of pairs are swept until their factors settle.
// Channels where r1 or r2 is 0 keep s = 1.
//
// The outputs of the graph stay the same but for the rounding of the new weights and biases to
// float32, which own their memory. Constants that other layers read, too, are copied. The graph
// does not know any more how its constants follow from shapes, if it did before. Throws
// std::bad_alloc.
Equalized EqualizeChannels(Graph& graph);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_EQUALIZE_H_
