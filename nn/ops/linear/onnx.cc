#include "intaglio/nn/ops/linear/onnx.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/checks.h"

namespace intaglio::nn {
namespace {

bool IsByte(Type type) { return type == Type::kInt8 || type == Type::kUInt8; }

// A bound of the real numbers as one of the output, where it is clamped anyway.
int32_t Quantized(float bound, Type type, const Affine& output) {
  const Range range = RangeOf(type);
  const float low = static_cast<float>(range.min - output.zero_point);
  const float high = static_cast<float>(range.max - output.zero_point);
  const float clamped = std::fmin(std::fmax(bound / output.scale, low), high);
  return static_cast<int32_t>(std::nearbyint(clamped)) + output.zero_point;
}

Range ClampOf(const Numerics& numerics, Activation activation, Type type, const Affine& output) {
  Range clamp = RangeOf(type);
  clamp.min = std::max(clamp.min, numerics.clamp_min);
  clamp.max = std::min(clamp.max, numerics.clamp_max);
  const Bounds<float> bounds = Bounds<float>::Open(activation);
  clamp.min = std::max(clamp.min, Quantized(bounds.low, type, output));
  clamp.max = std::min(clamp.max, Quantized(bounds.high, type, output));
  return clamp;
}

Status CheckQuantizedOutput(const LayerView& layer, Activation activation, LinearLayer& linear) {
  if (!IsByte(linear.output_type) && linear.output_type != Type::kInt16) {
    return layer.Unsupported(std::string("the output is ") + NameOf(linear.output_type) +
                             "; int8, uint8 or int16 is supported");
  }
  const Result<Affine> output = AffineOf(layer, layer.output());
  if (!output.ok()) return output.status();
  if (!(output->scale > 0)) return layer.Invalid("the output's scale is 0");
  linear.output = *output;
  linear.clamp = ClampOf(linear.numerics, activation, linear.output_type, *output);
  if (linear.clamp.min <= linear.clamp.max) return {};
  return layer.Invalid("the output has no number within its bounds");
}

Status CheckOutput(const LayerView& layer, Activation activation, LinearLayer& linear) {
  if (linear.numerics.scaling == Scaling::kFloatHalfEven) {
    return CheckQuantizedOutput(layer, activation, linear);
  }
  linear.clamp = RangeOf(Type::kInt32);
  if (linear.numerics.scaling == Scaling::kToFloat) {
    return CheckType(layer, layer.output(), Type::kFloat32);
  }
  if (activation != Activation::kNone) {
    return layer.Unsupported("an activation of sums that are not scaled");
  }
  return CheckType(layer, layer.output(), Type::kInt32);
}

}  // namespace

Status CheckOnnx(const LayerView& layer, Activation activation, LinearLayer& linear) {
  linear.type = layer.input(0).type;
  linear.weight_type = layer.input(1).type;
  linear.output_type = layer.output().type;
  if (!IsByte(linear.type) || !IsByte(linear.weight_type)) {
    return layer.Unsupported(std::string("products of ") + NameOf(linear.type) + " and " +
                             NameOf(linear.weight_type));
  }
  const bool needs_scale = linear.numerics.scaling != Scaling::kNone;
  if (needs_scale || layer.input(0).quantization.quantized()) {
    const Result<Affine> input = AffineOf(layer, layer.input(0));
    if (!input.ok()) return input.status();
    linear.input = *input;
  }
  return CheckOutput(layer, activation, linear);
}

Result<std::vector<float>> OnnxScales(const LayerView& layer, const LinearLayer& linear) {
  std::vector<float> scales;
  scales.reserve(linear.weight_scales.size());
  for (const float weight_scale : linear.weight_scales) {
    float scale = linear.input.scale * weight_scale;
    if (linear.numerics.scaling == Scaling::kFloatHalfEven) scale /= linear.output.scale;
    if (!std::isfinite(scale)) {
      return layer.Invalid("the scales " + std::to_string(linear.input.scale) + ", " +
                           std::to_string(weight_scale) + " and " +
                           std::to_string(linear.output.scale) + " make no finite multiplier");
    }
    scales.push_back(scale);
  }
  return scales;
}

Result<RealOutput> MakeRealOutput(const LayerView& layer, const LayerOptions& options,
                                  const LinearLayer& linear, Activation activation, int channels) {
  const auto count = static_cast<size_t>(channels);
  Result<std::vector<float>> scales = OnnxScales(layer, linear);
  if (!scales.ok()) return scales.status();
  RealOutput output;
  output.scales.assign(count, (*scales)[0]);
  if (scales->size() > 1) output.scales = std::move(*scales);
  output.bias.assign(count, -0.0f);
  if (layer.has_input(2) && layer.input(2).type == Type::kFloat32) {
    const Tensor& bias = layer.input(2);
    if (!bias.constant || *CountElements(bias.shape) != channels) {
      return layer.Unsupported("a bias that is not " + std::to_string(channels) + " constants");
    }
    if (channels > 0) std::memcpy(output.bias.data(), bias.data, bias.data_bytes);
  }
  const Bounds<float> bounds = Bounds<float>::Open(activation);
  output.low = bounds.low;
  output.high = bounds.high;
  output.floats = &FloatLoopsOf(options.kernel);
  return output;
}

RealTile MakeRealTile(const RealOutput& output, const LinearLayer& linear, int first_channel) {
  return {&output, linear.bias.empty() ? nullptr : linear.bias.data(), output.bias.data(),
          first_channel};
}

void RealTile::SetBias(const void* elements, Type type) {
  if (elements == nullptr) return;
  if (type == Type::kFloat32) {
    real_bias = static_cast<const float*>(elements);
  } else {
    bias = static_cast<const int32_t*>(elements);
  }
}

namespace {

// A tile whose lines run along the channels. Subtracting -1 times the bias adds it.
void RunAlongChannels(const RealTile& real, const AccumulatorTile& tile, int channel) {
  LinesToReal lines;
  lines.zero_point = real.bias == nullptr ? 0 : -1;
  lines.weight_sums = real.bias == nullptr ? nullptr : real.bias + channel;
  lines.scale = real.scale;
  lines.weight_scales = real.output->scales.data() + channel;
  lines.bias = real.real_bias + channel;
  lines.low = real.output->low;
  lines.high = real.output->high;
  lines.lines = tile.lines;
  lines.acc_stride = tile.acc_stride;
  lines.to_stride = tile.line_stride;
  real.output->floats->to_real(lines, tile.acc, tile.length, static_cast<float*>(tile.dst));
}

// Any other tile.
void RunPlainly(const RealTile& real, const AccumulatorTile& tile, int channel) {
  const bool along_channels = tile.along == Axis::kCols;
  Bounds<float> bounds(Activation::kNone);
  bounds.low = real.output->low;
  bounds.high = real.output->high;
  for (int l = 0; l < tile.lines; ++l) {
    float* const to = static_cast<float*>(tile.dst) + l * tile.line_stride;
    for (int i = 0; i < tile.length; ++i) {
      const auto c = static_cast<size_t>(channel + (along_channels ? i : l));
      const int32_t bias = real.bias == nullptr ? 0 : real.bias[c];
      const int32_t sum = WrappingAdd(tile.acc[l * tile.acc_stride + i], bias);
      const float scaled = static_cast<float>(sum) * (real.scale * real.output->scales[c]);
      to[i * tile.element_stride] = bounds(scaled + real.real_bias[c]);
    }
  }
}

}  // namespace

void RealTile::Run(const void* self, const AccumulatorTile& tile) {
  const auto& real = *static_cast<const RealTile*>(self);
  const bool along_channels = tile.along == Axis::kCols;
  const int channel = real.first_channel + (along_channels ? tile.first_element : tile.first_line);
  if (along_channels && tile.element_stride == 1) return RunAlongChannels(real, tile, channel);
  RunPlainly(real, tile, channel);
}

}  // namespace intaglio::nn
