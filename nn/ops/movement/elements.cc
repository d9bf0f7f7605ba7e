// GATHER_ELEMENTS, SCATTER_ELEMENTS, SCATTER_ND_UPDATE: single elements, or slices, at places that
// another tensor names.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/indices.h"
#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// The elements of the indices, and where each lies in x but for its place along the axis.
struct Walk {
  Loops<2> loops;  // indices, x
  int64_t extent = 0;
  ptrdiff_t stride = 0;  // of the axis in x

  // Calls body(element of the indices, element of x); the first index that does not exist is the
  // error.
  template <class Index, class Body>
  Status Run(const Index* indices, const Body& body) const {
    std::optional<int64_t> wrong;
    const Loops<2>::Offsets steps = loops.inner_strides();
    loops.Run([&](const Loops<2>::Offsets& at) {
      for (ptrdiff_t i = 0; i < loops.inner_extent(); ++i) {
        const ptrdiff_t from = at[0] + i * steps[0];
        const int64_t place = PlaceOf(indices[from], extent, true);
        if (Exists(place, extent)) {
          body(from, at[1] + i * steps[1] + static_cast<ptrdiff_t>(place) * stride);
        } else if (!wrong.has_value()) {
          wrong = indices[from];
        }
      }
    });
    return wrong.has_value() ? NoSuchIndex(*wrong, extent, true) : Status();
  }
};

Result<Walk> WalkOf(const LayerView& layer, int along) {
  const Shape& x = layer.input(0).shape;
  const Shape& indices = layer.input(1).shape;
  const Result<size_t> axis = AxisOf(layer, along, x.size());
  if (!axis.ok()) return axis.status();
  bool valid = indices.size() == x.size();
  for (size_t i = 0; valid && i < x.size(); ++i) valid = i == *axis || indices[i] <= x[i];
  if (!valid) {
    return layer.Invalid("the indices " + ToString(indices) + " do not name elements of " +
                         ToString(x) + " along axis " + std::to_string(*axis));
  }
  const std::vector<ptrdiff_t> from = DenseStrides(indices);
  const std::vector<ptrdiff_t> to = DenseStrides(x);
  Walk walk{{}, x[*axis], to[*axis]};
  for (size_t i = 0; i < x.size(); ++i) {
    walk.loops.Add(indices[i], {from[i], i == *axis ? 0 : to[i]});
  }
  return walk;
}

ShapesResult InferGatherElements(const LayerView& layer) {
  const Result<Walk> walk = WalkOf(layer, layer.op<GatherElements>().axis);
  if (!walk.ok()) return walk.status();
  return std::vector<Shape>{layer.input(1).shape};
}

// f(T(), Index()) for integers T as large as the elements.
template <class Function>
std::shared_ptr<const Routine> VisitSizes(size_t size, Type index, const Function& f) {
  return VisitType<int16_t, int32_t, int64_t>(index, [&](auto i) {
    if (size == 1) return f(uint8_t{}, i);
    if (size == 2) return f(int16_t{}, i);
    if (size == 4) return f(int32_t{}, i);
    return f(int64_t{}, i);
  });
}

Result<PreparedLayer> PrepareGatherElements(const LayerView& layer, const LayerOptions&) {
  const Type type = layer.input(0).type;
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), type));
  INTAGLIO_RETURN_IF_ERROR(CheckIndexType(layer, layer.input(1).type));
  const Result<Walk> walk = WalkOf(layer, layer.op<GatherElements>().axis);
  if (!walk.ok()) return walk.status();
  PreparedLayer prepared;
  prepared.routine = VisitSizes(SizeOf(type), layer.input(1).type, [&](auto element, auto index) {
    using T = decltype(element);
    using Index = decltype(index);
    return RoutineOf([walk = *walk](const RunArguments& arguments) -> Status {
      const auto* const x = static_cast<const T*>(arguments.inputs[0]);
      auto* const out = static_cast<T*>(arguments.outputs[0]);
      return walk.Run(static_cast<const Index*>(arguments.inputs[1]),
                      [&](ptrdiff_t to, ptrdiff_t from) { out[to] = x[from]; });
    });
  });
  return prepared;
}

// What `old` becomes by an update.
template <class T>
T Combine(Scattering scattering, T old, T update) {
  switch (scattering) {
    case Scattering::kReplace:
      return update;
    case Scattering::kAdd:
      return WrappingAdd(old, update);
    case Scattering::kMultiply:
      return WrappingMul(old, update);
    case Scattering::kLeast:
      return update < old || update != update ? update : old;
    case Scattering::kGreatest:
      return update > old || update != update ? update : old;
  }
  return update;
}

// The layer whose output starts as x; then scatter(T(), Index()) makes a function of the indices,
// the updates and the output.
template <class Scatter>
Result<PreparedLayer> PrepareScattering(const LayerView& layer, Scattering scattering,
                                        const Scatter& scatter) {
  const Type type = layer.output().type;
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(0), type));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(2), type));
  INTAGLIO_RETURN_IF_ERROR(CheckIndexType(layer, layer.input(1).type));
  const bool combines = scattering != Scattering::kReplace;
  if (combines) INTAGLIO_RETURN_IF_ERROR(CheckPlain(layer));
  if (combines && type == Type::kBool) return layer.Unsupported("combines bools");
  const size_t bytes = *CountBytes(layer.output().shape, type);
  PreparedLayer prepared;
  prepared.in_place_inputs = 1;
  const Type number = type == Type::kBool ? Type::kUInt8 : type;
  prepared.routine = VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float>(
      number, [&](auto element) {
        return VisitType<int16_t, int32_t, int64_t>(layer.input(1).type, [&](auto index) {
          using T = decltype(element);
          using Index = decltype(index);
          return RoutineOf([bytes, scatter](const RunArguments& arguments) -> Status {
            const void* const x = arguments.inputs[0];
            void* const out = arguments.outputs[0];
            if (bytes > 0 && out != x) std::memcpy(out, x, bytes);
            return scatter(static_cast<const Index*>(arguments.inputs[1]),
                           static_cast<const T*>(arguments.inputs[2]), static_cast<T*>(out));
          });
        });
      });
  return prepared;
}

