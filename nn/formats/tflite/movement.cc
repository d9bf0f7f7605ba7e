// Operators that move elements, in .tflite files.
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/nn/formats/tflite/rows.h"
#include "intaglio/nn/graph/input_advice.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

Status TranslateConcatenation(Translation& t) {
  const Result<Activation> activation = FusedActivation<tflite::ConcatenationOptions>(t);
  if (!activation.ok()) return activation.status();
  const auto* const options = t.options<tflite::ConcatenationOptions>();
  t.set(Concatenation{options == nullptr ? 0 : options->axis(), *activation});
  return {};
}

Result<Shape> NewShape(const Translation& t) {
  const auto* const options = t.options<tflite::ReshapeOptions>();
  // A shape tensor wins, but only as a vector: older converters left other things there.
  if (t.has_input(1) && t.input(1).shape.size() == 1) return t.ConstantInts(1, "shapes");
  if (options == nullptr || options->new_shape() == nullptr) {
    return InvalidArgument("has neither a shape tensor nor a shape in its options");
  }
  if (options->new_shape()->size() > 64) {
    return InvalidArgument("shape has " + std::to_string(options->new_shape()->size()) +
                           " dimensions");
  }
  Shape shape(options->new_shape()->begin(), options->new_shape()->end());
  if (shape == Shape{0}) shape.clear();  // how older converters wrote a scalar
  return shape;
}

template <class T>
T NumberOf(const Tensor& constant) {
  T value = 0;
  std::memcpy(&value, constant.data, sizeof(value));
  return value;
}

std::variant<double, int64_t> NumberOf(const Tensor& constant) {
  switch (constant.type) {
    case Type::kInt8:
      return NumberOf<int8_t>(constant);
    case Type::kInt16:
      return NumberOf<int16_t>(constant);
    case Type::kUInt16:
      return NumberOf<uint16_t>(constant);
    case Type::kInt32:
      return NumberOf<int32_t>(constant);
    case Type::kInt64:
      return NumberOf<int64_t>(constant);
    case Type::kFloat32:
      return NumberOf<float>(constant);
    default:
      return NumberOf<uint8_t>(constant);
  }
}

Status TranslatePad(Translation& t) {
  Result<std::vector<std::pair<int, int>>> pairs = t.ConstantPairs(1, "paddings");
  if (!pairs.ok()) return pairs.status();
  t.KeepInputs(1);
  t.set(Pad{std::move(*pairs)});
  return {};
}

// PADV2's value is a constant with the output's quantization, which for us is the input's.
Status TranslatePadV2(Translation& t) {
  Result<std::vector<std::pair<int, int>>> pairs = t.ConstantPairs(1, "paddings");
  if (!pairs.ok()) return pairs.status();
  if (!t.has_input(0) || !t.has_input(2)) return InvalidArgument("has no input or no value");
  const Tensor& x = t.input(0);
  const Tensor& value = t.input(2);
  if (!t.IsConstant(2) || value.data_bytes != SizeOf(value.type) || value.type != x.type) {
    return Unsupported("a padding value other than one constant of the input's type" +
                       AdviceForInput(t.view(), 2));
  }
  if (value.quantization.scales != x.quantization.scales ||
      value.quantization.zero_points != x.quantization.zero_points) {
    return Unsupported("a padding value quantized otherwise than the input");
  }
  const std::variant<double, int64_t> number = NumberOf(value);
  t.KeepInputs(1);
  t.set(Pad{std::move(*pairs), true, number});
  return {};
}

Status TranslateReshape(Translation& t) {
  Result<Shape> shape = NewShape(t);
  if (!shape.ok()) return shape.status();
  t.KeepInputs(1);
  t.set(Reshape{std::move(*shape)});
  return {};
}

using Pairs = std::vector<std::pair<int, int>>;

// The operator Op{constant}, from the ints of one constant input; the layer keeps the other.
template <class Op>
Status FromInts(Translation& t, size_t constant, size_t data, const char* what) {
  Result<std::vector<int>> values = t.ConstantInts(constant, what);
  if (!values.ok()) return values.status();
  t.set(Op{std::move(*values)});
  return t.PickInputs({data});
}

template <class Op>
Status TranslateBlocks(Translation& t, const char* what) {
  Result<std::vector<int>> block = t.ConstantInts(1, "block sizes");
  if (!block.ok()) return block.status();
  Result<Pairs> pairs = t.ConstantPairs(2, what);
  if (!pairs.ok()) return pairs.status();
  t.set(Op{std::move(*block), std::move(*pairs)});
  return t.PickInputs({0});
}

Status TranslateExpandDims(Translation& t) { return FromInt<ExpandDims>(t, 1, 0, "axes"); }

Status TranslateTranspose(Translation& t) { return FromInts<Transpose>(t, 1, 0, "permutations"); }

Status TranslateTile(Translation& t) { return FromInts<Tile>(t, 1, 0, "multiples"); }

Status TranslateBroadcastTo(Translation& t) { return FromInts<BroadcastTo>(t, 1, 0, "shapes"); }

