// GATHER, GATHER_ND, EMBEDDING_LOOKUP: pieces of a tensor at places that another tensor names. An
// index that does not exist ends the run with an error before anything is read there.
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/indices.h"
#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// The extents of a gathering as loops: [batch, outer, axis, inner] and [batch, indices].
struct GatherSizes {
  int64_t batch = 1;
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t indices = 1;
  size_t bytes = 1;  // of a piece
  bool from_end = false;
};

struct GatherAxes {
  size_t axis = 0;
  size_t batch_dims = 0;
};

Result<GatherAxes> AxesOfGather(const LayerView& layer) {
  const Gather& op = layer.op<Gather>();
  const Shape& x = layer.input(0).shape;
  const Shape& indices = layer.input(1).shape;
  const Result<size_t> axis = AxisOf(layer, op.axis, x.size());
  if (!axis.ok()) return axis.status();
  const int rank = static_cast<int>(indices.size());
  const int batch = op.batch_dims < 0 ? op.batch_dims + rank : op.batch_dims;
  bool valid = batch >= 0 && batch <= rank && static_cast<size_t>(batch) <= *axis;
  for (int i = 0; valid && i < batch; ++i) {
    valid = x[static_cast<size_t>(i)] == indices[static_cast<size_t>(i)];
  }
  if (valid) return GatherAxes{*axis, static_cast<size_t>(batch)};
  return layer.Invalid("cannot gather along axis " + std::to_string(op.axis) + " of " +
                       ToString(x) + " by indices " + ToString(indices) + " with " +
                       std::to_string(op.batch_dims) + " common dimensions");
}

int64_t Product(const Shape& shape, size_t begin, size_t end) {
  return *CountElements(Shape(shape.begin() + static_cast<ptrdiff_t>(begin),
                              shape.begin() + static_cast<ptrdiff_t>(end)));
}

template <class Index>
Status RunGather(const GatherSizes& s, const std::byte* x, const Index* indices, std::byte* out) {
  if (s.bytes == 0) return {};
  for (int64_t b = 0; b < s.batch; ++b, indices += s.indices) {
    for (int64_t i = 0; i < s.indices; ++i) {
      if (!Exists(PlaceOf(indices[i], s.extent, s.from_end), s.extent)) {
        return NoSuchIndex(indices[i], s.extent, s.from_end);
      }
    }
    for (int64_t o = 0; o < s.outer; ++o) {
      for (int64_t i = 0; i < s.indices; ++i, out += s.bytes) {
        const int64_t place = PlaceOf(indices[i], s.extent, s.from_end);
        std::memcpy(out, x + static_cast<size_t>(place) * s.bytes, s.bytes);
      }
      x += static_cast<size_t>(s.extent) * s.bytes;
    }
  }
  return {};
}

// [batch, count, depth] indices into `depth` dimensions behind those of the batch.
struct NdSizes {
  int64_t batch = 1;
  int64_t count = 1;
  Shape extents;
  std::vector<ptrdiff_t> strides;  // bytes
  size_t bytes = 1;                // of a piece
  size_t batch_bytes = 1;          // of x
  bool from_end = false;
};

template <class Index>
Status RunGatherNd(const NdSizes& s, const std::byte* x, const Index* indices, std::byte* out) {
  if (s.bytes == 0) return {};
  for (int64_t i = 0; i < s.batch * s.count; ++i, out += s.bytes) {
    if (i != 0 && i % s.count == 0) x += s.batch_bytes;
    ptrdiff_t offset = 0;
    for (size_t d = 0; d < s.extents.size(); ++d) {
      const int64_t index = *indices++;
      const int64_t place = PlaceOf(index, s.extents[d], s.from_end);
      if (!Exists(place, s.extents[d])) return NoSuchIndex(index, s.extents[d], s.from_end);
      offset += static_cast<ptrdiff_t>(place) * s.strides[d];
    }
    std::memcpy(out, x + offset, s.bytes);
  }
  return {};
}

// Rows of numbers with zero point 0 as real numbers.
struct Embedding {
  int64_t lookups = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<float> scales;  // one, or one per row
};

template <class T>
Status RunEmbedding(const Embedding& e, const int32_t* indices, const T* rows, float* out) {
  for (int64_t i = 0; i < e.lookups; ++i) {
    const int64_t row = indices[i];
    if (row < 0 || row >= e.rows) return NoSuchIndex(row, e.rows);
    const float scale = e.scales[e.scales.size() == 1 ? 0 : static_cast<size_t>(row)];
    const T* const from = rows + row * e.columns;
    for (int64_t c = 0; c < e.columns; ++c) *out++ = static_cast<float>(from[c]) * scale;
  }
  return {};
}

