// SPLIT, SPLIT_V, UNPACK, PACK: tensors as parts of one along an axis.
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

// The parts that SPLIT, SPLIT_V and UNPACK take along an axis, by their extents.
std::vector<Part> PartsAlong(const Shape& shape, size_t axis, const std::vector<int>& extents) {
  std::vector<Part> parts;
  int begin = 0;
  for (const int extent : extents) {
    parts.push_back(PartAlong(shape, axis, begin, extent));
    begin += extent;
  }
  return parts;
}

ShapesResult ShapesOf(const Result<std::vector<Part>>& parts) {
  if (!parts.ok()) return parts.status();
  std::vector<Shape> shapes;
  for (const Part& part : *parts) shapes.push_back(part.shape);
  return shapes;
}

Result<PreparedLayer> PrepareParts(const LayerView& layer, const Result<std::vector<Part>>& parts) {
  if (!parts.ok()) return parts.status();
  std::vector<Move> moves;
  for (size_t i = 0; i < parts->size(); ++i) {
    moves.push_back(Take(layer.input(0).shape, (*parts)[i]));
    moves.back().output = i;
  }
  return PrepareMoves(layer, std::move(moves));
}

Result<std::vector<Part>> SplitParts(const LayerView& layer) {
  const Split& op = layer.op<Split>();
  const Shape& shape = layer.input(0).shape;
  const Result<size_t> axis = AxisOf(layer, op.axis, shape.size());
  if (!axis.ok()) return axis.status();
  if (op.count < 1 || shape[*axis] % op.count != 0 ||
      static_cast<size_t>(op.count) != layer.layer().outputs.size()) {
    return layer.Invalid("cannot split dimension " + std::to_string(*axis) + " of " +
                         ToString(shape) + " into " + std::to_string(op.count) + " for " +
                         std::to_string(layer.layer().outputs.size()) + " outputs");
  }
  const auto count = static_cast<size_t>(op.count);
  return PartsAlong(shape, *axis, std::vector<int>(count, shape[*axis] / op.count));
}

Result<std::vector<Part>> SplitVParts(const LayerView& layer) {
  const Shape& shape = layer.input(0).shape;
  const Result<size_t> axis = AxisOf(layer, layer.op<SplitV>().axis, shape.size());
  if (!axis.ok()) return axis.status();
  std::vector<int> sizes = layer.op<SplitV>().sizes;
  int* open = nullptr;
  int64_t sum = 0;
  bool valid = sizes.size() == layer.layer().outputs.size() && !sizes.empty();
  for (int& size : sizes) {
    if (size >= 0) {
      sum += size;
    } else {
      valid = valid && size == -1 && open == nullptr;
      open = &size;
    }
  }
  if (open != nullptr) *open = static_cast<int>(std::max<int64_t>(0, shape[*axis] - sum));
  if (!valid || (open == nullptr ? sum != shape[*axis] : sum > shape[*axis])) {
    return layer.Invalid("cannot split dimension " + std::to_string(*axis) + " of " +
                         ToString(shape) + " into " + ToString(layer.op<SplitV>().sizes) + " for " +
                         std::to_string(layer.layer().outputs.size()) + " outputs");
  }
  return PartsAlong(shape, *axis, sizes);
}

Result<size_t> UnpackAxis(const LayerView& layer) {
  const Unpack& op = layer.op<Unpack>();
  const Shape& shape = layer.input(0).shape;
  const Result<size_t> axis = AxisOf(layer, op.axis, shape.size());
  if (!axis.ok()) return axis.status();
  if (op.count != shape[*axis] || op.count < 1 ||
      static_cast<size_t>(op.count) != layer.layer().outputs.size()) {
    return layer.Invalid("unpacks dimension " + std::to_string(*axis) + " of " + ToString(shape) +
                         " into " + std::to_string(op.count) + " for " +
                         std::to_string(layer.layer().outputs.size()) + " outputs");
  }
  return *axis;
}

ShapesResult InferSplit(const LayerView& layer) { return ShapesOf(SplitParts(layer)); }

ShapesResult InferSplitV(const LayerView& layer) { return ShapesOf(SplitVParts(layer)); }

Result<PreparedLayer> PrepareSplit(const LayerView& layer, const LayerOptions&) {
  return PrepareParts(layer, SplitParts(layer));
}

Result<PreparedLayer> PrepareSplitV(const LayerView& layer, const LayerOptions&) {
  return PrepareParts(layer, SplitVParts(layer));
}

ShapesResult InferUnpack(const LayerView& layer) {
  const Result<size_t> axis = UnpackAxis(layer);
  if (!axis.ok()) return axis.status();
  Shape shape = layer.input(0).shape;
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(*axis));
  return std::vector<Shape>(layer.layer().outputs.size(), shape);
}

Result<PreparedLayer> PrepareUnpack(const LayerView& layer, const LayerOptions&) {
  const Result<size_t> axis = UnpackAxis(layer);
  if (!axis.ok()) return axis.status();
  const std::vector<int> ones(layer.layer().outputs.size(), 1);
  return PrepareParts(layer, PartsAlong(layer.input(0).shape, *axis, ones));
}

ShapesResult InferPack(const LayerView& layer) {
  Shape shape = layer.input(0).shape;
  const Result<size_t> axis = AxisOf(layer, layer.op<Pack>().axis, shape.size() + 1);
  if (!axis.ok()) return axis.status();
  for (size_t i = 1; i < layer.input_count(); ++i) {
    if (layer.has_input(i) && layer.input(i).shape == shape) continue;
    return layer.Invalid("input " + std::to_string(i) + " has not the shape of input 0, " +
                         ToString(shape));
  }
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(*axis),
               static_cast<int>(layer.input_count()));
  return std::vector<Shape>{shape};
}

Result<PreparedLayer> PreparePack(const LayerView& layer, const LayerOptions&) {
  const Shape& shape = layer.output().shape;
  const Result<size_t> axis = AxisOf(layer, layer.op<Pack>().axis, shape.size());
  if (!axis.ok()) return axis.status();
  std::vector<Move> moves;
  for (size_t i = 0; i < layer.input_count(); ++i) {
    moves.push_back(Put(shape, PartAlong(shape, *axis, static_cast<int>(i), 1)));
    moves.back().input = i;
  }
  return PrepareMoves(layer, std::move(moves));
}

}  // namespace

constinit const OperatorRow Split::kRow = {.name = "SPLIT",
                                           .min_inputs = 1,
                                           .max_inputs = 1,
                                           .types = kAnyType,
                                           .infer = InferSplit,
                                           .candidates = Moves("copy", PrepareSplit)};

constinit const OperatorRow SplitV::kRow = {.name = "SPLIT_V",
                                            .min_inputs = 1,
                                            .max_inputs = 1,
                                            .types = kAnyType,
                                            .infer = InferSplitV,
                                            .candidates = Moves("copy", PrepareSplitV)};

constinit const OperatorRow Pack::kRow = {.name = "PACK",
                                          .min_inputs = 1,
                                          .max_inputs = kMany,
                                          .types = kAnyType,
                                          .infer = InferPack,
                                          .candidates = Moves("copy", PreparePack)};

constinit const OperatorRow Unpack::kRow = {.name = "UNPACK",
                                            .min_inputs = 1,
                                            .max_inputs = 1,
                                            .types = kAnyType,
                                            .infer = InferUnpack,
                                            .candidates = Moves("copy", PrepareUnpack)};

}  // namespace intaglio::nn
