// SOFTMAX of int16 over the last dimension, by two interpolated tables, as TFLite's reference
// kernel does it: exp of the differences to the row's maximum, and the reciprocal of their sum.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/reduce/softmax.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/table.h"

namespace intaglio::nn {
namespace {

class SoftmaxRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* in = static_cast<const int16_t*>(arguments.inputs[0]);
    auto* out = static_cast<int16_t*>(arguments.outputs[0]);
    for (int64_t row = 0; row < rows; ++row, in += depth, out += depth) RunRow(in, out);
    return {};
  }

  int64_t rows = 0;
  int depth = 0;
  QuantizedMultiplier multiplier;     // of differences, to [-65535, 0] for [-10, 0]
  InterpolatedTable exp = {};         // of [-10, 0], with 15 fraction bits
  InterpolatedTable reciprocal = {};  // 1 / (1 + x) of [0, 1], the same

 private:
  // The exps lie in the output until their sum is known.
  void RunRow(const int16_t* in, int16_t* out) const {
    const int32_t max = *std::max_element(in, in + depth);
    int32_t sum = 0;
    for (int i = 0; i < depth; ++i) {
      const int32_t difference =
          AddAndClamp(Requantize(in[i] - max, multiplier), 32767, RangeOf(Type::kInt16));
      out[i] = Interpolate(exp, static_cast<int16_t>(difference));
      sum += out[i];
    }
    // sum = (1 + x) 2^bits, with 16 fraction bits of x.
    const int zeros = std::countl_zero(static_cast<uint32_t>(sum));
    const auto one_plus_x = static_cast<int32_t>(((int64_t{sum} << (zeros - 1)) + (1 << 13)) >> 14);
    const int32_t x = AddAndClamp(one_plus_x, -(1 << 15) - (1 << 16), RangeOf(Type::kInt16));
    const int64_t factor = Interpolate(reciprocal, static_cast<int16_t>(x));
    const int shift = 31 - zeros;
    for (int i = 0; i < depth; ++i) {
      const int64_t scaled = (out[i] * factor + (int64_t{1} << (shift - 1))) >> shift;
      out[i] = static_cast<int16_t>(std::clamp<int64_t>(scaled, 0, 32767));
    }
  }
};

Status CheckOutput(const LayerView& layer, const Affine& output) {
  if (output.zero_point == 0 && std::fabs(output.scale * 32768 - 1) <= 0.001f) return {};
  return layer.Unsupported("the output has the scale " + std::to_string(output.scale) +
                           " and the zero point " + std::to_string(output.zero_point) +
                           "; 2^-15 and 0 are supported");
}

}  // namespace

Result<PreparedLayer> PrepareSoftmax16(const LayerView& layer, const LayerOptions&) {
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  INTAGLIO_RETURN_IF_ERROR(CheckOutput(layer, q->output));
  const Shape& shape = layer.input(0).shape;
  if (shape.empty()) return layer.Invalid("the input has no dimension");
  if (shape.back() > 1 << 15) return layer.Unsupported("rows of more than 2^15 elements");
  const float beta = layer.op<Softmax>().beta;
  // The first product is float32's.
  const Result<QuantizedMultiplier> multiplier =
      MakeMultiplier(layer, static_cast<double>(q->input.scale * beta) / (10.0 / 65535.0));
  if (!multiplier.ok()) return multiplier.status();
  auto routine = std::make_shared<SoftmaxRoutine>();
  routine->depth = shape.back();
  routine->rows = *CountElements(shape) / shape.back();
  routine->multiplier = *multiplier;
  routine->exp = MakeInterpolatedTable<double>({10.0 / 65535, 32767}, {2.0 / 65535, 0},
                                               [](double x) { return std::exp(x); });
  routine->reciprocal = MakeInterpolatedTable<double>({1.0 / 65535, -32768}, {2.0 / 65535, 0},
                                                      [](double x) { return 1.0 / (1.0 + x); });
  PreparedLayer prepared;
  prepared.constant_bytes = 2 * sizeof(InterpolatedTable);
  prepared.in_place_inputs = 1;
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