Embedding SizesOfLookup(const LayerView& layer) {
  const Shape& rows = layer.input(1).shape;
  Embedding sizes;
  sizes.lookups = layer.input(0).shape[0];
  sizes.rows = rows[0];
  sizes.columns = Product(rows, 1, rows.size());
  return sizes;
}

const char* DoesNotDequantize(const LayerView& layer, const LayerOptions&) {
  const Type to = layer.output().type;
  return to == Type::kFloat32 && layer.input(1).type != to ? nullptr
                                                           : "the rows stay what they are";
}

Result<PreparedLayer> PrepareDequantizingLookup(const LayerView& layer, const LayerOptions&) {
  const Tensor& rows = layer.input(1);
  Embedding e = SizesOfLookup(layer);
  e.scales = rows.quantization.scales;
  bool valid = !e.scales.empty();
  if (rows.quantization.per_axis()) {
    valid = rows.quantization.axis == 0 && e.scales.size() == static_cast<size_t>(e.rows);
  }
  for (const int32_t zero_point : rows.quantization.zero_points) {
    valid = valid && zero_point == 0;
  }
  if (!valid) {
    return layer.Unsupported(
        "rows quantized otherwise than with zero point 0 and one scale for "
        "all or one for each");
  }
  PreparedLayer prepared;
  prepared.routine = VisitType<int8_t, uint8_t>(rows.type, [&](auto zero) {
    using T = decltype(zero);
    return RoutineOf([e](const RunArguments& arguments) {
      return RunEmbedding(e, static_cast<const int32_t*>(arguments.inputs[0]),
                          static_cast<const T*>(arguments.inputs[1]),
                          static_cast<float*>(arguments.outputs[0]));
    });
  });
  if (prepared.routine != nullptr) return prepared;
  return layer.Unsupported(std::string("rows of ") + NameOf(rows.type) + " for a float32 output");
}

ShapesResult InferGather(const LayerView& layer) {
  const Result<GatherAxes> axes = AxesOfGather(layer);
  if (!axes.ok()) return axes.status();
  Shape shape = layer.input(0).shape;
  const Shape& indices = layer.input(1).shape;
  const auto place = shape.erase(shape.begin() + static_cast<ptrdiff_t>(axes->axis));
  shape.insert(place, indices.begin() + static_cast<ptrdiff_t>(axes->batch_dims), indices.end());
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareGather(const LayerView& layer, const LayerOptions&) {
  const Tensor& x = layer.input(0);
  const Tensor& indices = layer.input(1);
  const Result<GatherAxes> axes = AxesOfGather(layer);
  if (!axes.ok()) return axes.status();
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, x, layer.output().type));
  INTAGLIO_RETURN_IF_ERROR(CheckIndexType(layer, indices.type));
  GatherSizes sizes;
  sizes.from_end = layer.op<Gather>().from_end;
  sizes.batch = Product(x.shape, 0, axes->batch_dims);
  sizes.outer = Product(x.shape, axes->batch_dims, axes->axis);
  sizes.extent = x.shape[axes->axis];
  sizes.indices = Product(indices.shape, axes->batch_dims, indices.shape.size());
  sizes.bytes =
      static_cast<size_t>(Product(x.shape, axes->axis + 1, x.shape.size())) * SizeOf(x.type);
  PreparedLayer prepared;
  prepared.routine = VisitType<int16_t, int32_t, int64_t>(indices.type, [&](auto zero) {
    using Index = decltype(zero);
    return RoutineOf([sizes](const RunArguments& arguments) -> Status {
      return RunGather(sizes, static_cast<const std::byte*>(arguments.inputs[0]),
                       static_cast<const Index*>(arguments.inputs[1]),
                       static_cast<std::byte*>(arguments.outputs[0]));
    });
  });
  return prepared;
}

