// SELECT and SELECT_V2: one of two elements, as a third one says.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/nn/ops/elementwise/operators.h"
#include "intaglio/nn/ops/support/broadcast.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// One row. Steps that are constants where this is inlined make it a loop for vectors.
template <class T>
inline void ChooseRow(const uint8_t* condition, ptrdiff_t step, const T* x, ptrdiff_t step_x,
                      const T* y, ptrdiff_t step_y, T* out, ptrdiff_t extent) {
  for (ptrdiff_t i = 0; i < extent; ++i) {
    const T from_x = x[i * step_x];
    const T from_y = y[i * step_y];
    out[i] = condition[i * step] != 0 ? from_x : from_y;
  }
}

// T is any type of the elements' size, because elements only move.
template <class T>
void Choose(const Loops<4>& loops, const RunArguments& arguments) {
  const auto* const condition = static_cast<const uint8_t*>(arguments.inputs[0]);
  const auto* const x = static_cast<const T*>(arguments.inputs[1]);
  const auto* const y = static_cast<const T*>(arguments.inputs[2]);
  auto* const out = static_cast<T*>(arguments.outputs[0]);
  const Loops<4>::Offsets steps = loops.inner_strides();
  const ptrdiff_t extent = loops.inner_extent();
  loops.Run([&](const Loops<4>::Offsets& at) {
    const uint8_t* const c = condition + at[0];
    const T* const row_x = x + at[1];
    const T* const row_y = y + at[2];
    T* const row = out + at[3];
    if (steps == Loops<4>::Offsets{1, 1, 1, 1}) {
      ChooseRow(c, 1, row_x, 1, row_y, 1, row, extent);
    } else if (steps == Loops<4>::Offsets{1, 0, 1, 1}) {
      ChooseRow(c, 1, row_x, 0, row_y, 1, row, extent);
    } else if (steps == Loops<4>::Offsets{1, 1, 0, 1}) {
      ChooseRow(c, 1, row_x, 1, row_y, 0, row, extent);
    } else {
      ChooseRow(c, steps[0], row_x, steps[1], row_y, steps[2], row, extent);
    }
  });
}

Result<PreparedLayer> PrepareChoice(const LayerView& layer, const Loops<4>& loops) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer, 1));
  const Type type = layer.output().type;
  PreparedLayer prepared;
  const size_t size = SizeOf(type);
  prepared.routine = RoutineOf([=](const RunArguments& arguments) {
    if (size == 1) return Choose<uint8_t>(loops, arguments);
    if (size == 2) return Choose<uint16_t>(loops, arguments);
    if (size == 4) return Choose<uint32_t>(loops, arguments);
    Choose<uint64_t>(loops, arguments);
  });
  return prepared;
}

ShapesResult InferSelect(const LayerView& layer) {
  const Shape& condition = layer.input(0).shape;
  const Shape& x = layer.input(1).shape;
  const bool per_row = condition.size() == 1 && !x.empty() && condition[0] == x[0];
  if (x == layer.input(2).shape && (condition == x || condition.empty() || per_row)) {
    return std::vector<Shape>{x};
  }
  return layer.Invalid("a condition of " + ToString(condition) + " cannot choose between " +
                       ToString(x) + " and " + ToString(layer.input(2).shape));
}

Result<PreparedLayer> PrepareSelect(const LayerView& layer, const LayerOptions&) {
  const Shape& condition = layer.input(0).shape;
  const Shape& shape = layer.output().shape;
  const std::vector<ptrdiff_t> dense = DenseStrides(shape);
  Loops<4> loops;
  for (size_t i = 0; i < shape.size(); ++i) {
    ptrdiff_t stride = condition.size() == shape.size() ? dense[i] : 0;
    if (condition.size() == 1 && i == 0) stride = 1;
    loops.Add(shape[i], {stride, dense[i], dense[i], dense[i]});
  }
  return PrepareChoice(layer, loops);
}

Result<PreparedLayer> PrepareSelectV2(const LayerView& layer, const LayerOptions&) {
  return PrepareChoice(layer, BroadcastLoops<4>(layer));
}

}  // namespace

constinit const OperatorRow Select::kRow = {.name = "SELECT",
                                            .min_inputs = 3,
                                            .max_inputs = 3,
                                            .types = SetOf(Type::kBool),
                                            .infer = InferSelect,
                                            .candidates = Moves("select", PrepareSelect, 1),
                                            .remark = "the condition; values of any type"};

constinit const OperatorRow SelectV2::kRow = {.name = "SELECT_V2",
                                              .min_inputs = 3,
                                              .max_inputs = 3,
                                              .types = SetOf(Type::kBool),
                                              .infer = InferBroadcast,
                                              .candidates = Moves("select", PrepareSelectV2, 1),
                                              .remark = "the condition; values of any type"};

}  // namespace intaglio::nn
