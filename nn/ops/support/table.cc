#include "intaglio/nn/ops/support/table.h"

#include <atomic>

#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// Those of the best kernel, whichever a layer is to use: any kernel finds the same bytes.
const LookupRoutines& BestLookups() {
  static constinit std::atomic<const LookupRoutines*> known = nullptr;
  const LookupRoutines* routines = known.load(std::memory_order_relaxed);
  if (routines != nullptr) return *routines;
  const Result<const LookupRoutines*> best = LookupsOf("");
  routines = best.ok() ? *best : *LookupsOf("scalar");
  known.store(routines, std::memory_order_relaxed);
  return *routines;
}

}  // namespace

void Apply(const ByteTable& table, const void* in, void* out, size_t count) {
  BestLookups().translate(table.data(), static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out),
                          static_cast<ptrdiff_t>(count));
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
  prepared.constant_bytes = sizeof(InterpolatedTable);
  prepared.in_place_inputs = 1;
  return prepared;
}

}  // namespace intaglio::nn
