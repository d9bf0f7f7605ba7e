// INTERPOLATE: weighted sums of elements along an axis. See operators.h.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/indices.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/window/operators.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// x is seen as [outer, in, inner], the output as [outer, out, inner].
struct Interpolation {
  ptrdiff_t outer = 1;
  ptrdiff_t in = 1;
  ptrdiff_t out = 1;
  ptrdiff_t inner = 1;
  ptrdiff_t taps = 1;
  bool has_offsets = false;
};

Result<int> AxisOf(const LayerView& layer) {
  const int rank = static_cast<int>(layer.input(0).shape.size());
  const int axis = layer.op<Interpolate>().axis;
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  return layer.Invalid("has no axis " + std::to_string(axis) + " of " +
                       ToString(layer.input(0).shape));
}

ShapesResult InferInterpolate(const LayerView& layer) {
  const Result<int> axis = AxisOf(layer);
  if (!axis.ok()) return axis.status();
  const Shape& places = layer.input(1).shape;
  if (places.size() != 2 || layer.input(2).shape != places) {
    return layer.Invalid("places " + ToString(places) + " and weights " +
                         ToString(layer.input(2).shape) + " are no matrices of one shape");
  }
  if (layer.has_input(3) && layer.input(3).shape != Shape{places[0]}) {
    return layer.Invalid("offsets " + ToString(layer.input(3).shape) + " do not fit " +
                         std::to_string(places[0]) + " elements");
  }
  Shape shape = layer.input(0).shape;
  shape[static_cast<size_t>(*axis)] = places[0];
  return std::vector<Shape>{shape};
}

Status CheckPlaces(const Interpolation& p, const int32_t* places) {
  for (ptrdiff_t i = 0; i < p.out * p.taps; ++i) {
    if (!Exists(places[i], p.in)) return NoSuchIndex(places[i], p.in);
  }
  return {};
}

// Row `row` of the output, counted over outer and out.
void RunRow(const Interpolation& p, ptrdiff_t row, const RunArguments& arguments) {
  const ptrdiff_t o = row % p.out;
  const float* const x =
      static_cast<const float*>(arguments.inputs[0]) + row / p.out * p.in * p.inner;
  const auto* const places = static_cast<const int32_t*>(arguments.inputs[1]) + o * p.taps;
  const auto* const weights = static_cast<const float*>(arguments.inputs[2]) + o * p.taps;
  float* const out = static_cast<float*>(arguments.outputs[0]) + row * p.inner;
  const float offset = p.has_offsets ? static_cast<const float*>(arguments.inputs[3])[o] : 0.0f;
  std::fill_n(out, p.inner, offset);
  for (ptrdiff_t k = 0; k < p.taps; ++k) {
    const float weight = weights[k];
    const float* const from = x + places[k] * p.inner;
    for (ptrdiff_t i = 0; i < p.inner; ++i) out[i] += weight * from[i];
  }
}

Result<PreparedLayer> PrepareInterpolate(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kFloat32));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(1), Type::kInt32));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(2), Type::kFloat32));
  if (layer.has_input(3)) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(3), Type::kFloat32));
  }
  const Result<int> axis = AxisOf(layer);
  if (!axis.ok()) return axis.status();
  const Shape& shape = layer.input(0).shape;
  Interpolation p;
  p.in = shape[static_cast<size_t>(*axis)];
  p.out = layer.input(1).shape[0];
  p.taps = layer.input(1).shape[1];
  p.has_offsets = layer.has_input(3);
  for (int i = 0; i < *axis; ++i) p.outer *= shape[static_cast<size_t>(i)];
  for (size_t i = static_cast<size_t>(*axis) + 1; i < shape.size(); ++i) p.inner *= shape[i];
  PreparedLayer prepared;
  prepared.routine = RoutineOf([p](const RunArguments& arguments) -> Status {
    INTAGLIO_RETURN_IF_ERROR(CheckPlaces(p, static_cast<const int32_t*>(arguments.inputs[1])));
    const ptrdiff_t work = std::max<ptrdiff_t>(p.inner * std::max<ptrdiff_t>(p.taps, 1), 1);
    ForParts(arguments.context, p.outer * p.out, kLeastBytesOfThread / work + 1,
             [&](ptrdiff_t begin, ptrdiff_t end) {
               for (ptrdiff_t row = begin; row < end; ++row) RunRow(p, row, arguments);
             });
    return {};
  });
  return prepared;
}

int64_t WorkOfInterpolate(const LayerView& layer) {
  const Result<int64_t> elements = CountElements(layer.output().shape);
  const int64_t taps = layer.input(1).shape[1];
  int64_t work = 0;
  if (!elements.ok() || __builtin_mul_overflow(*elements, taps, &work)) return INT64_MAX;
  return work;
}

}  // namespace

constinit const OperatorRow Interpolate::kRow = {
    .name = "INTERPOLATE",
    .min_inputs = 3,
    .max_inputs = 4,
    .types = kFloat,
    .infer = InferInterpolate,
    .candidates = Candidate{"weighted", PrepareInterpolate},
    .extra_work = WorkOfInterpolate};

}  // namespace intaglio::nn
