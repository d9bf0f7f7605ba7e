#include "intaglio/nn/ops/linear16.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "intaglio/fixedpoint/requantize_real64.h"
#include "intaglio/fixedpoint/requantize_wide.h"

namespace intaglio::nn {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kMaxDepth = 1 << 16;          // products of low halves must fit int32
constexpr int64_t kMaxBias = int64_t{1} << 42;  // with the products it stays below 2^43
constexpr int kMaxExponent = 7;                 // that RequantizeWide takes

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

Status CheckZeroPoints(const LayerView& layer, const LinearLayer& linear) {
  bool zero = linear.input.zero_point == 0 && linear.output.zero_point == 0;
  for (const int32_t zero_point : linear.weight_zero_points) zero = zero && zero_point == 0;
  if (zero) return {};
  return layer.Unsupported("int16 with other zero points than 0");
}

template <class T>
Status ReadBias(const LayerView& layer, Linear16& to) {
  const auto* const bytes = static_cast<const std::byte*>(layer.input(2).data);
  for (size_t i = 0; i < to.bias.size(); ++i) {
    T value = 0;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    if (value < -kMaxBias || value > kMaxBias) {
      return layer.Unsupported("the bias " + std::to_string(value) + " of channel " +
                               std::to_string(i) + " is beyond 2^42");
    }
    to.bias[i] = value;
  }
  return {};
}

Status CheckBias(const LayerView& layer, int channels, Linear16& to) {
  if (!layer.has_input(2)) return {};
  const Tensor& bias = layer.input(2);
  const std::string name = "bias '" + bias.name + "'";
  if (bias.type != Type::kInt32 && bias.type != Type::kInt64) {
    return layer.Unsupported(name + " is " + NameOf(bias.type) + "; int32 or int64 is supported");
  }
  if (!bias.constant) return layer.Unsupported(name + " is not constant");
  if (*CountElements(bias.shape) != channels) {
    return layer.Invalid(name + " has the shape " + ToString(bias.shape) + "; " +
                         std::to_string(channels) + " elements are needed");
  }
  to.narrow = bias.type == Type::kInt32;
  to.bias.resize(static_cast<size_t>(channels));
  return to.narrow ? ReadBias<int32_t>(layer, to) : ReadBias<int64_t>(layer, to);
}

}  // namespace

int16_t Linear16::Finish(int64_t sum, size_t channel) const {
  if (!bias.empty()) sum += bias[channel];
  if (narrow) sum = static_cast<int32_t>(sum);
  const size_t i = linear.weight_scales.size() > 1 ? channel : 0;
  return static_cast<int16_t>(AddAndClamp(Scale(sum, i), 0, linear.clamp));
}

int32_t Linear16::Scale(int64_t sum, size_t i) const {
  if (!real.empty()) return RequantizeReal64(sum, real[i]);
  const QuantizedMultiplier multiplier{multipliers.mantissa[i], multipliers.exponent[i]};
  return narrow ? Requantize(static_cast<int32_t>(sum), multiplier)
                : RequantizeWide(sum, multiplier);
}

Result<Linear16> CheckLinear16(const LayerView& layer, Activation activation, int axis,
                               int channels, int64_t depth) {
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  Linear16 to;
  to.linear.type = Type::kInt16;
  to.linear.input = q->input;
  to.linear.output = q->output;
  const Result<Range> clamp = ActivationRange(layer, activation, Type::kInt16, q->output);
  if (!clamp.ok()) return clamp.status();
  to.linear.clamp = *clamp;
  INTAGLIO_RETURN_IF_ERROR(CheckWeights(layer, Type::kInt8, axis, channels, to.linear));
  INTAGLIO_RETURN_IF_ERROR(CheckZeroPoints(layer, to.linear));
  INTAGLIO_RETURN_IF_ERROR(CheckBias(layer, channels, to));
  if (depth > kMaxDepth) {
    return layer.Unsupported("sums " + std::to_string(depth) + " products; at most 2^16");
  }
  std::vector<double> real = RealMultipliers(to.linear, false);
  if (std::holds_alternative<FullyConnected>(layer.layer().op)) {
    to.real = std::move(real);
    return to;
  }
  Result<Multipliers> multipliers = MakeMultipliers(layer, real);
  if (!multipliers.ok()) return multipliers.status();
  for (const int32_t exponent : multipliers->exponent) {
    if (to.narrow || exponent <= kMaxExponent) continue;
    return layer.Unsupported("the output's scale is too small for these inputs and weights");
  }
  to.multipliers = std::move(*multipliers);
  return to;
}

Result<size_t> HalvesBytes(const LayerView& layer, int64_t elements, int64_t products) {
  constexpr int64_t kMax = int64_t{1} << 58;
  if (elements > kMax || products > kMax) return layer.Unsupported("scratch of 2^60 bytes");
  const int64_t bytes = 2 * Aligned(elements) + products * int64_t{sizeof(int32_t)};
  if (!std::in_range<size_t>(bytes)) return layer.Unsupported("scratch beyond the address space");
  return static_cast<size_t>(bytes);
}

Halves HalvesIn(void* scratch, int64_t elements) {
  auto* const bytes = static_cast<std::byte*>(scratch);
  const ptrdiff_t half = static_cast<ptrdiff_t>(Aligned(elements));
  return {reinterpret_cast<int8_t*>(bytes), reinterpret_cast<uint8_t*>(bytes + half),
          reinterpret_cast<int32_t*>(bytes + 2 * half)};
}

void Split(const int16_t* x, int64_t elements, const Halves& halves) {
  for (int64_t i = 0; i < elements; ++i) {
    halves.high[i] = static_cast<int8_t>(x[i] >> 8);
    halves.low[i] = static_cast<uint8_t>(x[i]);
  }
}

void AddHighHalves::Run(const void* self, const AccumulatorTile& tile) {
  const auto& at = *static_cast<const AddHighHalves*>(self);
  const bool along_channels = tile.along == Axis::kCols;
  for (int l = 0; l < tile.lines; ++l) {
    const int32_t* const low = tile.acc + l * tile.acc_stride;
    int16_t* const out = static_cast<int16_t*>(tile.dst) + l * tile.line_stride;
    for (int i = 0; i < tile.length; ++i) {
      const int line = tile.first_line + l;
      const int element = tile.first_element + i;
      const int row = along_channels ? line : element;
      const int channel = along_channels ? element : line;
      const int64_t sum = 256 * int64_t{at.high[row * at.stride + channel]} + low[i];
      out[i * tile.element_stride] =
          at.layer.Finish(sum, static_cast<size_t>(at.first_channel + channel));
    }
  }
}

}  // namespace intaglio::nn
