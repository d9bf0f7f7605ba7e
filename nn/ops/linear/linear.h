// What CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED share: sums of products of quantized inputs
// and constant weights, plus a bias.
#ifndef INTAGLIO_NN_OPS_LINEAR_LINEAR_H_
#define INTAGLIO_NN_OPS_LINEAR_LINEAR_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "intaglio/gemm/depthwise.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/window.h"
#include "intaglio/nn/routine/packed_once.h"
#include "intaglio/nn/routine/routine.h"
#include "intaglio/pipeline/standard.h"

namespace intaglio::nn {

// The checked quantizations of a linear layer: x is input 0, weights input 1, bias input 2.
struct LinearLayer {
  Numerics numerics;
  // TFLite's rules ask for one type throughout.
  Type type = Type::kInt8;  // of x
  Type weight_type = Type::kInt8;
  Type output_type = Type::kInt8;
  Affine input;
  Affine output;                            // of a quantized output
  Range clamp;                              // of an integer output, activation included
  std::vector<float> weight_scales;         // one, or one per channel
  std::vector<int32_t> weight_zero_points;  // the same
  std::vector<int32_t> bias;                // one per channel, or empty
};

// `channels` outputs, along `axis` of the weights, are sums of `depth` products. Checks types,
// quantizations, constness, and that no sum of products can overflow int32.
Result<LinearLayer> CheckLinear(const LayerView& layer, Activation activation, int axis,
                                int channels, int64_t depth);

// The weights' part of it: constant weights of this type, with one scale or one per channel.
Status CheckWeights(const LayerView& layer, Type type, int axis, int channels, LinearLayer& linear);
// The scales and zero points alone.
Status CheckWeightScales(const LayerView& layer, int axis, int channels, LinearLayer& linear);

// Whether the scaling is one of ONNX's (nn/graph/numerics.h).
bool IsOnnx(Scaling scaling);

// TFLite's rules for convolutions.
Numerics NumericsOfConvolution(const LayerView& layer);
// TFLite sums in int32 where the bias of an int16 layer is int32.
Accumulator AccumulatorByBias(const LayerView& layer);

// Refuses numerics with another scaling than one of these.
Status CheckScaling(const LayerView& layer, std::initializer_list<Scaling> known);

// input scale * weight scale / output scale, or 0, for one weight scale or for each.
std::vector<double> RealMultipliers(const LinearLayer& linear);

// Requantization parameters in the form that pipelines take.
struct Multipliers {
  std::vector<int32_t> mantissa;
  std::vector<int32_t> exponent;
  std::vector<float> scale;  // in their place, of kFloatHalfEven and kToFloat
};
Result<Multipliers> MakeMultipliers(const LayerView& layer, const LinearLayer& linear);

// The pipeline of the channels from `first`, with the scaling of the numerics; that of all channels
// with float64 multipliers. They point into both arguments.
StandardPipeline MakePipeline(const LinearLayer& linear, const Multipliers& multipliers, int first);
StandardPipeline MakePipeline(const LinearLayer& linear, const std::vector<double>& real);

// The view of a convolution's input as numbers of 8 bits, all but its data. Errors name the layer.
Result<Im2col> MakeView(const LayerView& layer, Type type, int32_t zero_point,
                        const Window& window);

// Options to pack the channels [first, first + count) of a matrix. The matrix has the first zero
// point.
PackOptions MakePackOptions(const LinearLayer& linear, const LayerOptions& options, int first,
                            int count);

// The weights, one channel of `depth` numbers after the other, as the right-hand sides of `groups`
// products. kernel_height: as PackOptions has it.
Result<PackedOf<std::vector<PackedMatrix>>> PackWeights(const LayerView& layer,
                                                        const LinearLayer& linear,
                                                        const LayerOptions& options, int groups,
                                                        int depth, int kernel_height = 1);

// Packs input 1 as depthwise filters, `multiplier` of them for each input channel.
Result<PackedOf<PackedDepthwise>> PackDepthwise(const LayerView& layer, const LayerOptions& options,
                                                int32_t zero_point, int kernel_width,
                                                int multiplier);

// Products of one run; saturates.
int64_t CountMacs(const Shape& output, int64_t depth);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_LINEAR_LINEAR_H_
