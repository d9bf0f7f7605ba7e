// SCATTER_ND: updates added to zeros, where indices say.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// [count, depth] indices into the first `depth` dimensions.
struct Scatter {
  int64_t count = 1;
  std::vector<int64_t> extents;
  std::vector<ptrdiff_t> strides;  // elements
  int64_t slice = 1;               // elements that an index names
  size_t bytes = 0;                // of the output
};

template <class T>
Status Run(const Scatter& s, const int32_t* indices, const T* updates, T* out) {
  std::memset(out, 0, s.bytes);
  for (int64_t i = 0; i < s.count; ++i, updates += s.slice) {
    ptrdiff_t offset = 0;
    for (size_t d = 0; d < s.extents.size(); ++d) {
      const int64_t index = *indices++;
      if (index < 0 || index >= s.extents[d]) {
        return InvalidArgument("the index " + std::to_string(index) + " is not in [0, " +
                               std::to_string(s.extents[d]) + ")");
      }
      offset += static_cast<ptrdiff_t>(index) * s.strides[d];
    }
    for (int64_t k = 0; k < s.slice; ++k) {
      out[offset + k] = WrappingAdd(out[offset + k], updates[k]);
    }
  }
  return {};
}

ShapesResult InferScatterNd(const LayerView& layer) {
  const Shape& shape = layer.op<ScatterNd>().shape;
  const Shape& indices = layer.input(0).shape;
  const Shape& updates = layer.input(1).shape;
  const std::string error = "cannot scatter " + ToString(updates) + " by indices " +
                            ToString(indices) + " into " + ToString(shape);
  if (indices.empty() || indices.back() < 0 || !CountElements(shape).ok() ||
      std::cmp_greater(indices.back(), shape.size())) {
    return layer.Invalid(error);
  }
  Shape expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), shape.begin() + indices.back(), shape.end());
  if (updates != expected) return layer.Invalid(error);
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareScatterNd(const LayerView& layer, const LayerOptions&) {
  const Tensor& indices = layer.input(0);
  const Tensor& updates = layer.input(1);
  const Tensor& out = layer.output();
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, out, updates.type));
  const auto depth = static_cast<size_t>(indices.shape.back());
  const std::vector<ptrdiff_t> strides = DenseStrides(out.shape);
  Scatter s;
  s.bytes = *CountBytes(out.shape, out.type);
  const Result<int64_t> count = CountElements({indices.shape.begin(), indices.shape.end() - 1});
  if (!count.ok()) return layer.Wrap(count.status());
  s.count = *count;
  for (size_t i = 0; i < out.shape.size(); ++i) {
    if (i < depth) {
      s.extents.push_back(out.shape[i]);
      s.strides.push_back(strides[i]);
    } else {
      s.slice *= out.shape[i];
    }
  }
  PreparedLayer prepared;
  prepared.routine = VisitType<int8_t, uint8_t, int32_t, int64_t, float>(out.type, [&](auto zero) {
    using T = decltype(zero);
    return RoutineOf([s](const RunArguments& arguments) -> Status {
      return Run(s, static_cast<const int32_t*>(arguments.inputs[0]),
                 static_cast<const T*>(arguments.inputs[1]), static_cast<T*>(arguments.outputs[0]));
    });
  });
  if (prepared.routine != nullptr) return prepared;
  return layer.Unsupported(std::string("updates of ") + NameOf(out.type));
}

}  // namespace

constinit const OperatorRow ScatterNd::kRow = {
    .name = "SCATTER_ND",
    .min_inputs = 2,
    .max_inputs = 2,
    .types = SetOf(Type::kInt32),
    .infer = InferScatterNd,
    .candidates = Moves("scatter", PrepareScatterNd, 1),
    .remark = "the indices; updates int8, uint8, int32, int64, float32"};

}  // namespace intaglio::nn
