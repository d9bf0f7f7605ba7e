// REDUCE_MAX, REDUCE_MIN, REDUCE_ANY, REDUCE_ALL, and SUM and REDUCE_PROD of numbers that are not
// quantized: elements of the output gather those of the input one by one, in its order, but for
// sums of many float32 numbers side by side.
#include "intaglio/nn/ops/reduce/reduce.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// The innermost loop; steps that are constants where this is inlined make it one for vectors.
template <class T, class Function>
inline void GatherRow(const Function& f, const T* from, ptrdiff_t step_in, T* to,
                      ptrdiff_t step_out, ptrdiff_t extent) {
  for (ptrdiff_t i = 0; i < extent; ++i) {
    to[i * step_out] = f(to[i * step_out], from[i * step_in]);
  }
}

struct Sums {
  template <class T>
  T operator()(T sum, T x) const {
    return WrappingAdd(sum, x);
  }
};

// Adds many numbers that lie side by side. Several sums, which are added to each other at the end,
// round less often than one, and do not wait for each other. The order is the same on every CPU.
constexpr ptrdiff_t kLanes = 16;
constexpr ptrdiff_t kMany = 2 * kLanes;

float SumOfMany(const float* from, ptrdiff_t extent) {
  float sums[kLanes] = {};
  ptrdiff_t i = 0;
  for (; i + kLanes <= extent; i += kLanes) {
    for (ptrdiff_t lane = 0; lane < kLanes; ++lane) sums[lane] += from[i + lane];
  }
  for (ptrdiff_t lane = 0; i < extent; ++i, ++lane) sums[lane] += from[i];
  for (ptrdiff_t half = kLanes / 2; half > 0; half /= 2) {
    for (ptrdiff_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

template <class T, class Function>
std::shared_ptr<const Routine> ReduceRoutine(const LayerView& layer, const Loops<2>& loops,
                                             std::optional<T> start, const Function& f) {
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  return RoutineOf([=](const RunArguments& arguments) {
    const auto* const in = static_cast<const T*>(arguments.inputs[0]);
    auto* const out = static_cast<T*>(arguments.outputs[0]);
    std::fill_n(out, count, start.has_value() ? *start : in[0]);
    const ptrdiff_t extent = loops.inner_extent();
    const ptrdiff_t step_in = loops.inner_strides()[0];
    const ptrdiff_t step_out = loops.inner_strides()[1];
    loops.Run([&](const Loops<2>::Offsets& at) {
      const T* const from = in + at[0];
      T* const to = out + at[1];
      if constexpr (std::is_same_v<T, float> && std::is_same_v<Function, Sums>) {
        if (step_in == 1 && step_out == 0 && extent >= kMany) {
          *to += SumOfMany(from, extent);
          return;
        }
      }
      if (step_in == 1 && step_out == 1) {
        GatherRow(f, from, 1, to, 1, extent);
      } else if (step_out == 0) {
        T gathered = *to;  // in a register, where each step does not wait for memory
        GatherRow(f, from, step_in, &gathered, 0, extent);
        *to = gathered;
      } else {
        GatherRow(f, from, step_in, to, step_out, extent);
      }
    });
  });
}

// The least of all numbers of T for a maximum, the greatest for a minimum. As in TFLite, no
// element, neither -inf nor NaN, takes the result beyond it. If all axes are reduced, the
// comparisons start at the first element instead.
template <class T>
std::optional<T> FarthestOrFirst(const LayerView& layer, const std::vector<int>& axes, T farthest) {
  const Result<std::vector<bool>> reduced = AxesOf(layer, axes);
  const bool whole =
      reduced.ok() && std::find(reduced->begin(), reduced->end(), false) == reduced->end();
  if (whole && *CountElements(layer.input(0).shape) > 0) return std::nullopt;
  return farthest;
}

template <class... Ts, class Start, class Function>
Result<PreparedLayer> PrepareReduce(const LayerView& layer, const std::vector<int>& axes,
                                    const Start& start, const Function& f) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Tensor& in = layer.input(0);
  if (IsQuantized(in.type) &&
      (in.quantization.scales != layer.output().quantization.scales ||
       in.quantization.zero_points != layer.output().quantization.zero_points)) {
    return layer.Unsupported("the quantizations of input and output differ");
  }
  const Result<Reduction> reduction = ReductionOf(layer, axes);
  if (!reduction.ok()) return reduction.status();
  const Type type = in.type == Type::kBool ? Type::kUInt8 : in.type;
  PreparedLayer prepared;
  prepared.routine = VisitType<Ts...>(type, [&](auto zero) {
    using T = decltype(zero);
    return ReduceRoutine<T>(layer, reduction->loops, std::optional<T>(start(zero)), f);
  });
  if (prepared.routine != nullptr) return prepared;
  return layer.Unsupported(std::string("has no routine for ") + NameOf(in.type));
}

}  // namespace

Result<Reduction> ReductionOf(const LayerView& layer, const std::vector<int>& axes) {
  const Result<std::vector<bool>> reduced = AxesOf(layer, axes);
  if (!reduced.ok()) return reduced.status();
  const Shape& shape = layer.input(0).shape;
  Shape summed;
  Shape kept;
  for (size_t i = 0; i < shape.size(); ++i) {
    summed.push_back((*reduced)[i] ? shape[i] : 1);
    kept.push_back((*reduced)[i] ? 1 : shape[i]);
  }
  const Result<int64_t> count = CountElements(summed);
  if (!count.ok()) return layer.Wrap(count.status());
  Reduction reduction;
  reduction.count = *count;
  const std::vector<ptrdiff_t> in_strides = DenseStrides(shape);
  const std::vector<ptrdiff_t> out_strides = DenseStrides(kept);
  for (size_t i = 0; i < shape.size(); ++i) {
    reduction.loops.Add(shape[i], {in_strides[i], (*reduced)[i] ? 0 : out_strides[i]});
  }
  return reduction;
}

ShapesResult InferReduction(const LayerView& layer, const std::vector<int>& axes, bool keep_dims) {
  const Result<std::vector<bool>> reduced = AxesOf(layer, axes);
  if (!reduced.ok()) return reduced.status();
  const Shape& shape = layer.input(0).shape;
  Shape out;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!(*reduced)[i]) out.push_back(shape[i]);
    if ((*reduced)[i] && keep_dims) out.push_back(1);
  }
  return std::vector<Shape>{out};
}

