// How the sums of a layer's products become its outputs. Formats differ in it, so it is data of the
// layer: a reader sets it, the routines follow it.
#ifndef INTAGLIO_NN_GRAPH_NUMERICS_H_
#define INTAGLIO_NN_GRAPH_NUMERICS_H_

#include <cstdint>

#include "intaglio/pipeline/standard.h"

namespace intaglio::nn {

enum class Accumulator : uint8_t { kInt32, kInt64 };

// The defaults are TFLite's rules for int8 convolutions.
struct Numerics {
  // The rounding: by two roundings, by one, or by a float64 multiplier.
  Scaling scaling = Scaling::kDoubleRounding;
  // The scales of input and weights are multiplied in float32, not in double.
  bool float32_scales = false;
  // A bias must have the scale of the products, up to a fiftieth of an output step.
  bool checks_bias_scale = false;
  // What int16 inputs are summed in, bias included. Sums of 8-bit inputs are int32.
  Accumulator accumulator = Accumulator::kInt64;

  bool operator==(const Numerics&) const = default;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_NUMERICS_H_
