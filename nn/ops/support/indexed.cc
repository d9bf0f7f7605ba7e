#include "intaglio/nn/ops/support/indexed.h"

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// A copy of pieces of `bytes`, which lie anywhere in the input and `stride` apart in the output.
struct IndexedCopy {
  size_t bytes = 0;
  ptrdiff_t base = 0;                           // of the dimensions with one index alone
  std::vector<std::vector<ptrdiff_t>> offsets;  // bytes into the input; of the other dimensions
  std::vector<ptrdiff_t> pieces;                // of one index of each

  // By the dimension's indices [begin, end).
  void Run(size_t dimension, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride, const std::byte* in,
           std::byte* out) const {
    const ptrdiff_t step = pieces[dimension] * stride;
    const ptrdiff_t* const from = offsets[dimension].data();
    if (dimension + 1 == offsets.size()) {
      const size_t piece = bytes;  // which no copy can change
      for (ptrdiff_t i = begin; i < end; ++i) std::memcpy(out + i * step, in + from[i], piece);
      return;
    }
    const auto count = static_cast<ptrdiff_t>(offsets[dimension + 1].size());
    for (ptrdiff_t i = begin; i < end; ++i) {
      Run(dimension + 1, 0, count, stride, in + from[i], out + i * step);
    }
  }

  void Run(Context& context, ptrdiff_t stride, const std::byte* in, std::byte* out) const {
    if (offsets.empty()) {
      std::memcpy(out, in + base, bytes);
      return;
    }
    ForParts(context, static_cast<ptrdiff_t>(offsets[0].size()),
             kLeastBytesOfThread / (pieces[0] * static_cast<ptrdiff_t>(bytes)) + 1,
             [&](ptrdiff_t begin, ptrdiff_t end) { Run(0, begin, end, stride, in + base, out); });
  }
};

bool IsIdentity(const std::vector<int>& indices, int extent) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != static_cast<int>(i)) return false;
  }
  return indices.size() == static_cast<size_t>(extent);
}

}  // namespace

Result<PreparedLayer> PrepareIndexed(const LayerView& layer,
                                     const std::vector<std::vector<int>>& indices) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Shape& shape = layer.input(0).shape;
  const Type type = layer.output().type;
  const std::vector<ptrdiff_t> strides = DenseStrides(shape);
  // Innermost dimensions that are copied whole are one piece.
  size_t outer = shape.size();
  size_t bytes = SizeOf(type);
  while (outer > 0 && IsIdentity(indices[outer - 1], shape[outer - 1])) {
    bytes *= static_cast<size_t>(shape[--outer]);
  }
  IndexedCopy copy;
  copy.bytes = bytes;
  size_t constants = 0;
  ptrdiff_t pieces = 1;
  for (size_t i = outer; i-- > 0;) {
    std::vector<ptrdiff_t> offsets;
    offsets.reserve(indices[i].size());
    for (const int index : indices[i]) {
      offsets.push_back(index * strides[i] * static_cast<ptrdiff_t>(SizeOf(type)));
    }
    if (offsets.size() == 1) {
      copy.base += offsets[0];
      continue;
    }
    constants += offsets.size() * sizeof(ptrdiff_t);
    copy.pieces.insert(copy.pieces.begin(), pieces);
    pieces *= static_cast<ptrdiff_t>(offsets.size());
    copy.offsets.insert(copy.offsets.begin(), std::move(offsets));
  }
  PreparedLayer prepared;
  prepared.constant_bytes = constants;
  const bool by_lines = outer + 1 == shape.size();  // pieces are lines of the last dimension
  prepared.strides_output = by_lines;
  const bool empty = *CountElements(layer.output().shape) == 0;
  prepared.routine = RoutineOf([=, copy = std::move(copy)](const RunArguments& arguments) {
    if (empty) return;
    copy.Run(arguments.context,
             by_lines ? arguments.output_stride : static_cast<ptrdiff_t>(copy.bytes),
             static_cast<const std::byte*>(arguments.inputs[0]),
             static_cast<std::byte*>(arguments.outputs[0]));
  });
  return prepared;
}

}  // namespace intaglio::nn
