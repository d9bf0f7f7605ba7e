// FILL, SHAPE, RANGE, ONE_HOT: elements that are not those of an input.
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "intaglio/nn/graph/input_advice.h"
#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/indices.h"
#include "intaglio/nn/ops/support/moves.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

Element Load(const void* data, size_t size) {
  Element element;
  std::memcpy(element.bytes, data, size);
  return element;
}

Status CheckOneElement(const LayerView& layer, size_t i) {
  const Result<int64_t> count = CountElements(layer.input(i).shape);
  if (count.ok() && *count == 1) return {};
  return layer.Invalid("input " + std::to_string(i) + " has the shape " +
                       ToString(layer.input(i).shape) + ", not one element");
}

// The constants of a sequence, and how many elements it has.
template <class T>
struct Progression {
  T start = 0;
  T step = 0;
  int count = 0;
};

template <class T>
T Value(const LayerView& layer, size_t i) {
  T value = 0;
  std::memcpy(&value, layer.input(i).data, sizeof(value));
  return value;
}

// The number of elements, or a negative number where there is no end. The float division is in
// float32, and rounded up.
template <class T>
double CountSteps(T start, T limit, T step) {
  if (!(step > 0 ? start <= limit : step < 0 && start >= limit)) return -1;
  if constexpr (std::is_integral_v<T>) {
    const uint64_t span = start <= limit
                              ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                              : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    const uint64_t stride =
        step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
    return static_cast<double>(span == 0 ? 0 : (span - 1) / stride + 1);
  } else {
    return static_cast<double>(std::ceil(std::fabs((limit - start) / step)));
  }
}

template <class T>
Result<Progression<T>> ProgressionOf(const LayerView& layer) {
  const T start = Value<T>(layer, 0);
  const T limit = Value<T>(layer, 1);
  const T step = Value<T>(layer, 2);
  const double count = CountSteps(start, limit, step);
  if (count >= 0 && count <= std::numeric_limits<int>::max()) {
    return Progression<T>{start, step, static_cast<int>(count)};
  }
  return layer.Invalid("cannot count from " + std::to_string(start) + " to " +
                       std::to_string(limit) + " in steps of " + std::to_string(step));
}

// f(T()) for the type of the sequence, or nothing.
template <class Function>
auto VisitSequence(const LayerView& layer, const Function& f) {
  return VisitType<int32_t, int64_t, float>(layer.input(0).type,
                                            [&](auto zero) { return std::optional(f(zero)); });
}

Status CheckSequence(const LayerView& layer) {
  for (size_t i = 0; i < 3; ++i) {
    if (!layer.input(i).constant) {
      return layer.Unsupported("start, limit and step that are not constant" +
                               AdviceForInput(layer, i));
    }
    INTAGLIO_RETURN_IF_ERROR(CheckOneElement(layer, i));
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(i), layer.input(0).type));
  }
  return {};
}

template <class Index>
void RunOneHot(ptrdiff_t outer, int depth, ptrdiff_t inner, size_t size, bool from_end,
               const RunArguments& arguments) {
  const auto* indices = static_cast<const Index*>(arguments.inputs[0]);
  const Element on = Load(arguments.inputs[1], size);
  const Element off = Load(arguments.inputs[2], size);
  auto* out = static_cast<std::byte*>(arguments.outputs[0]);
  for (ptrdiff_t o = 0; o < outer; ++o, indices += inner) {
    for (int d = 0; d < depth; ++d) {
      for (ptrdiff_t i = 0; i < inner; ++i, out += size) {
        const bool hot = PlaceOf(indices[i], depth, from_end) == d;
        std::memcpy(out, (hot ? on : off).bytes, size);
      }
    }
  }
}

Result<size_t> OneHotAxis(const LayerView& layer) {
  return AxisOf(layer, layer.op<OneHot>().axis, layer.input(0).shape.size() + 1);
}

ShapesResult InferFill(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneElement(layer, 0));
  const Shape& shape = layer.op<Fill>().shape;
  for (const int extent : shape) {
    if (extent < 0) return layer.Invalid("cannot fill the shape " + ToString(shape));
  }
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareFill(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Type type = layer.output().type;
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  PreparedLayer prepared;
  prepared.routine = RoutineOf([=, size = SizeOf(type)](const RunArguments& arguments) {
    FillWith(Load(arguments.inputs[0], size), size, count, arguments.outputs[0]);
  });
  return prepared;
}

ShapesResult InferShapeOf(const LayerView& layer) {
  return std::vector<Shape>{{static_cast<int>(layer.input(0).shape.size())}};
}

