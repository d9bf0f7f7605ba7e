// Products of float32 with constant right-hand sides. Every element is the sum of its products in
// the order of the depth: the bits of a plain loop, in vectors of every width, however many threads
// share the rows and panels.
#ifndef INTAGLIO_NN_OPS_LINEAR_FLOAT_PANELS_H_
#define INTAGLIO_NN_OPS_LINEAR_FLOAT_PANELS_H_

#include <cstddef>
#include <vector>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/pack/aligned_buffer.h"

namespace intaglio::nn {

// bounds(sum + bias)
struct FloatFinish {
  std::vector<float> bias;  // one per channel
  Bounds<float> bounds{Activation::kNone};

  float operator()(float sum, size_t channel) const { return bounds(sum + bias[channel]); }
};

class FloatPanels {
 public:
  FloatPanels() = default;
  // `channels` channels of `depth` float32 each, one after the other.
  FloatPanels(const float* weights, int channels, int depth, const FloatLoops& floats);

  // out[r, c] = finish(sum over k of x[r, k] weights[c, k], first_channel + c) for `rows` rows and
  // the channels c of panels [begin, end).
  void Multiply(const float* x, ptrdiff_t x_stride, int rows, int begin, int end,
                const FloatFinish& finish, int first_channel, float* out,
                ptrdiff_t out_stride) const;

  int count() const;  // of panels
  size_t bytes() const { return panels_.bytes(); }

 private:
  int channels_ = 0;
  int depth_ = 0;
  const FloatLoops* floats_ = nullptr;
  AlignedBuffer panels_;
};

// The layer's float32 bias is input 2, a constant with one element per channel, or absent.
Result<FloatFinish> MakeFloatFinish(const LayerView& layer, Activation activation, int channels);
// The same for a layer of float32 alone, with constant weights (input 1).
Result<FloatFinish> CheckFloatLayer(const LayerView& layer, Activation activation, int channels);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_FLOAT_PANELS_H_
