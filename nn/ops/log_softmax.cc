// LOG_SOFTMAX of 8 bits over the last dimension, into steps of 1/16 down from 0. TFLite's reference
// kernels compute int8 in fixed point and uint8 in float32.
#include "intaglio/nn/ops/log_softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "intaglio/fixedpoint/logarithm.h"
#include "intaglio/fixedpoint/transcendental.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

constexpr int kDifferenceIntegers = 5;
constexpr int kSumIntegers = 12;
constexpr int kOutputIntegers = 4;
constexpr int kMaxRow = 1 << (kSumIntegers - 1);  // terms that a sum holds for sure

template <class T, class Row>
class LogSoftmaxRoutine final : public Routine {
 public:
  LogSoftmaxRoutine(const Shape& shape, const Row& row)
      : rows_(*CountElements(shape) / shape.back()), depth_(shape.back()), row_(row) {}

  Status Run(const RunArguments& arguments) const override {
    const auto* in = static_cast<const T*>(arguments.inputs[0]);
    auto* out = static_cast<T*>(arguments.outputs[0]);
    for (int64_t row = 0; row < rows_; ++row, in += depth_, out += depth_) {
      row_(in, *std::max_element(in, in + depth_), depth_, out);
    }
    return {};
  }

 private:
  int64_t rows_;
  int depth_;
  Row row_;
};

// Differences to the row's maximum by their magnitude.
struct FixedRow {
  std::array<int32_t, 256> scaled = {};  // with 26 fraction bits
  std::array<int32_t, 256> exps = {};    // with 19; 0 beyond `limit`
  int32_t limit = 0;
  QuantizedMultiplier back;  // from 26 fraction bits to differences

  void operator()(const int8_t* in, int32_t max, int depth, int8_t* out) const {
    int32_t sum = 0;
    for (int i = 0; i < depth; ++i) sum += exps[static_cast<size_t>(max - in[i])];
    const int32_t log =
        LogOfOneOrMore<kDifferenceIntegers>(FixedPoint<Scalar, kSumIntegers>::FromRaw(sum)).raw();
    // Below this, minus the logarithm, is no number of 5 integer bits.
    const int32_t lowest = Requantize(log + std::numeric_limits<int32_t>::min(), back);
    const int32_t least = std::max(-limit - 1, lowest);
    for (int i = 0; i < depth; ++i) {
      if (in[i] - max <= least) {
        out[i] = -128;
        continue;
      }
      const int32_t value =
          RoundingDivideByPowerOfTwo<Scalar>(scaled[static_cast<size_t>(max - in[i])] - log,
                                             31 - kDifferenceIntegers - kOutputIntegers);
      out[i] = static_cast<int8_t>(AddAndClamp(value, 127, RangeOf(Type::kInt8)));
    }
  }
};

struct FloatRow {
  std::array<float, 256> exps = {};
  float in_scale = 1;
  float out_scale = 1;

  void operator()(const uint8_t* in, int32_t max, int depth, uint8_t* out) const {
    float sum = 0;
    for (int i = 0; i < depth; ++i) sum += exps[static_cast<size_t>(max - in[i])];
    const float steps = in_scale / out_scale;
    const float offset = (in_scale * static_cast<float>(max) + std::log(sum)) / out_scale;
    for (int i = 0; i < depth; ++i) {
      const float value = std::rint(steps * static_cast<float>(in[i]) - offset);
      const auto limited = static_cast<int32_t>(std::fmax(value, -256.0f));
      out[i] = static_cast<uint8_t>(AddAndClamp(limited, 255, RangeOf(Type::kUInt8)));
    }
  }
};

Result<FixedRow> MakeFixedRow(const LayerView& layer, float scale) {
  const double real = static_cast<double>(scale) * (1 << (31 - kDifferenceIntegers));
  if (!(real > 1))
    return layer.Invalid("the input scale " + std::to_string(scale) + " is too small");
  const Result<QuantizedMultiplier> multiplier = MakeMultiplier(layer, real);
  if (!multiplier.ok()) return multiplier.status();
  const Result<QuantizedMultiplier> back = MakeMultiplier(
      layer, static_cast<double>(int64_t{1} << (31 - multiplier->exponent)) / multiplier->mantissa);
  if (!back.ok()) return back.status();
  FixedRow row;
  row.back = *back;
  row.limit = static_cast<int32_t>(
      std::floor(31.0 * (1 << (31 - kDifferenceIntegers)) / std::ldexp(1, multiplier->exponent)));
  for (int32_t d = 0; d < 256 && d <= row.limit; ++d) {
    using Difference = FixedPoint<Scalar, kDifferenceIntegers>;
    const auto at = static_cast<size_t>(d);
    row.scaled[at] = Requantize(-d, *multiplier);
    row.exps[at] =
        Rescale<kSumIntegers>(ExpOnNegativeValues(Difference::FromRaw(row.scaled[at]))).raw();
  }
  return row;
}

FloatRow MakeFloatRow(const Affine& in, const Affine& out) {
  FloatRow row;
  row.in_scale = in.scale;
  row.out_scale = out.scale;
  for (int d = 0; d < 256; ++d) {
    row.exps[static_cast<size_t>(d)] = std::exp(-in.scale * static_cast<float>(d));
  }
  return row;
}

}  // namespace

Result<PreparedLayer> PrepareLogSoftmax8(const LayerView& layer) {
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Type type = layer.output().type;
  if (q->output.scale != 1.0f / 16 || q->output.zero_point != RangeOf(type).max) {
    return layer.Unsupported("an output with another quantization than steps of 1/16 below 0");
  }
  const Shape& shape = layer.input(0).shape;
  PreparedLayer prepared;
  prepared.name = RoutineName(type, "log_softmax");
  prepared.in_place_inputs = 1;
  if (type == Type::kUInt8) {
    prepared.constant_bytes = sizeof(FloatRow);
    prepared.routine = std::make_shared<LogSoftmaxRoutine<uint8_t, FloatRow>>(
        shape, MakeFloatRow(q->input, q->output));
    return prepared;
  }
  if (shape.back() > kMaxRow) {
    return layer.Unsupported("rows of " + std::to_string(shape.back()) + " elements; at most " +
                             std::to_string(kMaxRow));
  }
  const Result<FixedRow> row = MakeFixedRow(layer, q->input.scale);
  if (!row.ok()) return row.status();
  prepared.constant_bytes = sizeof(FixedRow);
  prepared.routine = std::make_shared<LogSoftmaxRoutine<int8_t, FixedRow>>(shape, *row);
  return prepared;
}

}  // namespace intaglio::nn
