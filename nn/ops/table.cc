#include "intaglio/nn/ops/table.h"

#include <cstring>

#include "intaglio/nn/ops/parallel.h"
#include "intaglio/nn/ops/routine.h"

namespace intaglio::nn {
void Apply(const ByteTable& table, const void* in, void* out, size_t count) {
  const auto* source = static_cast<const uint8_t*>(in);
  auto* target = static_cast<uint8_t*>(out);
  // Eight bytes by one load and one store.
  for (; count >= 8; count -= 8, source += 8, target += 8) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, source, sizeof bytes);
    uint64_t found = 0;
    for (int i = 0; i < 64; i += 8) found |= uint64_t{table[bytes >> i & 0xff]} << i;
    std::memcpy(target, &found, sizeof found);
  }
  for (size_t i = 0; i < count; ++i) target[i] = table[source[i]];
}

PreparedLayer PrepareTable(const LayerView& layer, const ByteTable& table) {
  PreparedLayer prepared;
  const size_t count = *CountBytes(layer.output().shape, layer.output().type);
  prepared.routine = RoutineOf([table, count](const RunArguments& arguments) {
    ForParts(arguments.context, static_cast<ptrdiff_t>(count), kLeastBytesOfThread,
             [&](ptrdiff_t begin, ptrdiff_t end) {
               Apply(table, static_cast<const uint8_t*>(arguments.inputs[0]) + begin,
                     static_cast<uint8_t*>(arguments.outputs[0]) + begin,
                     static_cast<size_t>(end - begin));
             });
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