Result<PreparedLayer> PrepareShapeOf(const LayerView& layer, const LayerOptions&) {
  const Type type = layer.output().type;
  PreparedLayer prepared;
  prepared.routine = VisitType<int32_t, int64_t>(type, [&](auto zero) {
    using T = decltype(zero);
    return RoutineOf([shape = layer.input(0).shape](const RunArguments& arguments) {
      auto* out = static_cast<T*>(arguments.outputs[0]);
      for (const int extent : shape) *out++ = extent;
    });
  });
  if (prepared.routine != nullptr) return prepared;
  return layer.Unsupported(std::string("a shape as ") + NameOf(type));
}

ShapesResult InferSequence(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckSequence(layer));
  const auto count = VisitSequence(layer, [&](auto zero) -> Result<int> {
    const auto progression = ProgressionOf<decltype(zero)>(layer);
    if (!progression.ok()) return progression.status();
    return progression->count;
  });
  if (!count.has_value()) {
    return layer.Unsupported(std::string("a sequence of ") + NameOf(layer.input(0).type));
  }
  if (!count->ok()) return count->status();
  return std::vector<Shape>{{**count}};
}

Result<PreparedLayer> PrepareSequence(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  PreparedLayer prepared;
  prepared.routine = *VisitSequence(layer, [&](auto zero) {
    using T = decltype(zero);
    return RoutineOf([p = *ProgressionOf<T>(layer)](const RunArguments& arguments) {
      auto* out = static_cast<T*>(arguments.outputs[0]);
      T value = p.start;
      for (int i = 0; i < p.count; ++i, value = WrappingAdd(value, p.step)) out[i] = value;
    });
  });
  return prepared;
}

ShapesResult InferOneHot(const LayerView& layer) {
  const Result<size_t> axis = OneHotAxis(layer);
  if (!axis.ok()) return axis.status();
  INTAGLIO_RETURN_IF_ERROR(CheckOneElement(layer, 1));
  INTAGLIO_RETURN_IF_ERROR(CheckOneElement(layer, 2));
  const int depth = layer.op<OneHot>().depth;
  if (depth < 0) return layer.Invalid("the depth is " + std::to_string(depth));
  Shape shape = layer.input(0).shape;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(*axis), depth);
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareOneHot(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer, 1));
  const Result<size_t> axis = OneHotAxis(layer);
  if (!axis.ok()) return axis.status();
  const Shape& indices = layer.input(0).shape;
  const auto middle = indices.begin() + static_cast<ptrdiff_t>(*axis);
  const auto outer = static_cast<ptrdiff_t>(*CountElements(Shape(indices.begin(), middle)));
  const auto inner = static_cast<ptrdiff_t>(*CountElements(Shape(middle, indices.end())));
  const int depth = layer.op<OneHot>().depth;
  const bool from_end = layer.op<OneHot>().from_end;
  const size_t size = SizeOf(layer.output().type);
  PreparedLayer prepared;
  prepared.routine = VisitType<int32_t, int64_t>(layer.input(0).type, [&](auto zero) {
    using Index = decltype(zero);
    return RoutineOf([=](const RunArguments& arguments) {
      RunOneHot<Index>(outer, depth, inner, size, from_end, arguments);
    });
  });
  return prepared;
}

}  // namespace

constinit const OperatorRow Fill::kRow = {.name = "FILL",
                                          .min_inputs = 1,
                                          .max_inputs = 1,
                                          .types = kAnyType,
                                          .infer = InferFill,
                                          .candidates = Moves("fill", PrepareFill, 1)};

constinit const OperatorRow ShapeOf::kRow = {.name = "SHAPE",
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .types = kAnyType,
                                             .infer = InferShapeOf,
                                             .candidates = Moves("shape", PrepareShapeOf),
                                             .reads_only_shapes = true};

constinit const OperatorRow Sequence::kRow = {.name = "RANGE",
                                              .min_inputs = 3,
                                              .max_inputs = 3,
                                              .types = kInteger | kFloat,
                                              .infer = InferSequence,
                                              .candidates = Candidate{"sequence", PrepareSequence},
                                              .remark = "constants",
                                              .parameters = kAllInputs};

constinit const OperatorRow OneHot::kRow = {.name = "ONE_HOT",
                                            .min_inputs = 3,
                                            .max_inputs = 3,
                                            .types = kInteger,
                                            .infer = InferOneHot,
                                            .candidates = Moves("one_hot", PrepareOneHot, 2),
                                            .remark = "the indices; values of any type"};

}  // namespace intaglio::nn
