// ONNX's rules for sums of products (nn/graph/numerics.h).
#ifndef INTAGLIO_NN_OPS_LINEAR_ONNX_H_
#define INTAGLIO_NN_OPS_LINEAR_ONNX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/routine/routine.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio::nn {

// Checks x and the output, the types of the weights included, and fills in their part of `linear`,
// whose numerics are set.
Status CheckOnnx(const LayerView& layer, Activation activation, LinearLayer& linear);

// input scale * weight scale, and for kFloatHalfEven / output scale, each step rounded to float32:
// one, or one per channel.
Result<std::vector<float>> OnnxScales(const LayerView& layer, const LinearLayer& linear);

// How sums become float32 (kToFloat).
struct RealOutput {
  std::vector<float> scales;  // one per channel
  std::vector<float> bias;    // the same; elements that change nothing where there is none
  float low = 0;              // of the activation
  float high = 0;
  const FloatLoops* floats = nullptr;
};
// `linear` is one of CheckLinear.
Result<RealOutput> MakeRealOutput(const LayerView& layer, const LayerOptions& options,
                                  const LinearLayer& linear, Activation activation, int channels);

// The pipeline of the channels from `first_channel` on. It points to this object.
struct RealTile {
  const RealOutput* output;
  const int32_t* bias;     // part of the sums, of all channels; or null
  const float* real_bias;  // of all channels
  int first_channel;
  float scale = 1;  // of all channels, besides their own

  // Takes the bias of a run, of all channels; null stands for none.
  void SetBias(const void* elements, Type type);
  TilePipeline pipeline() const { return {this, Run, Type::kFloat32}; }
  static void Run(const void* self, const AccumulatorTile& tile);
};
// With the constant biases.
RealTile MakeRealTile(const RealOutput& output, const LinearLayer& linear, int first_channel);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_ONNX_H_