ShapesResult InferGatherNd(const LayerView& layer) {
  const Shape& x = layer.input(0).shape;
  const Shape& indices = layer.input(1).shape;
  const int batch = layer.op<GatherNd>().batch_dims;
  bool valid = !indices.empty() && !x.empty() && batch >= 0 &&
               std::cmp_less(batch, indices.size()) &&
               std::cmp_less_equal(int64_t{indices.back()} + batch, x.size());
  for (size_t i = 0; valid && std::cmp_less(i, batch); ++i) valid = x[i] == indices[i];
  if (!valid) {
    return layer.Invalid("the indices " + ToString(indices) + " do not name places in " +
                         ToString(x) + " with " + std::to_string(batch) + " common dimensions");
  }
  Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), x.begin() + batch + indices.back(), x.end());
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareGatherNd(const LayerView& layer, const LayerOptions&) {
  const Tensor& x = layer.input(0);
  const Tensor& indices = layer.input(1);
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, x, layer.output().type));
  INTAGLIO_RETURN_IF_ERROR(CheckIndexType(layer, indices.type));
  const auto batch_dims = static_cast<size_t>(layer.op<GatherNd>().batch_dims);
  const size_t end = batch_dims + static_cast<size_t>(indices.shape.back());
  NdSizes sizes;
  sizes.from_end = layer.op<GatherNd>().from_end;
  sizes.batch = Product(indices.shape, 0, batch_dims);
  sizes.count = Product(indices.shape, batch_dims, indices.shape.size() - 1);
  const auto bytes_from = [&](size_t axis) {
    return static_cast<size_t>(Product(x.shape, axis, x.shape.size())) * SizeOf(x.type);
  };
  sizes.bytes = bytes_from(end);
  sizes.batch_bytes = bytes_from(batch_dims);
  sizes.extents.assign(x.shape.begin() + static_cast<ptrdiff_t>(batch_dims),
                       x.shape.begin() + static_cast<ptrdiff_t>(end));
  const std::vector<ptrdiff_t> strides = DenseStrides(x.shape);
  for (size_t i = batch_dims; i < end; ++i) {
    sizes.strides.push_back(strides[i] * static_cast<ptrdiff_t>(SizeOf(x.type)));
  }
  PreparedLayer prepared;
  prepared.routine = VisitType<int16_t, int32_t, int64_t>(indices.type, [&](auto zero) {
    using Index = decltype(zero);
    return RoutineOf([sizes](const RunArguments& arguments) -> Status {
      return RunGatherNd(sizes, static_cast<const std::byte*>(arguments.inputs[0]),
                         static_cast<const Index*>(arguments.inputs[1]),
                         static_cast<std::byte*>(arguments.outputs[0]));
    });
  });
  return prepared;
}

ShapesResult InferEmbeddingLookup(const LayerView& layer) {
  Shape shape = layer.input(1).shape;
  if (layer.input(0).shape.size() != 1 || shape.size() < 2) {
    return layer.Invalid("the indices have the shape " + ToString(layer.input(0).shape) +
                         " and the rows " + ToString(shape) + ", not [N] and [R, ...]");
  }
  shape[0] = layer.input(0).shape[0];
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PrepareEmbeddingLookup(const LayerView& layer, const LayerOptions&) {
  const Tensor& rows = layer.input(1);
  const Embedding sizes = SizesOfLookup(layer);
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, rows, layer.output().type));
  const GatherSizes s{1, 1, sizes.rows, sizes.lookups,
                      static_cast<size_t>(sizes.columns) * SizeOf(rows.type)};
  PreparedLayer prepared;
  prepared.routine = RoutineOf([s](const RunArguments& arguments) -> Status {
    return RunGather(s, static_cast<const std::byte*>(arguments.inputs[1]),
                     static_cast<const int32_t*>(arguments.inputs[0]),
                     static_cast<std::byte*>(arguments.outputs[0]));
  });
  return prepared;
}

constexpr Candidate kLookupWays[] = {{.algorithm = "lookup",
                                      .prepare = PrepareDequantizingLookup,
                                      .why_not = DoesNotDequantize,
                                      .typed_input = 1},
                                     Moves("gather", PrepareEmbeddingLookup, 1)};

}  // namespace

constinit const OperatorRow Gather::kRow = {.name = "GATHER",
                                            .min_inputs = 2,
                                            .max_inputs = 2,
                                            .types = kAnyType,
                                            .infer = InferGather,
                                            .candidates = Moves("gather", PrepareGather),
                                            .remark = "indices int16, int32, int64"};

constinit const OperatorRow GatherNd::kRow = {.name = "GATHER_ND",
                                              .min_inputs = 2,
                                              .max_inputs = 2,
                                              .types = kAnyType,
                                              .infer = InferGatherNd,
                                              .candidates = Moves("gather", PrepareGatherNd),
                                              .remark = "indices int16, int32, int64"};

constinit const OperatorRow EmbeddingLookup::kRow = {
    .name = "EMBEDDING_LOOKUP",
    .min_inputs = 2,
    .max_inputs = 2,
    .types = SetOf(Type::kInt32),
    .infer = InferEmbeddingLookup,
    .candidates = kLookupWays,
    .remark = "the indices; rows of any type, or int8 and uint8 to float32"};

}  // namespace intaglio::nn