Status TranslateReverse(Translation& t) { return FromInts<Reverse>(t, 1, 0, "axes"); }

Status TranslateScatterNd(Translation& t) {
  Result<std::vector<int>> shape = t.ConstantInts(2, "shapes");
  if (!shape.ok()) return shape.status();
  t.set(ScatterNd{std::move(*shape)});
  return t.PickInputs({0, 1});
}

Status TranslateFill(Translation& t) { return FromInts<Fill>(t, 0, 1, "shapes"); }

Status TranslateSpaceToBatch(Translation& t) {
  return TranslateBlocks<SpaceToBatch>(t, "paddings");
}

Status TranslateBatchToSpace(Translation& t) { return TranslateBlocks<BatchToSpace>(t, "crops"); }

Status TranslateSpaceToDepth(Translation& t) {
  const auto options = t.RequiredOptions<tflite::SpaceToDepthOptions>();
  if (!options.ok()) return options.status();
  t.set(SpaceToDepth{(*options)->block_size()});
  return {};
}

Status TranslateDepthToSpace(Translation& t) {
  const auto options = t.RequiredOptions<tflite::DepthToSpaceOptions>();
  if (!options.ok()) return options.status();
  t.set(DepthToSpace{(*options)->block_size()});
  return {};
}

Status TranslateGather(Translation& t) {
  const auto* const options = t.options<tflite::GatherOptions>();
  if (options == nullptr && t.has_options()) {
    return InvalidArgument("has another operator's options");
  }
  t.set(options == nullptr ? Gather{} : Gather{options->axis(), options->batch_dims()});
  return {};
}

Status TranslateMirrorPad(Translation& t) {
  Result<Pairs> pairs = t.ConstantPairs(1, "paddings");
  if (!pairs.ok()) return pairs.status();
  const auto options = t.RequiredOptions<tflite::MirrorPadOptions>();
  if (!options.ok()) return options.status();
  const tflite::MirrorPadMode mode = (*options)->mode();
  if (mode != tflite::MirrorPadMode::REFLECT && mode != tflite::MirrorPadMode::SYMMETRIC) {
    return InvalidArgument("mode number " + std::to_string(static_cast<int>(mode)) +
                           " does not exist");
  }
  t.set(MirrorPad{std::move(*pairs), mode == tflite::MirrorPadMode::SYMMETRIC});
  return t.PickInputs({0});
}

Status TranslateOneHot(Translation& t) {
  const Result<int> depth = t.ConstantInt(1, "depths");
  if (!depth.ok()) return depth.status();
  const auto options = t.RequiredOptions<tflite::OneHotOptions>();
  if (!options.ok()) return options.status();
  t.set(OneHot{*depth, (*options)->axis()});
  return t.PickInputs({0, 2, 3});
}

Status TranslatePack(Translation& t) {
  const auto options = t.RequiredOptions<tflite::PackOptions>();
  if (!options.ok()) return options.status();
  t.set(Pack{(*options)->axis()});
  return {};
}

Status TranslateUnpack(Translation& t) {
  const auto options = t.RequiredOptions<tflite::UnpackOptions>();
  if (!options.ok()) return options.status();
  t.set(Unpack{(*options)->axis(), (*options)->num()});
  return {};
}

// The axis comes first.
Status TranslateSplit(Translation& t) {
  const Result<int> axis = t.ConstantInt(0, "axes");
  if (!axis.ok()) return axis.status();
  const auto options = t.RequiredOptions<tflite::SplitOptions>();
  if (!options.ok()) return options.status();
  t.set(Split{*axis, (*options)->num_splits()});
  return t.PickInputs({1});
}

// The number of parts is that of the sizes; the options say it once more.
Status TranslateSplitV(Translation& t) {
  Result<std::vector<int>> sizes = t.ConstantInts(1, "sizes");
  if (!sizes.ok()) return sizes.status();
  const Result<int> axis = t.ConstantInt(2, "axes");
  if (!axis.ok()) return axis.status();
  t.set(SplitV{*axis, std::move(*sizes)});
  return t.PickInputs({0});
}

Status TranslateSqueeze(Translation& t) {
  const auto* const options = t.options<tflite::SqueezeOptions>();
  if (options == nullptr && t.has_options()) {
    return InvalidArgument("has another operator's options");
  }
  Squeeze op;
  if (options != nullptr && options->squeeze_dims() != nullptr) {
    if (options->squeeze_dims()->size() > 64) return InvalidArgument("names more than 64 axes");
    op.axes.assign(options->squeeze_dims()->begin(), options->squeeze_dims()->end());
  }
  t.set(std::move(op));
  return {};
}

Status Encode(const Concatenation& op, Encoding& e) {
  e.SetOptions(tflite::CreateConcatenationOptions(e.builder(), op.axis, ToTflite(op.activation)));
  return {};
}

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

Status Encode(const ScatterNd& op, Encoding& e) { return Append(e, e.Ints("shape", op.shape)); }

Status CheckFromStart(bool from_end, const Encoding& e) {
  if (!from_end) return {};
  return e.layer().Unsupported("the format has no indices that count from the end");
}

