// Element by element from one tensor.
#ifndef INTAGLIO_NN_OPS_SUPPORT_UNARY_H_
#define INTAGLIO_NN_OPS_SUPPORT_UNARY_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/table.h"
#include "intaglio/nn/routine/routine.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {

// Calls run(x, count, out) for parts of all elements, on all threads. The types have one size.
template <class In, class Out, class Function>
std::shared_ptr<const Routine> LineRoutine(const LayerView& layer, const Function& run) {
  const auto count = static_cast<ptrdiff_t>(*CountElements(layer.output().shape));
  return RoutineOf([run, count](const RunArguments& arguments) {
    const auto* const in = static_cast<const In*>(arguments.inputs[0]);
    auto* const out = static_cast<Out*>(arguments.outputs[0]);
    ForParts(arguments.context, count, kLeastBytesOfThread / ptrdiff_t{sizeof(Out)},
             [&](ptrdiff_t begin, ptrdiff_t end) { run(in + begin, end - begin, out + begin); });
  });
}

// out = f(x) for each element, on all threads. The types have one size.
template <class In, class Out, class Function>
std::shared_ptr<const Routine> UnaryRoutine(const LayerView& layer, Function f) {
  return LineRoutine<In, Out>(layer, [f](const In* in, ptrdiff_t count, Out* out) {
    const Function function = f;  // a copy, which no store can change
    for (ptrdiff_t i = 0; i < count; ++i) out[i] = static_cast<Out>(function(in[i]));
  });
}

// The layer with such a routine.
inline PreparedLayer PrepareUnary(std::shared_ptr<const Routine> routine) {
  PreparedLayer prepared;
  prepared.routine = std::move(routine);
  prepared.in_place_inputs = 1;
  return prepared;
}

// f maps quantized numbers, as int32, to numbers of the output's type: a table for 8 bits.
template <class Function>
PreparedLayer PrepareQuantizedUnary(const LayerView& layer, const Function& f) {
  const Type type = layer.input(0).type;
  if (type != Type::kInt16) return PrepareTable(layer, MakeTable(type, f));
  return PrepareUnary(UnaryRoutine<int16_t, int16_t>(layer, f));
}

// f(x) for float32; else round(f(real value) / output scale) + zero point, all in float32. int16
// goes through an interpolated table, as in TFLite's reference kernels. f is of the platform's C
// library, as TFLite's is; libraries may differ in the last place, which decides an entry only
// where it lies at a tie.
template <class Function>
Result<PreparedLayer> PrepareRealFunction(const LayerView& layer, const Function& f) {
  if (layer.input(0).type == Type::kFloat32 && layer.output().type == Type::kFloat32) {
    return PrepareUnary(UnaryRoutine<float, float>(layer, f));
  }
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  if (layer.input(0).type == Type::kInt16) {
    return PrepareInterpolated(
        layer, MakeInterpolatedTable<float>({q->input.scale, q->input.zero_point},
                                            {q->output.scale, q->output.zero_point}, f));
  }
  const Range range = RangeOf(layer.output().type);
  const float inverse_scale = 1.0f / q->output.scale;
  const float low = static_cast<float>(range.min);
  const float high = static_cast<float>(range.max);
  return PrepareTable(layer, MakeTable(layer.output().type, [&](int32_t x) {
                        const float real =
                            q->input.scale * static_cast<float>(x - q->input.zero_point);
                        const float scaled = f(real) * inverse_scale;
                        const float rounded = (std::isnan(scaled) ? 0 : std::round(scaled)) +
                                              static_cast<float>(q->output.zero_point);
                        return static_cast<int32_t>(std::fmin(std::fmax(rounded, low), high));
                      }));
}

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_UNARY_H_