ShapesResult InferScatterElements(const LayerView& layer) {
  const Result<Walk> walk = WalkOf(layer, layer.op<ScatterElements>().axis);
  if (!walk.ok()) return walk.status();
  if (layer.input(1).shape == layer.input(2).shape) {
    return std::vector<Shape>{layer.input(0).shape};
  }
  return layer.Invalid("the indices have the shape " + ToString(layer.input(1).shape) +
                       " and the updates " + ToString(layer.input(2).shape));
}

Result<PreparedLayer> PrepareScatterElements(const LayerView& layer, const LayerOptions&) {
  const ScatterElements& op = layer.op<ScatterElements>();
  const Result<Walk> walk = WalkOf(layer, op.axis);
  if (!walk.ok()) return walk.status();
  const auto scatter = [walk = *walk, how = op.scattering](const auto* indices, const auto* updates,
                                                           auto* out) {
    return walk.Run(indices, [&](ptrdiff_t from, ptrdiff_t to) {
      out[to] = Combine(how, out[to], updates[from]);
    });
  };
  return PrepareScattering(layer, op.scattering, scatter);
}

// [count, extents.size()] indices.
struct Slices {
  int64_t count = 0;
  std::vector<int64_t> extents;
  std::vector<ptrdiff_t> strides;  // elements
  int64_t size = 0;                // of a slice
};

template <class Index, class T>
Status ScatterSlices(const Slices& s, Scattering how, const Index* indices, const T* updates,
                     T* out) {
  for (int64_t i = 0; i < s.count; ++i, updates += s.size) {
    ptrdiff_t offset = 0;
    for (size_t d = 0; d < s.extents.size(); ++d) {
      const int64_t index = *indices++;
      const int64_t place = PlaceOf(index, s.extents[d], true);
      if (!Exists(place, s.extents[d])) return NoSuchIndex(index, s.extents[d], true);
      offset += static_cast<ptrdiff_t>(place) * s.strides[d];
    }
    T* const slice = out + offset;
    for (int64_t k = 0; k < s.size; ++k) slice[k] = Combine(how, slice[k], updates[k]);
  }
  return {};
}

ShapesResult InferScatterNdUpdate(const LayerView& layer) {
  const Shape& x = layer.input(0).shape;
  const Shape& indices = layer.input(1).shape;
  const Shape& updates = layer.input(2).shape;
  if (!indices.empty() && std::cmp_less_equal(indices.back(), x.size())) {
    Shape expected(indices.begin(), indices.end() - 1);
    expected.insert(expected.end(), x.begin() + indices.back(), x.end());
    if (updates == expected) return std::vector<Shape>{x};
  }
  return layer.Invalid("cannot scatter " + ToString(updates) + " by indices " + ToString(indices) +
                       " into " + ToString(x));
}

Result<PreparedLayer> PrepareScatterNdUpdate(const LayerView& layer, const LayerOptions&) {
  const Shape& x = layer.input(0).shape;
  const Shape& indices = layer.input(1).shape;
  const ptrdiff_t depth = indices.back();
  const Result<int64_t> count = CountElements(Shape(indices.begin(), indices.end() - 1));
  if (!count.ok()) return layer.Wrap(count.status());
  const std::vector<ptrdiff_t> strides = DenseStrides(x);
  Slices slices;
  slices.count = *count;
  slices.extents.assign(x.begin(), x.begin() + depth);
  slices.strides.assign(strides.begin(), strides.begin() + depth);
  slices.size = *CountElements(Shape(x.begin() + depth, x.end()));
  if (slices.size == 0) slices.count = 0;
  const Scattering how = layer.op<ScatterNdUpdate>().scattering;
  const auto scatter = [slices, how](const auto* at, const auto* updates, auto* out) {
    return ScatterSlices(slices, how, at, updates, out);
  };
  return PrepareScattering(layer, how, scatter);
}

}  // namespace

constinit const OperatorRow GatherElements::kRow = {
    .name = "GATHER_ELEMENTS",
    .min_inputs = 2,
    .max_inputs = 2,
    .types = kAnyType,
    .infer = InferGatherElements,
    .candidates = Moves("gather", PrepareGatherElements),
    .remark = "indices int16, int32, int64"};

constinit const OperatorRow ScatterElements::kRow = {
    .name = "SCATTER_ELEMENTS",
    .min_inputs = 3,
    .max_inputs = 3,
    .types = kNumbers | kUInt16 | kBool,
    .infer = InferScatterElements,
    .candidates = Candidate{"scatter", PrepareScatterElements},
    .remark = "indices int16, int32, int64"};

constinit const OperatorRow ScatterNdUpdate::kRow = {
    .name = "SCATTER_ND_UPDATE",
    .min_inputs = 3,
    .max_inputs = 3,
    .types = kNumbers | kUInt16 | kBool,
    .infer = InferScatterNdUpdate,
    .candidates = Candidate{"scatter", PrepareScatterNdUpdate},
    .remark = "indices int16, int32, int64"};

}  // namespace intaglio::nn
