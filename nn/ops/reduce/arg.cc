// ARG_MAX, ARG_MIN, TOPK_V2, HARDMAX: the places of the greatest and smallest elements.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// [outer, extent, inner], of which the middle disappears.
struct Sizes {
  ptrdiff_t outer = 1;
  ptrdiff_t extent = 1;
  ptrdiff_t inner = 1;
};

Sizes SizesOf(const Shape& shape, size_t axis) {
  const auto middle = shape.begin() + static_cast<ptrdiff_t>(axis);
  return {static_cast<ptrdiff_t>(*CountElements(Shape(shape.begin(), middle))), *middle,
          static_cast<ptrdiff_t>(*CountElements(Shape(middle + 1, shape.end())))};
}

// What makes the first best of 8-bit elements the first largest byte, by xor.
template <class Better>
struct FlipOf;
template <class T>
struct FlipOf<std::greater<T>> {
  static constexpr uint8_t kFlip = std::is_signed_v<T> ? 0x80 : 0;
};
template <class T>
struct FlipOf<std::less<T>> {
  static constexpr uint8_t kFlip = std::is_signed_v<T> ? 0x7f : 0xff;
};

using PlacesOfBytes = decltype(LineRoutines::places);

void RunBytes(PlacesOfBytes places, const ByteRows& rows, int32_t* out) { places(rows, out); }
void RunBytes(PlacesOfBytes places, ByteRows rows, int64_t* out) {
  constexpr ptrdiff_t kRows = 64;
  int32_t some[kRows];
  for (ptrdiff_t left = rows.rows; left > 0; left -= rows.rows) {
    rows.rows = std::min(left, kRows);
    places(rows, some);
    out = std::copy_n(some, rows.rows, out);
    rows.bytes += rows.rows * rows.depth;
  }
}

// The place of the first element that is not NaN; 0 if all are NaN.
template <class T>
ptrdiff_t FirstNumber(const T* x, ptrdiff_t extent, ptrdiff_t step) {
  if constexpr (std::is_floating_point_v<T>) {
    for (ptrdiff_t a = 0; a < extent; ++a) {
      if (!std::isnan(x[a * step])) return a;
    }
  }
  return 0;
}

// Skips NaN.
template <class Better, class T>
ptrdiff_t PlaceOfBest(const T* x, ptrdiff_t extent, ptrdiff_t step) {
  const Better better;
  ptrdiff_t place = FirstNumber(x, extent, step);
  T best = x[place * step];
  for (ptrdiff_t a = place + 1; a < extent; ++a) {
    const T element = x[a * step];
    if (!better(element, best)) continue;
    best = element;
    place = a;
  }
  return place;
}

template <class T, class Place, class Better>
void RunArg(const Sizes& s, PlacesOfBytes places, const T* in, Place* out) {
  if constexpr (sizeof(T) == 1) {
    if (s.inner == 1) {
      const auto* const bytes = reinterpret_cast<const uint8_t*>(in);
      return RunBytes(places, {bytes, FlipOf<Better>::kFlip, s.outer, s.extent}, out);
    }
  }
  for (ptrdiff_t o = 0; o < s.outer; ++o, in += s.extent * s.inner) {
    for (ptrdiff_t i = 0; i < s.inner; ++i) {
      *out++ = static_cast<Place>(PlaceOfBest<Better>(in + i, s.extent, s.inner));
    }
  }
}

ShapesResult InferArg(const LayerView& layer, int axis) {
  Shape shape = layer.input(0).shape;
  const Result<size_t> dimension = AxisOf(layer, axis, shape.size());
  if (!dimension.ok()) return dimension.status();
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(*dimension));
  return std::vector<Shape>{shape};
}

