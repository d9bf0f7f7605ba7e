#include "intaglio/nn/ops/linear/linear16.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "intaglio/fixedpoint/requantize_real64.h"
#include "intaglio/nn/graph/input_advice.h"
#include "intaglio/nn/ops/linear/operators.h"

namespace intaglio::nn {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kMaxDepth = 1 << 16;          // products of low halves must fit int32
constexpr int64_t kMaxBias = int64_t{1} << 42;  // with the products it stays below 2^43

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

Status CheckZeroPoints(const LayerView& layer, const LinearLayer& linear) {
  bool zero = linear.input.zero_point == 0 && linear.output.zero_point == 0;
  for (const int32_t zero_point : linear.weight_zero_points) zero = zero && zero_point == 0;
  if (zero) return {};
  return layer.Unsupported("int16 with other zero points than 0");
}

template <class T>
Status ReadBias(const void* elements, std::vector<int64_t>& to) {
  for (size_t i = 0; i < to.size(); ++i) {
    T value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(elements) + i * sizeof(T), sizeof(T));
    if (value < -kMaxBias || value > kMaxBias) {
      return Unsupported("the bias " + std::to_string(value) + " of channel " + std::to_string(i) +
                         " is beyond 2^42");
    }
    to[i] = value;
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
  if (!bias.constant)
    return layer.Unsupported(name + " is not constant" + AdviceForInput(layer, 2));
  if (*CountElements(bias.shape) != channels) {
    return layer.Invalid(name + " has the shape " + ToString(bias.shape) + "; " +
                         std::to_string(channels) + " elements are needed");
  }
  to.bias_type = bias.type;
  to.bias.resize(static_cast<size_t>(channels));
  const Status status = to.SetBias(bias.data);
  return status.ok() ? status : layer.Wrap(status);
}

}  // namespace

namespace {

// From the sum of a channel's products to its output, by scale(sum, i), i the index of the
// channel's multiplier.
template <class Scale>
struct Finisher {
  Scale scale;
  const int64_t* bias;
  bool per_channel;
  Range clamp;

  int16_t operator()(int64_t sum, size_t channel) const {
    if (bias != nullptr) sum += bias[channel];
    const int64_t scaled = scale(sum, per_channel ? channel : 0);
    return static_cast<int16_t>(std::clamp<int64_t>(scaled, clamp.min, clamp.max));
  }
};

// body(finisher), chosen once for many sums.
template <class Body>
void WithFinisher(const Linear16& layer, const Body& body) {
  const auto run = [&](const auto& scale) {
    body(Finisher<std::decay_t<decltype(scale)>>{
        scale, layer.bias.empty() ? nullptr : layer.bias.data(),
        layer.linear.weight_scales.size() > 1, layer.linear.clamp});
  };
  if (!layer.wide.empty()) {
    return run(
        [wide = layer.wide.data()](int64_t sum, size_t i) { return ScaleWide(sum, wide[i]); });
  }
  // A sum in int32 wraps around.
  const bool narrow = layer.narrow();
  if (!layer.real.empty()) {
    return run([narrow, real = layer.real.data()](int64_t sum, size_t i) {
      return RequantizeReal64(narrow ? static_cast<int32_t>(sum) : sum, real[i]);
    });
  }
  const int32_t* const mantissa = layer.multipliers.mantissa.data();
  const int32_t* const exponent = layer.multipliers.exponent.data();
  run([=](int64_t sum, size_t i) {
    return Requantize(static_cast<int32_t>(sum), {mantissa[i], exponent[i]});
  });
}

}  // namespace

Status Linear16::SetBias(const void* elements) {
  if (elements == nullptr) return {};
  return bias_type == Type::kInt32 ? ReadBias<int32_t>(elements, bias)
                                   : ReadBias<int64_t>(elements, bias);
}

void Linear16::Finish(const int64_t* sums, ptrdiff_t count, int16_t* out) const {
  const size_t channels = static_cast<size_t>(this->channels);
  WithFinisher(*this, [=](const auto& finish) {
    size_t channel = 0;
    for (ptrdiff_t i = 0; i < count; ++i) {
      out[i] = finish(sums[i], channel);
      if (++channel == channels) channel = 0;
    }
  });
}

Result<Linear16> CheckLinear16(const LayerView& layer, Activation activation, int axis,
                               int channels, int64_t depth) {
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  Linear16 to;
  to.linear.numerics = layer.numerics();
  to.linear.type = Type::kInt16;
  to.channels = channels;
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
  if (to.linear.numerics.scaling == Scaling::kReal64) {
    to.real = RealMultipliers(to.linear);
    return to;
  }
  INTAGLIO_RETURN_IF_ERROR(CheckScaling(layer, {Scaling::kDoubleRounding}));
  Result<Multipliers> multipliers = MakeMultipliers(layer, to.linear);
  if (!multipliers.ok()) return multipliers.status();
  if (to.narrow()) {
    to.multipliers = std::move(*multipliers);
    return to;
  }
  for (size_t i = 0; i < multipliers->mantissa.size(); ++i) {
    to.wide.push_back(MakeWideMultiplier({multipliers->mantissa[i], multipliers->exponent[i]}));
  }
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
  const int first_row = along_channels ? tile.first_line : tile.first_element;
  const int first_channel = along_channels ? tile.first_element : tile.first_line;
  const ptrdiff_t high_line = along_channels ? at.stride : 1;
  const ptrdiff_t high_element = along_channels ? 1 : at.stride;
  const int32_t* high = at.high + first_row * at.stride + first_channel;
  WithFinisher(at.layer, [&](const auto& finish) {
    for (int l = 0; l < tile.lines; ++l, high += high_line) {
      const int32_t* const low = tile.acc + l * tile.acc_stride;
      int16_t* const out = static_cast<int16_t*>(tile.dst) + l * tile.line_stride;
      for (int i = 0; i < tile.length; ++i) {
        const int64_t sum = 256 * int64_t{high[i * high_element]} + low[i];
        const int channel = at.first_channel + first_channel + (along_channels ? i : l);
        out[i * tile.element_stride] = finish(sum, static_cast<size_t>(channel));
      }
    }
  });
}

}  // namespace intaglio::nn