Result<PreparedLayer> PreparePlainSum(const LayerView& layer, const std::vector<int>& axes) {
  return PrepareReduce<int32_t, int64_t, float>(
      layer, axes, [](auto zero) { return zero; }, Sums{});
}

namespace {

// The greatest T; infinity if Op keeps it.
template <class T, class Op>
T Most(const Op& op) {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity && op.keeps_infinities ? Limits::infinity() : Limits::max();
}
template <class T, class Op>
T Least(const Op& op) {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity && op.keeps_infinities ? static_cast<T>(-Limits::infinity())
                                                     : Limits::lowest();
}

Result<PreparedLayer> PrepareReduceMax(const LayerView& layer, const LayerOptions&) {
  const auto& op = layer.op<ReduceMax>();
  return PrepareReduce<int8_t, uint8_t, int16_t, int32_t, int64_t, float>(
      layer, op.axes,
      [&](auto zero) { return FarthestOrFirst(layer, op.axes, Least<decltype(zero)>(op)); },
      [](auto best, auto x) { return x > best ? x : best; });
}

Result<PreparedLayer> PrepareReduceMin(const LayerView& layer, const LayerOptions&) {
  const auto& op = layer.op<ReduceMin>();
  return PrepareReduce<int8_t, uint8_t, int16_t, int32_t, int64_t, float>(
      layer, op.axes,
      [&](auto zero) { return FarthestOrFirst(layer, op.axes, Most<decltype(zero)>(op)); },
      [](auto best, auto x) { return x < best ? x : best; });
}

Result<PreparedLayer> PreparePlainProd(const LayerView& layer, const LayerOptions&) {
  return PrepareReduce<int32_t, int64_t, float>(
      layer, layer.op<ReduceProd>().axes, [](auto zero) { return decltype(zero)(1); },
      [](auto product, auto x) { return WrappingMul(product, x); });
}

constexpr Candidate kReduceProdWays[] = {{"reduce", PrepareQuantizedProd, kQuantized},
                                         {"reduce", PreparePlainProd, ~kQuantized}};

Result<PreparedLayer> PrepareReduceAny(const LayerView& layer, const LayerOptions&) {
  return PrepareReduce<uint8_t>(
      layer, layer.op<ReduceAny>().axes, [](auto zero) { return zero; },
      [](uint8_t any, uint8_t x) { return static_cast<uint8_t>(any != 0 || x != 0 ? 1 : 0); });
}

Result<PreparedLayer> PrepareReduceAll(const LayerView& layer, const LayerOptions&) {
  return PrepareReduce<uint8_t>(
      layer, layer.op<ReduceAll>().axes, [](auto zero) { return decltype(zero)(1); },
      [](uint8_t all, uint8_t x) { return static_cast<uint8_t>(all != 0 && x != 0 ? 1 : 0); });
}

}  // namespace

constinit const OperatorRow ReduceMax::kRow = {.name = "REDUCE_MAX",
                                               .min_inputs = 1,
                                               .max_inputs = 1,
                                               .types = kNumbers,
                                               .infer = InferReduce<ReduceMax>,
                                               .candidates = Moves("reduce", PrepareReduceMax),
                                               .remark = "one quantization"};

constinit const OperatorRow ReduceMin::kRow = {.name = "REDUCE_MIN",
                                               .min_inputs = 1,
                                               .max_inputs = 1,
                                               .types = kNumbers,
                                               .infer = InferReduce<ReduceMin>,
                                               .candidates = Moves("reduce", PrepareReduceMin),
                                               .remark = "one quantization"};

constinit const OperatorRow ReduceProd::kRow = {.name = "REDUCE_PROD",
                                                .min_inputs = 1,
                                                .max_inputs = 1,
                                                .types = kReal | kInteger,
                                                .infer = InferReduce<ReduceProd>,
                                                .candidates = kReduceProdWays,
                                                .remark = "of at least one element"};

constinit const OperatorRow ReduceAny::kRow = {.name = "REDUCE_ANY",
                                               .min_inputs = 1,
                                               .max_inputs = 1,
                                               .types = kBool,
                                               .infer = InferReduce<ReduceAny>,
                                               .candidates = Moves("reduce", PrepareReduceAny)};

constinit const OperatorRow ReduceAll::kRow = {.name = "REDUCE_ALL",
                                               .min_inputs = 1,
                                               .max_inputs = 1,
                                               .types = kBool,
                                               .infer = InferReduce<ReduceAll>,
                                               .candidates = Moves("reduce", PrepareReduceAll)};

}  // namespace intaglio::nn