template <template <class> class Better>
Result<PreparedLayer> PrepareArg(const LayerView& layer, const LayerOptions& options, int axis) {
  const Tensor& x = layer.input(0);
  const Result<size_t> dimension = AxisOf(layer, axis, x.shape.size());
  if (!dimension.ok()) return dimension.status();
  const Sizes sizes = SizesOf(x.shape, *dimension);
  if (sizes.extent == 0) {
    return layer.Invalid("there are no elements along axis " + std::to_string(axis) + " of " +
                         ToString(x.shape));
  }
  const Result<const LineRoutines*> lines = LinesOf(options.kernel);
  if (!lines.ok()) return layer.Wrap(lines.status());
  PreparedLayer prepared;
  const Type element = x.type == Type::kBool ? Type::kUInt8 : x.type;
  prepared.routine = VisitType<int8_t, uint8_t, int32_t, float>(element, [&](auto zero) {
    using T = decltype(zero);
    return VisitType<int32_t, int64_t>(layer.output().type, [&](auto place) {
      using Place = decltype(place);
      return RoutineOf([sizes, places = (*lines)->places](const RunArguments& arguments) {
        const auto* const in = static_cast<const T*>(arguments.inputs[0]);
        auto* const out = static_cast<Place*>(arguments.outputs[0]);
        const ptrdiff_t size = sizes.extent * sizes.inner;
        ForParts(arguments.context, sizes.outer,
                 kLeastBytesOfThread / std::max<ptrdiff_t>(1, size) + 1,
                 [&](ptrdiff_t first, ptrdiff_t last) {
                   RunArg<T, Place, Better<T>>({last - first, sizes.extent, sizes.inner}, places,
                                               in + first * size, out + first * sizes.inner);
                 });
      });
    });
  });
  if (prepared.routine != nullptr) return prepared;
  return layer.Unsupported(std::string("places of ") + NameOf(x.type) + " as " +
                           NameOf(layer.output().type));
}

// NaN comes last; of equal elements the first comes first.
template <class Better, class T>
bool ComesBefore(const T* values, ptrdiff_t step, int32_t a, int32_t b) {
  const T first = values[a * step];
  const T second = values[b * step];
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(first) != std::isnan(second)) return std::isnan(second);
  }
  if (Better()(first, second)) return true;
  if (Better()(second, first)) return false;
  return a < b;
}

template <class T, class Place, class Better>
void RunTopK(const Sizes& s, int32_t k, const RunArguments& arguments) {
  const auto* in = static_cast<const T*>(arguments.inputs[0]);
  auto* values = static_cast<T*>(arguments.outputs[0]);
  auto* places = static_cast<Place*>(arguments.outputs[1]);
  auto* const order = static_cast<int32_t*>(arguments.scratch);
  const ptrdiff_t step = s.inner;
  for (ptrdiff_t row = 0; row < s.outer * s.inner; ++row) {
    if (row != 0 && row % step == 0) {
      in += (s.extent - 1) * step;
      values += (k - 1) * step;
      places += (k - 1) * step;
    }
    std::iota(order, order + s.extent, 0);
    std::partial_sort(order, order + k, order + s.extent,
                      [=](int32_t a, int32_t b) { return ComesBefore<Better>(in, step, a, b); });
    for (int32_t i = 0; i < k; ++i) {
      values[i * step] = in[order[i] * step];
      places[i * step] = static_cast<Place>(order[i]);
    }
    ++in;
    ++values;
    ++places;
  }
}

// The place of the first NaN or, without one, of the first greatest element.
ptrdiff_t PlaceOfGreatest(const float* x, ptrdiff_t extent, ptrdiff_t step) {
  ptrdiff_t place = 0;
  for (ptrdiff_t a = 0; a < extent; ++a) {
    if (std::isnan(x[a * step])) return a;
    if (x[a * step] > x[place * step]) place = a;
  }
  return place;
}

ShapesResult InferArgMax(const LayerView& layer) {
  return InferArg(layer, layer.op<ArgMax>().axis);
}

ShapesResult InferArgMin(const LayerView& layer) {
  return InferArg(layer, layer.op<ArgMin>().axis);
}

Result<PreparedLayer> PrepareArgMax(const LayerView& layer, const LayerOptions& options) {
  return PrepareArg<std::greater>(layer, options, layer.op<ArgMax>().axis);
}

Result<PreparedLayer> PrepareArgMin(const LayerView& layer, const LayerOptions& options) {
  return PrepareArg<std::less>(layer, options, layer.op<ArgMin>().axis);
}

ShapesResult InferTopK(const LayerView& layer) {
  Shape shape = layer.input(0).shape;
  const int k = layer.op<TopK>().k;
  const Result<size_t> axis = AxisOf(layer, layer.op<TopK>().axis, shape.size());
  if (!axis.ok()) return axis.status();
  if (k < 0 || k > shape[*axis]) {
    const bool last = *axis + 1 == shape.size();
    return layer.Invalid("there are no " + std::to_string(k) + " elements " +
                         (last ? "in the rows" : "along axis " + std::to_string(*axis)) + " of " +
                         ToString(shape));
  }
  shape[*axis] = k;
  return std::vector<Shape>{shape, shape};
}

