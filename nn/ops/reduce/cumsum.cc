// CUMSUM.
#include <cstddef>
#include <string>
#include <type_traits>

#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// `extent` elements `stride` apart, from `first` on.
template <class T>
void Accumulate(const T* in, T* out, ptrdiff_t extent, ptrdiff_t stride, bool exclusive) {
  T sum = 0;
  for (ptrdiff_t i = 0; i < extent; ++i) {
    const T element = in[i * stride];
    const T with = WrappingAdd(sum, element);
    out[i * stride] = exclusive ? sum : with;
    sum = with;
  }
}

ShapesResult InferCumsum(const LayerView& layer) {
  const Result<size_t> axis = AxisOf(layer, layer.op<Cumsum>().axis, layer.input(0).shape.size());
  if (!axis.ok()) return axis.status();
  return std::vector<Shape>{layer.input(0).shape};
}

Result<PreparedLayer> PrepareCumsum(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Cumsum& op = layer.op<Cumsum>();
  const Shape& shape = layer.input(0).shape;
  const Result<size_t> axis = AxisOf(layer, op.axis, shape.size());
  if (!axis.ok()) return axis.status();
  const std::vector<ptrdiff_t> strides = DenseStrides(shape);
  Loops<1> loops;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != *axis) loops.Add(shape[i], {strides[i]});
  }
  const ptrdiff_t extent = shape[*axis];
  const ptrdiff_t first = op.reverse && extent > 0 ? (extent - 1) * strides[*axis] : 0;
  const ptrdiff_t stride = op.reverse ? -strides[*axis] : strides[*axis];
  PreparedLayer prepared;
  prepared.routine = VisitType<int32_t, int64_t, float>(layer.output().type, [&](auto zero) {
    using T = decltype(zero);
    return RoutineOf([=, exclusive = op.exclusive](const RunArguments& arguments) {
      const T* const in = static_cast<const T*>(arguments.inputs[0]) + first;
      T* const out = static_cast<T*>(arguments.outputs[0]) + first;
      const ptrdiff_t step = loops.inner_strides()[0];
      loops.Run([&](const Loops<1>::Offsets& offsets) {
        for (ptrdiff_t i = 0; i < loops.inner_extent(); ++i) {
          const ptrdiff_t at = offsets[0] + i * step;
          Accumulate(in + at, out + at, extent, stride, exclusive);
        }
      });
    });
  });
  return prepared;
}

}  // namespace

constinit const OperatorRow Cumsum::kRow = {.name = "CUMSUM",
                                            .min_inputs = 1,
                                            .max_inputs = 1,
                                            .types = kInteger | kFloat,
                                            .infer = InferCumsum,
                                            .candidates = Candidate{"cumsum", PrepareCumsum}};

}  // namespace intaglio::nn
