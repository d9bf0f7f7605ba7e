// From ranges of real numbers to scales, zero points and integers (Jacob et al., 2018, sections 2.1
// and 3.1). All results are deterministic: they are computed in float64 and rounded where this
// header says so. Scales are rounded to float32, as files hold them, before anything else is
// computed from them.
#ifndef INTAGLIO_NN_QUANTIZE_PARAMETERS_H_
#define INTAGLIO_NN_QUANTIZE_PARAMETERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "intaglio/fixedpoint/type.h"
#include "intaglio/nn/graph/tensor.h"
#include "intaglio/nn/quantize/range.h"

namespace intaglio::nn::quantize {

// Integers that stand for an activation or for weights.
struct Levels {
  Type type = Type::kInt8;  // int8, uint8 or int16
  int bits = 8;             // 2 to 8, or 16 with int16
  bool symmetric = false;   // the zero point is 0, and min = -max

  bool operator==(const Levels&) const = default;
};

// The least and the greatest integer. The symmetric form has [-(2^(bits-1) - 1), 2^(bits-1) - 1].
// The other one has the 2^bits greatest integers of the type: [112, 127] for int8 with 4 bits. So
// layers that saturate at the type's end need no other bound above, and those with RELU, whose
// zero point is then the least integer, none at all.
int32_t LowestOf(const Levels& levels);
int32_t HighestOf(const Levels& levels);

struct Parameters {
  float scale = 1;
  int32_t zero_point = 0;

  bool operator==(const Parameters&) const = default;
};
inline Quantization QuantizationOf(const Parameters& p) { return PerTensor(p.scale, p.zero_point); }

// Scales are at least this, so that their products and quotients stay normal numbers.
inline constexpr float kLeastScale = 0x1p-60f;

// The range is widened to hold 0, then
//   scale = (max - min) / (highest - lowest)
//   zero point = lowest - min / scale, rounded half away from zero
// so that 0 is exactly the zero point (equation 13), and both ends of the range move by at most
// half a step. Symmetric: scale = max(-min, max) / highest. A range of nothing but 0 has the scale
// 1 and the zero point that asymmetric ranges without negative numbers have.
Parameters ChooseParameters(const RealRange& range, const Levels& levels);

// value / scale in float64, rounded half away from zero, plus the zero point, clamped. The value is
// finite.
int32_t QuantizeNumber(float value, const Parameters& parameters, const Levels& levels);

// Weights are symmetric in [-(2^(bits-1) - 1), 2^(bits-1) - 1] (appendix B), with one scale for all
// channels or one for each. Where all weights are 0, the scale is the least.
std::vector<float> WeightScales(std::span<const RealRange> channels, int bits, bool per_channel);

// Biases are integers of the scale input_scale * weight scale (equation 11), value / scale in
// float64, rounded half away from zero. Sums must not overflow, so |bias| may be at most 2^30 in
// int32, and 2^40 in int64 for inputs of int16. Where a bias is larger, WidenForBias makes the
// scale of the channel's weights so large that the bias fits: such weights are far below one step
// of the output. It returns how many scales it changed. `scales` has one element for all biases or
// one for each.
int64_t GreatestBias(Type bias_type);
size_t WidenForBias(std::span<const float> bias, float input_scale, Type bias_type,
                    std::vector<float>& scales);
// Clamps to GreatestBias.
int64_t QuantizeBias(float bias, double scale, Type bias_type);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_PARAMETERS_H_