Status Encode(const GatherNd& op, Encoding& e) {
  if (op.batch_dims == 0) return CheckFromStart(op.from_end, e);
  return e.layer().Unsupported("the format has no common dimensions here");
}

Status Encode(const Gather& op, Encoding& e) {
  INTAGLIO_RETURN_IF_ERROR(CheckFromStart(op.from_end, e));
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
  INTAGLIO_RETURN_IF_ERROR(CheckFromStart(op.from_end, e));
  e.SetOptions(tflite::CreateOneHotOptions(e.builder(), op.axis));
  e.InsertInput(1, e.Int("depth", op.depth));
  return {};
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

Status Encode(const ExpandDims& op, Encoding& e) { return Append(e, e.Int("axis", op.axis)); }

Status Encode(const Transpose& op, Encoding& e) {
  return Append(e, e.Ints("permutation", op.permutation));
}

Status Encode(const Tile& op, Encoding& e) { return Append(e, e.Ints("multiples", op.multiples)); }

Status Encode(const BroadcastTo& op, Encoding& e) { return Append(e, e.Ints("shape", op.shape)); }

Status Encode(const Reverse& op, Encoding& e) { return Append(e, e.Ints("axes", op.axes)); }

constexpr TfliteRow kRows[] = {
    {Code::PAD, 6, TranslatePad, &Pad::kRow, WriteBy<Pad, Encode>},
    {Code::PADV2, 6, TranslatePadV2, &Pad::kRow, WriteBy<Pad, Encode>},
    {Code::RESHAPE, 1, TranslateReshape, &Reshape::kRow, WriteBy<Reshape, Encode>},
    {Code::CONCATENATION, 7, TranslateConcatenation, &Concatenation::kRow,
     WriteBy<Concatenation, Encode>},
    {Code::BATCH_TO_SPACE_ND, 4, TranslateBatchToSpace, &BatchToSpace::kRow,
     WriteBy<BatchToSpace, Encode>},
    {Code::BROADCAST_TO, 4, TranslateBroadcastTo, &BroadcastTo::kRow, WriteBy<BroadcastTo, Encode>},
    {Code::DEPTH_TO_SPACE, 2, TranslateDepthToSpace, &DepthToSpace::kRow,
     WriteBy<DepthToSpace, Encode>},
    {Code::EMBEDDING_LOOKUP, 5, TranslatePlain<EmbeddingLookup>, &EmbeddingLookup::kRow},
    {Code::EXPAND_DIMS, 1, TranslateExpandDims, &ExpandDims::kRow, WriteBy<ExpandDims, Encode>},
    {Code::FILL, 5, TranslateFill, &Fill::kRow, WriteBy<Fill, Encode>},
    {Code::GATHER, 8, TranslateGather, &Gather::kRow, WriteBy<Gather, Encode>},
    {Code::GATHER_ND, 6, TranslatePlain<GatherNd>, &GatherNd::kRow, WriteBy<GatherNd, Encode>},
    {Code::MIRROR_PAD, 3, TranslateMirrorPad, &MirrorPad::kRow, WriteBy<MirrorPad, Encode>},
    {Code::ONE_HOT, 1, TranslateOneHot, &OneHot::kRow, WriteBy<OneHot, Encode>},
    {Code::PACK, 5, TranslatePack, &Pack::kRow, WriteBy<Pack, Encode>},
    {Code::RANGE, 2, TranslatePlain<Sequence>, &Sequence::kRow},
    {Code::REVERSE_V2, 4, TranslateReverse, &Reverse::kRow, WriteBy<Reverse, Encode>},
    {Code::SHAPE, 1, TranslatePlain<ShapeOf>, &ShapeOf::kRow, WriteBy<ShapeOf, Encode>},
    {Code::SPACE_TO_BATCH_ND, 4, TranslateSpaceToBatch, &SpaceToBatch::kRow,
     WriteBy<SpaceToBatch, Encode>},
    {Code::SPACE_TO_DEPTH, 2, TranslateSpaceToDepth, &SpaceToDepth::kRow,
     WriteBy<SpaceToDepth, Encode>},
    {Code::SPLIT, 5, TranslateSplit, &Split::kRow, WriteBy<Split, Encode>},
    {Code::SPLIT_V, 3, TranslateSplitV, &SplitV::kRow, WriteBy<SplitV, Encode>},
    {Code::SQUEEZE, 2, TranslateSqueeze, &Squeeze::kRow, WriteBy<Squeeze, Encode>},
    {Code::TILE, 3, TranslateTile, &Tile::kRow, WriteBy<Tile, Encode>},
    {Code::TRANSPOSE, 8, TranslateTranspose, &Transpose::kRow, WriteBy<Transpose, Encode>},
    {Code::UNPACK, 6, TranslateUnpack, &Unpack::kRow, WriteBy<Unpack, Encode>},
    {Code::SCATTER_ND, 1, TranslateScatterNd, &ScatterNd::kRow, WriteBy<ScatterNd, Encode>},
};

}  // namespace

std::span<const TfliteRow> MovementRows() { return kRows; }

}  // namespace intaglio::nn
