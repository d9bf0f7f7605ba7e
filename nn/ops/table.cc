#include "intaglio/nn/ops/table.h"

#include "intaglio/nn/ops/routine.h"

namespace intaglio::nn {
void Apply(const ByteTable& table, const void* in, void* out, size_t count) {
  const auto* const source = static_cast<const uint8_t*>(in);
  auto* const target = static_cast<uint8_t*>(out);
  for (size_t i = 0; i < count; ++i) target[i] = table[source[i]];
}

PreparedLayer PrepareTable(const LayerView& layer, const ByteTable& table) {
  PreparedLayer prepared;
  const size_t count = *CountBytes(layer.output().shape, layer.output().type);
  prepared.routine = RoutineOf([table, count](const RunArguments& arguments) {
    Apply(table, arguments.inputs[0], arguments.outputs[0], count);
  });
  prepared.name = RoutineName(layer.input(0).type, "table");
  prepared.constant_bytes = sizeof(ByteTable);
  prepared.in_place_inputs = 1;
  return prepared;
}

PreparedLayer PrepareInterpolated(const LayerView& layer, const InterpolatedTable& table) {
  PreparedLayer prepared;
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  prepared.routine = RoutineOf([table, count](const RunArguments& arguments) {
    const auto* const in = static_cast<const int16_t*>(arguments.inputs[0]);
    auto* const out = static_cast<int16_t*>(arguments.outputs[0]);
    for (size_t i = 0; i < count; ++i) out[i] = Interpolate(table, in[i]);
  });
  prepared.name = RoutineName(Type::kInt16, "table");
  prepared.constant_bytes = sizeof(InterpolatedTable);
  prepared.in_place_inputs = 1;
  return prepared;
}

}  // namespace intaglio::nn
