// DYNAMIC_UPDATE_SLICE: one tensor written into another, in place where nobody else reads that.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "intaglio/nn/ops/checks.h"
#include "intaglio/nn/ops/loops.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/ops/routine.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

// Where an update may start in one dimension, and elements from one place to the next.
struct Start {
  int64_t last = 0;
  ptrdiff_t stride = 0;
};

struct Update {
  std::vector<Start> starts;  // one per index
  Loops<2> loops;             // the update, the output
  size_t element = 1;         // bytes
  size_t bytes = 0;           // of the output
  bool clamp = true;
};

template <class Index>
Status Run(const Update& u, const std::byte* x, const std::byte* update, const Index* starts,
           std::byte* out) {
  ptrdiff_t offset = 0;
  for (size_t d = 0; d < u.starts.size(); ++d) {
    const auto start = static_cast<int64_t>(starts[d]);
    const int64_t place = std::clamp<int64_t>(start, 0, u.starts[d].last);
    if (place != start && !u.clamp) {
      return InvalidArgument("the index " + std::to_string(start) + " is not in [0, " +
                             std::to_string(u.starts[d].last + 1) + ")");
    }
    offset += static_cast<ptrdiff_t>(place) * u.starts[d].stride;
  }
  if (out != x) std::memcpy(out, x, u.bytes);
  const size_t line = static_cast<size_t>(u.loops.inner_extent()) * u.element;
  const auto size = static_cast<ptrdiff_t>(u.element);
  u.loops.Run([&](const Loops<2>::Offsets& at) {
    std::memcpy(out + (offset + at[1]) * size, update + at[0] * size, line);
  });
  return {};
}

}  // namespace

ShapesResult InferDynamicUpdateSlice(const LayerView& layer) {
  const Shape& x = layer.input(0).shape;
  const Shape& update = layer.input(1).shape;
  const Shape& starts = layer.input(2).shape;
  bool fits = update.size() == x.size();
  for (size_t i = 0; fits && i < x.size(); ++i) fits = update[i] <= x[i];
  if (!fits) return layer.Invalid(ToString(update) + " does not fit into " + ToString(x));
  const Result<int64_t> count = CountElements(starts);
  if (!count.ok() || starts.size() > 1 || std::cmp_greater(*count, x.size())) {
    return layer.Invalid("indices of the shape " + ToString(starts) + " for " + ToString(x));
  }
  return std::vector<Shape>{x};
}

Result<PreparedLayer> PrepareDynamicUpdateSlice(const LayerView& layer, const LayerOptions&) {
  const Tensor& x = layer.input(0);
  const Tensor& update = layer.input(1);
  const Tensor& starts = layer.input(2);
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, update, x.type));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), x.type));
  Update u;
  u.element = SizeOf(x.type);
  u.bytes = *CountBytes(x.shape, x.type);
  u.clamp = layer.op<DynamicUpdateSlice>().clamp;
  const std::vector<ptrdiff_t> x_strides = DenseStrides(x.shape);
  const std::vector<ptrdiff_t> update_strides = DenseStrides(update.shape);
  const auto indices = static_cast<size_t>(*CountElements(starts.shape));
  for (size_t i = 0; i < x.shape.size(); ++i) {
    u.loops.Add(update.shape[i], {update_strides[i], x_strides[i]});
    if (i < indices) u.starts.push_back({int64_t{x.shape[i]} - update.shape[i], x_strides[i]});
  }
  u.loops.MakeInnerDense();
  PreparedLayer prepared;
  prepared.name = RoutineName(x.type, "copy");
  prepared.in_place_inputs = 1;
  prepared.routine = VisitType<int32_t, int64_t>(starts.type, [&](auto zero) {
    using Index = decltype(zero);
    return RoutineOf([u](const RunArguments& arguments) -> Status {
      return Run(u, static_cast<const std::byte*>(arguments.inputs[0]),
                 static_cast<const std::byte*>(arguments.inputs[1]),
                 static_cast<const Index*>(arguments.inputs[2]),
                 static_cast<std::byte*>(arguments.outputs[0]));
    });
  });
  if (prepared.routine != nullptr) return prepared;
  return layer.Unsupported(std::string("the indices are ") + NameOf(starts.type) +
                           ", not int32 or int64");
}

}  // namespace intaglio::nn