Result<PreparedLayer> PrepareTopK(const LayerView& layer, const LayerOptions&) {
  const Tensor& x = layer.input(0);
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, x, layer.output().type));
  const Type place_type = layer.output(1).type;
  const TopK& op = layer.op<TopK>();
  const Result<size_t> axis = AxisOf(layer, op.axis, x.shape.size());
  if (!axis.ok()) return axis.status();
  const int extent = x.shape[*axis];
  if (place_type == Type::kInt16 && extent > std::numeric_limits<int16_t>::max()) {
    return layer.Invalid("rows of " + std::to_string(extent) + " elements have no int16 places");
  }
  Sizes sizes = SizesOf(x.shape, *axis);
  if (op.k == 0) sizes.outer = 0;
  PreparedLayer prepared;
  prepared.scratch_bytes = static_cast<size_t>(extent) * sizeof(int32_t);
  prepared.routine =
      VisitType<int8_t, uint8_t, int16_t, int32_t, int64_t, float>(x.type, [&](auto zero) {
        using T = decltype(zero);
        return VisitType<int16_t, int32_t, int64_t>(place_type, [&](auto place) {
          using Place = decltype(place);
          return RoutineOf(
              [sizes, k = op.k, greatest = op.greatest](const RunArguments& arguments) {
                if (greatest) return RunTopK<T, Place, std::greater<>>(sizes, k, arguments);
                RunTopK<T, Place, std::less<>>(sizes, k, arguments);
              });
        });
      });
  if (prepared.routine != nullptr) return prepared;
  return layer.Unsupported(std::string("places as ") + NameOf(place_type));
}

ShapesResult InferHardmax(const LayerView& layer) {
  const Shape& shape = layer.input(0).shape;
  const Result<size_t> axis = AxisOf(layer, layer.op<Hardmax>().axis, shape.size());
  if (!axis.ok()) return axis.status();
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareHardmax(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Shape& shape = layer.input(0).shape;
  const Result<size_t> axis = AxisOf(layer, layer.op<Hardmax>().axis, shape.size());
  if (!axis.ok()) return axis.status();
  const Sizes s = SizesOf(shape, *axis);
  PreparedLayer prepared;
  prepared.routine = RoutineOf([s](const RunArguments& arguments) {
    if (s.extent == 0) return;
    const auto* const in = static_cast<const float*>(arguments.inputs[0]);
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    std::fill_n(out, s.outer * s.extent * s.inner, 0.0f);
    for (ptrdiff_t o = 0; o < s.outer; ++o) {
      for (ptrdiff_t i = 0; i < s.inner; ++i) {
        const ptrdiff_t first = o * s.extent * s.inner + i;
        out[first + PlaceOfGreatest(in + first, s.extent, s.inner) * s.inner] = 1;
      }
    }
  });
  return prepared;
}

}  // namespace

constinit const OperatorRow Hardmax::kRow = {.name = "HARDMAX",
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .types = kFloat,
                                             .infer = InferHardmax,
                                             .candidates = Candidate{"arg", PrepareHardmax}};

constinit const OperatorRow TopK::kRow = {.name = "TOPK_V2",
                                          .min_inputs = 1,
                                          .max_inputs = 1,
                                          .types = kQuantized | kInteger | kFloat,
                                          .infer = InferTopK,
                                          .candidates = Moves("sort", PrepareTopK)};

constinit const OperatorRow ArgMax::kRow = {.name = "ARG_MAX",
                                            .min_inputs = 1,
                                            .max_inputs = 1,
                                            .types = kArgTypes,
                                            .infer = InferArgMax,
                                            .candidates = Moves("arg", PrepareArgMax)};

constinit const OperatorRow ArgMin::kRow = {.name = "ARG_MIN",
                                            .min_inputs = 1,
                                            .max_inputs = 1,
                                            .types = kArgTypes,
                                            .infer = InferArgMin,
                                            .candidates = Moves("arg", PrepareArgMin)};

}  // namespace intaglio::nn
