// RELU, RELU6, LOGISTIC and TANH as layers of their own: tables, whose entries are computed as
// TFLite's reference kernels compute each element.
#include <cmath>

#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/ops/table.h"

namespace intaglio::nn {
namespace {

// max(0, x), and min(6, .) with kRelu6, with a change of quantization on the way. TFLite takes the
// quotient of the scales in float32 here.
Result<PreparedLayer> PrepareClamp(const LayerView& layer, Activation activation) {
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Type type = layer.output().type;
  const Result<Range> range = ActivationRange(layer, activation, type, q->output);
  if (!range.ok()) return range.status();
  const Result<QuantizedMultiplier> multiplier =
      MakeMultiplier(layer, static_cast<double>(q->input.scale / q->output.scale));
  if (!multiplier.ok()) return multiplier.status();
  return PrepareTable(layer, MakeTable(type, [&](int32_t x) {
                        const int32_t scaled = Requantize(x - q->input.zero_point, *multiplier);
                        return AddAndClamp(scaled, q->output.zero_point, *range);
                      }));
}

// round(f(real value) / output scale) + zero point, all in float32. f is of the platform's C
// library, as TFLite's is; libraries may differ in the last place, which decides an entry only
// where it lies at a tie.
template <class Function>
Result<PreparedLayer> PrepareFunction(const LayerView& layer, const Function& f) {
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Type type = layer.output().type;
  const float inverse_scale = 1.0f / q->output.scale;
  const float low = static_cast<float>(RangeOf(type).min);
  const float high = static_cast<float>(RangeOf(type).max);
  return PrepareTable(layer, MakeTable(type, [&](int32_t x) {
                        const float real =
                            q->input.scale * static_cast<float>(x - q->input.zero_point);
                        const float rounded = std::round(f(real) * inverse_scale) +
                                              static_cast<float>(q->output.zero_point);
                        return static_cast<int32_t>(std::fmin(std::fmax(rounded, low), high));
                      }));
}

}  // namespace

ShapesResult InferUnary(const LayerView& layer) { return std::vector<Shape>{layer.input(0).shape}; }

Result<PreparedLayer> PrepareRelu(const LayerView& layer, const LayerOptions&) {
  return PrepareClamp(layer, Activation::kRelu);
}

Result<PreparedLayer> PrepareRelu6(const LayerView& layer, const LayerOptions&) {
  return PrepareClamp(layer, Activation::kRelu6);
}

Result<PreparedLayer> PrepareLogistic(const LayerView& layer, const LayerOptions&) {
  return PrepareFunction(layer, [](float x) { return 1.0f / (1.0f + std::exp(-x)); });
}

Result<PreparedLayer> PrepareTanh(const LayerView& layer, const LayerOptions&) {
  return PrepareFunction(layer, [](float x) { return std::tanh(x); });
}

}  // namespace intaglio::nn
