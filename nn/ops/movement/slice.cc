// SLICE, STRIDED_SLICE, REVERSE_V2: a part of a tensor.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "intaglio/nn/ops/movement/operators.h"
#include "intaglio/nn/ops/movement/parts.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/moves.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

Result<Part> SlicePart(const LayerView& layer) {
  const nn::Slice& op = layer.op<nn::Slice>();
  const Shape& shape = layer.input(0).shape;
  if (op.begin.size() != shape.size() || op.size.size() != shape.size()) {
    return layer.Invalid("has " + std::to_string(op.begin.size()) + " begins and " +
                         std::to_string(op.size.size()) + " sizes for the shape " +
                         ToString(shape));
  }
  Part part{op.begin, std::vector<int>(shape.size(), 1), op.size};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (op.size[i] == -1) part.shape[i] = shape[i] - std::max(op.begin[i], 0);
    if (op.begin[i] < 0 || part.shape[i] < 0 ||
        int64_t{op.begin[i]} + part.shape[i] > int64_t{shape[i]}) {
      return layer.Invalid("there are no " + std::to_string(op.size[i]) + " elements from " +
                           std::to_string(op.begin[i]) + " on in dimension " + std::to_string(i) +
                           " of " + ToString(shape));
    }
  }
  return part;
}

bool Bit(uint32_t mask, size_t i) { return (mask >> i & 1) != 0; }

// One dimension of x under a triple (begin, end, stride).
struct Triple {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t stride = 1;
  bool has_begin = false;
  bool has_end = false;
  bool shrink = false;
  bool relative = false;  // the end counts from where the begin is, whether it has one or not
};

// The entries with the ellipsis written out: a triple per dimension of x; and where new axes stand
// among the dimensions that are left.
struct Expanded {
  std::vector<Triple> triples;
  std::vector<bool> is_new;  // per output dimension, those that shrink included
};

Result<Expanded> Expand(const LayerView& layer) {
  const nn::StridedSlice& op = layer.op<nn::StridedSlice>();
  const size_t entries = op.begin.size();
  const size_t rank = layer.input(0).shape.size();
  if (op.end.size() != entries || op.strides.size() != entries || entries > 32) {
    return layer.Invalid("has " + std::to_string(entries) + " begins, " +
                         std::to_string(op.end.size()) + " ends and " +
                         std::to_string(op.strides.size()) + " strides");
  }
  size_t named = 0;  // dimensions of x that entries name
  size_t ellipses = 0;
  for (size_t i = 0; i < entries; ++i) {
    const bool ellipsis = Bit(op.ellipsis_mask, i);
    ellipses += ellipsis ? 1 : 0;
    named += ellipsis || Bit(op.new_axis_mask, i) ? 0 : 1;
  }
  if (named > rank || ellipses > 1) {
    return layer.Invalid("names " + std::to_string(named) + " dimensions and " +
                         std::to_string(ellipses) + " ellipses for the shape " +
                         ToString(layer.input(0).shape));
  }
  Expanded expanded;
  const auto whole = [&](size_t count) {
    expanded.triples.insert(expanded.triples.end(), count, Triple());
    expanded.is_new.insert(expanded.is_new.end(), count, false);
  };
  for (size_t i = 0; i < entries; ++i) {
    if (Bit(op.ellipsis_mask, i)) {
      whole(rank - named);
    } else if (Bit(op.new_axis_mask, i)) {
      expanded.is_new.push_back(true);
    } else {
      const bool shrink = Bit(op.shrink_axis_mask, i);
      expanded.triples.push_back({op.begin[i], op.end[i], op.strides[i], !Bit(op.begin_mask, i),
                                  !Bit(op.end_mask, i), shrink, op.offset});
      expanded.is_new.push_back(false);
    }
  }
  whole(rank - expanded.triples.size());
  return expanded;
}

// Where a bound that the triple gives lies in [low, high], negative ones counting from the end.
int64_t Bound(int64_t bound, int64_t extent, int64_t low, int64_t high) {
  return std::clamp(bound < 0 ? bound + extent : bound, low, high);
}

