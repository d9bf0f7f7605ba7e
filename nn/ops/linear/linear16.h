// Sums of products of int16 inputs and int8 weights by products of 8 bits: x = 256 high + low, so
// that x w = 256 (high w) + low w.
#ifndef INTAGLIO_NN_OPS_LINEAR_LINEAR16_H_
#define INTAGLIO_NN_OPS_LINEAR_LINEAR16_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "intaglio/fixedpoint/requantize_wide.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/routine/routine.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio::nn {

// A checked layer of int16 inputs and int8 weights, all zero points 0.
struct Linear16 {
  LinearLayer linear;         // without its bias
  std::vector<int64_t> bias;  // one per channel, or empty
  Type bias_type = Type::kInt64;
  // One of these is set, with one value or one per channel.
  Multipliers multipliers;           // requantize a sum in int32, with two roundings
  std::vector<WideMultiplier> wide;  // a sum in int64
  std::vector<double> real;          // any sum, by RequantizeReal64

  int channels = 0;

  bool narrow() const { return linear.numerics.accumulator == Accumulator::kInt32; }

  // Replaces the bias by one of the same length and type. Null stands for no bias.
  Status SetBias(const void* elements);

  // The outputs for sums of products, of all channels in turn.
  void Finish(const int64_t* sums, ptrdiff_t count, int16_t* out) const;
};

// Checks the same as CheckLinear.
Result<Linear16> CheckLinear16(const LayerView& layer, Activation activation, int axis,
                               int channels, int64_t depth);

// Scratch of a run.
struct Halves {
  int8_t* high = nullptr;
  uint8_t* low = nullptr;
  int32_t* products = nullptr;  // of the high halves
};
Result<size_t> HalvesBytes(const LayerView& layer, int64_t elements, int64_t products);
Halves HalvesIn(void* scratch, int64_t elements);
void Split(const int16_t* x, int64_t elements, const Halves& halves);

// A pipeline over products of the low halves: it adds those of the high ones, [rows, stride] at
// `high`, and finishes. Channel 0 of a product is `first_channel` of the layer.
struct AddHighHalves {
  const Linear16& layer;
  const int32_t* high;
  ptrdiff_t stride;
  int first_channel;

  TilePipeline pipeline() const { return {this, Run, Type::kInt16}; }
  static void Run(const void* self, const AccumulatorTile& tile);
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_LINEAR16_H_
