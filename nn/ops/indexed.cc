#include "intaglio/nn/ops/indexed.h"

#include <cstddef>
#include <cstring>
#include <string>

#include "intaglio/nn/ops/checks.h"
#include "intaglio/nn/ops/loops.h"
#include "intaglio/nn/ops/routine.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

// Byte offsets into the input, per dimension.
using Offsets = std::vector<std::vector<ptrdiff_t>>;

// Copies pieces of `bytes`, which lie `stride` apart in the output.
std::byte* Copy(const Offsets& offsets, size_t dimension, size_t bytes, ptrdiff_t stride,
                const std::byte* in, std::byte* out) {
  if (dimension == offsets.size()) {
    std::memcpy(out, in, bytes);
    return out + stride;
  }
  for (const ptrdiff_t offset : offsets[dimension]) {
    out = Copy(offsets, dimension + 1, bytes, stride, in + offset, out);
  }
  return out;
}

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
  Offsets offsets(outer);
  size_t constants = 0;
  for (size_t i = 0; i < outer; ++i) {
    for (const int index : indices[i]) {
      offsets[i].push_back(index * strides[i] * static_cast<ptrdiff_t>(SizeOf(type)));
    }
    constants += offsets[i].size() * sizeof(ptrdiff_t);
  }
  PreparedLayer prepared;
  prepared.name = RoutineName(type, "copy");
  prepared.constant_bytes = constants;
  const bool by_lines = outer + 1 == shape.size();  // pieces are lines of the last dimension
  prepared.strides_output = by_lines;
  const bool empty = *CountElements(layer.output().shape) == 0;
  prepared.routine = RoutineOf([=, offsets = std::move(offsets)](const RunArguments& arguments) {
    if (empty) return;
    Copy(offsets, 0, bytes, by_lines ? arguments.output_stride : static_cast<ptrdiff_t>(bytes),
         static_cast<const std::byte*>(arguments.inputs[0]),
         static_cast<std::byte*>(arguments.outputs[0]));
  });
  return prepared;
}

}  // namespace intaglio::nn