Status Place(const LayerView& layer, size_t dimension, const Triple& t, Part& part) {
  const int64_t extent = layer.input(0).shape[dimension];
  if (t.stride == 0) {
    return layer.Invalid("the stride of dimension " + std::to_string(dimension) + " is 0");
  }
  const bool forward = t.stride > 0;
  const int64_t low = forward ? 0 : -1;
  const int64_t high = forward ? extent : extent - 1;
  const int64_t begin =
      t.has_begin ? Bound(t.begin, extent, low, high) : (forward ? 0 : extent - 1);
  if (t.shrink) {
    if (!forward || begin >= extent || begin < 0) {
      return layer.Invalid("dimension " + std::to_string(dimension) + " of " +
                           ToString(layer.input(0).shape) + " has no index " +
                           std::to_string(t.begin));
    }
    part.begin[dimension] = static_cast<int>(begin);
    part.shape[dimension] = 1;
    return {};
  }
  int64_t end = t.has_end ? Bound(t.end, extent, low, high) : (forward ? extent : -1);
  if (t.relative) end = std::clamp(begin + t.end, low, high);
  const int64_t span = forward ? end - begin : begin - end;
  const int64_t stride = forward ? t.stride : -t.stride;
  const int64_t count = span <= 0 ? 0 : (span - 1) / stride + 1;
  part.begin[dimension] = static_cast<int>(count == 0 ? 0 : begin);
  part.step[dimension] = static_cast<int>(count <= 1 ? 1 : t.stride);
  part.shape[dimension] = static_cast<int>(count);
  return {};
}

struct Strided {
  Part part;
  Shape shape;  // of the output: without what shrinks, with what is new
};

Result<Strided> StridedPart(const LayerView& layer) {
  const Result<Expanded> expanded = Expand(layer);
  if (!expanded.ok()) return expanded.status();
  Strided strided;
  const Shape& shape = layer.input(0).shape;
  strided.part = {std::vector<int>(shape.size(), 0), std::vector<int>(shape.size(), 1), shape};
  size_t dimension = 0;
  for (const bool is_new : expanded->is_new) {
    if (is_new) {
      strided.shape.push_back(1);
      continue;
    }
    const Triple& triple = expanded->triples[dimension];
    INTAGLIO_RETURN_IF_ERROR(Place(layer, dimension, triple, strided.part));
    if (!triple.shrink) strided.shape.push_back(strided.part.shape[dimension]);
    ++dimension;
  }
  return strided;
}

Result<Part> ReversedPart(const LayerView& layer) {
  const Result<std::vector<bool>> reversed = AxesOf(layer, layer.op<Reverse>().axes);
  if (!reversed.ok()) return reversed.status();
  const Shape& shape = layer.input(0).shape;
  Part part{std::vector<int>(shape.size(), 0), std::vector<int>(shape.size(), 1), shape};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!(*reversed)[i]) continue;
    part.begin[i] = std::max(shape[i], 1) - 1;
    part.step[i] = -1;
  }
  return part;
}

}  // namespace

Result<Part> PartOf(const LayerView& layer) {
  const Operator& op = layer.layer().op;
  if (op.Is<nn::Slice>()) return SlicePart(layer);
  if (op.Is<Reverse>()) return ReversedPart(layer);
  Result<Strided> strided = StridedPart(layer);
  if (!strided.ok()) return strided.status();
  return std::move(strided->part);
}

namespace {

ShapesResult InferSlice(const LayerView& layer) {
  Result<Part> part = SlicePart(layer);
  if (!part.ok()) return part.status();
  return std::vector<Shape>{std::move(part->shape)};
}

ShapesResult InferStridedSlice(const LayerView& layer) {
  Result<Strided> strided = StridedPart(layer);
  if (!strided.ok()) return strided.status();
  return std::vector<Shape>{std::move(strided->shape)};
}

Result<PreparedLayer> PrepareTake(const LayerView& layer, const LayerOptions&) {
  const Result<Part> part = PartOf(layer);
  if (!part.ok()) return part.status();
  return PrepareMoves(layer, {Take(layer.input(0).shape, *part)});
}

ShapesResult InferReverse(const LayerView& layer) {
  const Result<std::vector<bool>> reversed = AxesOf(layer, layer.op<Reverse>().axes);
  if (!reversed.ok()) return reversed.status();
  return std::vector<Shape>{layer.input(0).shape};
}

}  // namespace

constinit const OperatorRow Slice::kRow = {.name = "SLICE",
                                           .min_inputs = 1,
                                           .max_inputs = 1,
                                           .types = kAnyType,
                                           .infer = InferSlice,
                                           .candidates = Moves("copy", PrepareTake)};

constinit const OperatorRow StridedSlice::kRow = {.name = "STRIDED_SLICE",
                                                  .min_inputs = 1,
                                                  .max_inputs = 1,
                                                  .types = kAnyType,
                                                  .infer = InferStridedSlice,
                                                  .candidates = Moves("copy", PrepareTake)};

constinit const OperatorRow Reverse::kRow = {.name = "REVERSE_V2",
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .types = kAnyType,
                                             .infer = InferReverse,
                                             .candidates = Moves("copy", PrepareTake)};

}  // namespace intaglio::nn
