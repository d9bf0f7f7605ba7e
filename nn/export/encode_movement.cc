// Operators that put elements elsewhere. The order of constants among the inputs is the format's.
#include <utility>

#include "intaglio/nn/export/encode.h"

namespace intaglio::nn {
namespace {

int32_t Bits(uint32_t mask) { return static_cast<int32_t>(mask); }

Status Append(Encoding& e, TensorId constant) {
  e.AppendInput(constant);
  return {};
}

}  // namespace

Status Encode(const Pad& op, Encoding& e) {
  e.AppendInput(e.Pairs("paddings", op.paddings));
  if (!op.has_value) return {};
  e.set_code_name("PADV2");
  return Append(e, e.NumberLike("value", e.layer().input(0), op.value));
}

Status Encode(const MirrorPad& op, Encoding& e) {
  e.SetOptions(tflite::CreateMirrorPadOptions(e.builder(), op.symmetric
                                                               ? tflite::MirrorPadMode::SYMMETRIC
                                                               : tflite::MirrorPadMode::REFLECT));
  return Append(e, e.Pairs("paddings", op.paddings));
}

// A scalar's shape stands in the options only: a tensor without elements has no data, and other
// runtimes would take it for one that is not constant.
Status Encode(const Reshape& op, Encoding& e) {
  e.SetOptions(tflite::CreateReshapeOptions(e.builder(), e.builder().CreateVector(op.shape)));
  if (op.shape.empty()) return {};
  return Append(e, e.Ints("shape", op.shape));
}

Status Encode(const Squeeze& op, Encoding& e) {
  e.SetOptions(tflite::CreateSqueezeOptions(e.builder(), e.builder().CreateVector(op.axes)));
  return {};
}

Status Encode(const Split& op, Encoding& e) {
  e.SetOptions(tflite::CreateSplitOptions(e.builder(), op.count));
  e.InsertInput(0, e.Int("axis", op.axis));
  return {};
}

Status Encode(const SplitV& op, Encoding& e) {
  e.SetOptions(tflite::CreateSplitVOptions(e.builder(), static_cast<int>(op.sizes.size())));
  e.AppendInput(e.Ints("sizes", op.sizes));
  return Append(e, e.Int("axis", op.axis));
}

Status Encode(const Pack& op, Encoding& e) {
  const auto count = static_cast<int>(e.inputs().size());
  e.SetOptions(tflite::CreatePackOptions(e.builder(), count, op.axis));
  return {};
}

Status Encode(const Unpack& op, Encoding& e) {
  e.SetOptions(tflite::CreateUnpackOptions(e.builder(), op.count, op.axis));
  return {};
}

Status Encode(const Slice& op, Encoding& e) {
  e.AppendInput(e.Ints("begin", op.begin));
  return Append(e, e.Ints("size", op.size));
}

Status Encode(const ScatterNd& op, Encoding& e) { return Append(e, e.Ints("shape", op.shape)); }

Status Encode(const StridedSlice& op, Encoding& e) {
  e.SetOptions(tflite::CreateStridedSliceOptions(
      e.builder(), Bits(op.begin_mask), Bits(op.end_mask), Bits(op.ellipsis_mask),
      Bits(op.new_axis_mask), Bits(op.shrink_axis_mask), op.offset));
  e.AppendInput(e.Ints("begin", op.begin));
  e.AppendInput(e.Ints("end", op.end));
  return Append(e, e.Ints("strides", op.strides));
}

Status Encode(const Gather& op, Encoding& e) {
  e.SetOptions(tflite::CreateGatherOptions(e.builder(), op.axis, op.batch_dims));
  return {};
}

Status Encode(const Fill& op, Encoding& e) {
  e.InsertInput(0, e.Ints("shape", op.shape));
  return {};
}

Status Encode(const ShapeOf&, Encoding& e) {
  e.SetOptions(tflite::CreateShapeOptions(e.builder(), ToTflite(e.layer().output().type)));
  return {};
}

Status Encode(const OneHot& op, Encoding& e) {
  e.SetOptions(tflite::CreateOneHotOptions(e.builder(), op.axis));
  e.InsertInput(1, e.Int("depth", op.depth));
  return {};
}

Status Encode(const ResizeBilinear& op, Encoding& e) {
  e.SetOptions(tflite::CreateResizeBilinearOptions(e.builder(), 0, 0, op.align_corners,
                                                   op.half_pixel_centers));
  return Append(e, e.Ints("size", {op.height, op.width}));
}

Status Encode(const ResizeNearestNeighbor& op, Encoding& e) {
  e.SetOptions(tflite::CreateResizeNearestNeighborOptions(e.builder(), op.align_corners,
                                                          op.half_pixel_centers));
  return Append(e, e.Ints("size", {op.height, op.width}));
}

Status Encode(const SpaceToDepth& op, Encoding& e) {
  e.SetOptions(tflite::CreateSpaceToDepthOptions(e.builder(), op.block));
  return {};
}

Status Encode(const DepthToSpace& op, Encoding& e) {
  e.SetOptions(tflite::CreateDepthToSpaceOptions(e.builder(), op.block));
  return {};
}

Status Encode(const SpaceToBatch& op, Encoding& e) {
  e.AppendInput(e.Ints("block", op.block));
  return Append(e, e.Pairs("paddings", op.paddings));
}

Status Encode(const BatchToSpace& op, Encoding& e) {
  e.AppendInput(e.Ints("block", op.block));
  return Append(e, e.Pairs("crops", op.crops));
}

Status Encode(const ArgMax& op, Encoding& e) {
  e.SetOptions(tflite::CreateArgMaxOptions(e.builder(), ToTflite(e.layer().output().type)));
  return Append(e, e.Int("axis", op.axis));
}

Status Encode(const ArgMin& op, Encoding& e) {
  e.SetOptions(tflite::CreateArgMinOptions(e.builder(), ToTflite(e.layer().output().type)));
  return Append(e, e.Int("axis", op.axis));
}

Status Encode(const Cumsum& op, Encoding& e) {
  e.SetOptions(tflite::CreateCumsumOptions(e.builder(), op.exclusive, op.reverse));
  return Append(e, e.Int("axis", op.axis));
}

Status Encode(const ExpandDims& op, Encoding& e) { return Append(e, e.Int("axis", op.axis)); }
Status Encode(const Transpose& op, Encoding& e) {
  return Append(e, e.Ints("permutation", op.permutation));
}
Status Encode(const Tile& op, Encoding& e) { return Append(e, e.Ints("multiples", op.multiples)); }
Status Encode(const BroadcastTo& op, Encoding& e) { return Append(e, e.Ints("shape", op.shape)); }
Status Encode(const TopK& op, Encoding& e) { return Append(e, e.Int("k", op.k)); }
Status Encode(const Reverse& op, Encoding& e) { return Append(e, e.Ints("axes", op.axes)); }

}  // namespace intaglio::nn
