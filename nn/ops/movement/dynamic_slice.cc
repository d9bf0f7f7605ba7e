// Parts of tensors whose places a run computes: DYNAMIC_UPDATE_SLICE writes one, in place where
// nobody else reads the tensor; SLICE and STRIDED_SLICE read one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

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

// `routine(Index())` for the type of the indices.
template <class Function>
Result<PreparedLayer> ForIndexType(const LayerView& layer, Type indices, PreparedLayer prepared,
                                   const Function& routine) {
  prepared.routine = VisitType<int32_t, int64_t>(indices, routine);
  if (prepared.routine != nullptr) return prepared;
  return layer.Unsupported(std::string("the indices are ") + NameOf(indices) +
                           ", not int32 or int64");
}

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

struct Begin {
  DynamicSlice::Dimension dimension;
  int64_t extent = 0;  // of x
  int64_t size = 0;    // of the part
  ptrdiff_t stride = 0;
};

struct ReadPart {
  std::vector<Begin> begins;
  Loops<2> loops;      // x, the output
  size_t element = 1;  // bytes
};

template <class Index>
Status Run(const ReadPart& part, const std::byte* x, const Index* begins, std::byte* out) {
  ptrdiff_t offset = 0;
  for (size_t d = 0; d < part.begins.size(); ++d) {
    const Begin& b = part.begins[d];
    if (b.dimension.any_begin) continue;
    auto begin = static_cast<int64_t>(begins[d]);
    if (b.dimension.vanishes && begin < 0) begin += b.extent;
    if (begin < 0 || begin > b.extent - b.size) {
      return InvalidArgument("there are no " + std::to_string(b.size) + " elements from " +
                             std::to_string(begins[d]) + " on in dimension " + std::to_string(d));
    }
    offset += static_cast<ptrdiff_t>(begin) * b.stride;
  }
  const size_t line = static_cast<size_t>(part.loops.inner_extent()) * part.element;
  const auto size = static_cast<ptrdiff_t>(part.element);
  part.loops.Run([&](const Loops<2>::Offsets& at) {
    std::memcpy(out + at[1] * size, x + (offset + at[0]) * size, line);
  });
  return {};
}

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
  prepared.in_place_inputs = 1;
  return ForIndexType(layer, starts.type, std::move(prepared), [&](auto zero) {
    using Index = decltype(zero);
    return RoutineOf([u](const RunArguments& arguments) -> Status {
      return Run(u, static_cast<const std::byte*>(arguments.inputs[0]),
                 static_cast<const std::byte*>(arguments.inputs[1]),
                 static_cast<const Index*>(arguments.inputs[2]),
                 static_cast<std::byte*>(arguments.outputs[0]));
    });
  });
}

ShapesResult InferDynamicSlice(const LayerView& layer) {
  const std::vector<DynamicSlice::Dimension>& dimensions = layer.op<DynamicSlice>().dimensions;
  const Shape& begins = layer.input(1).shape;
  const Shape& shape = layer.input(0).shape;
  if (dimensions.size() > shape.size() || begins.size() != 1 ||
      std::cmp_not_equal(begins[0], dimensions.size())) {
    return layer.Invalid("begins of the shape " + ToString(begins) + " for " + ToString(shape));
  }
  Shape out;
  for (size_t i = 0; i < shape.size(); ++i) {
    const DynamicSlice::Dimension whole;
    const DynamicSlice::Dimension& d = i < dimensions.size() ? dimensions[i] : whole;
    const int size = d.size == -1 ? shape[i] : d.size;
    if (size < 0 || size > shape[i]) {
      return layer.Invalid("there are no " + std::to_string(size) + " elements in dimension " +
                           std::to_string(i) + " of " + ToString(shape));
    }
    if (!d.vanishes) out.push_back(size);
  }
  return std::vector<Shape>{out};
}

Result<PreparedLayer> PrepareDynamicSlice(const LayerView& layer, const LayerOptions&) {
  const Tensor& x = layer.input(0);
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), x.type));
  ReadPart part;
  part.element = SizeOf(x.type);
  const std::vector<DynamicSlice::Dimension>& dimensions = layer.op<DynamicSlice>().dimensions;
  Shape sizes = x.shape;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i].size != -1) sizes[i] = dimensions[i].size;
  }
  const std::vector<ptrdiff_t> from = DenseStrides(x.shape);
  const std::vector<ptrdiff_t> to = DenseStrides(sizes);
  for (size_t i = 0; i < sizes.size(); ++i) {
    part.loops.Add(sizes[i], {from[i], to[i]});
    if (i < dimensions.size()) {
      part.begins.push_back({dimensions[i], x.shape[i], sizes[i], from[i]});
    }
  }
  part.loops.MakeInnerDense();
  PreparedLayer prepared;
  return ForIndexType(layer, layer.input(1).type, std::move(prepared), [&](auto zero) {
    using Index = decltype(zero);
    return RoutineOf([part](const RunArguments& arguments) -> Status {
      return Run(part, static_cast<const std::byte*>(arguments.inputs[0]),
                 static_cast<const Index*>(arguments.inputs[1]),
                 static_cast<std::byte*>(arguments.outputs[0]));
    });
  });
}

}  // namespace

constinit const OperatorRow DynamicUpdateSlice::kRow = {
    .name = "DYNAMIC_UPDATE_SLICE",
    .min_inputs = 3,
    .max_inputs = 3,
    .types = kAnyType,
    .infer = InferDynamicUpdateSlice,
    .candidates = Moves("copy", PrepareDynamicUpdateSlice),
    .remark = "indices int32, int64"};

constinit const OperatorRow DynamicSlice::kRow = {.name = "SLICE",
                                                  .min_inputs = 2,
                                                  .max_inputs = 2,
                                                  .types = kAnyType,
                                                  .infer = InferDynamicSlice,
                                                  .candidates = Moves("copy", PrepareDynamicSlice)};

}  // namespace intaglio::nn
