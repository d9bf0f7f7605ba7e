// Operators that put elements elsewhere. Axes, extents and masks are constants or options.
#include <utility>

#include "intaglio/nn/import/translate.h"

namespace intaglio::nn {
namespace {

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
Status FromInt(Translation& t, size_t constant, size_t data, const char* what) {
  const Result<int> value = t.ConstantInt(constant, what);
  if (!value.ok()) return value.status();
  t.set(Op{*value});
  return t.PickInputs({data});
}

// Height and width of the output are input 1.
template <class Op, class Options>
Status TranslateResize(Translation& t) {
  const Result<std::vector<int>> size = t.ConstantInts(1, "sizes");
  if (!size.ok()) return size.status();
  if (size->size() != 2) return InvalidArgument("sizes are not height and width");
  const Result<const Options*> options = t.RequiredOptions<Options>();
  if (!options.ok()) return options.status();
  t.set(Op{(*size)[0], (*size)[1], (*options)->align_corners(), (*options)->half_pixel_centers()});
  return t.PickInputs({0});
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

bool IsComputed(const Translation& t, size_t i) { return t.has_input(i) && !t.IsConstant(i); }

// Of a SLICE with computed begins, the sizes must be known.
Status TranslateDynamicSlice(Translation& t) {
  const Result<std::vector<int>> sizes = t.ConstantInts(2, "sizes");
  if (!sizes.ok()) return sizes.status();
  DynamicSlice op;
  for (const int size : *sizes) op.dimensions.push_back({size, false, false});
  t.set(std::move(op));
  return t.PickInputs({0, 1});
}

// Of a STRIDED_SLICE with computed begins, a dimension gives one element, x[.., i, ..], or all.
Status TranslateDynamicStridedSlice(Translation& t) {
  const Result<std::vector<int>> strides = t.ConstantInts(3, "strides");
  if (!strides.ok()) return strides.status();
  const auto options = t.RequiredOptions<tflite::StridedSliceOptions>();
  if (!options.ok()) return options.status();
  const Status unknown = Unsupported(
      "begins that are not constant are supported for dimensions that shrink to one index only");
  constexpr size_t kMasked = 32;  // dimensions
  const bool plain = (*options)->ellipsis_mask() == 0 && (*options)->new_axis_mask() == 0;
  if (!plain || strides->size() > kMasked) return unknown;
  DynamicSlice op;
  for (size_t i = 0; i < strides->size(); ++i) {
    const auto bit = [i](int mask) { return (static_cast<uint32_t>(mask) >> i & 1) != 0; };
    const bool from_first = bit((*options)->begin_mask());
    const bool one = bit((*options)->shrink_axis_mask());
    const bool whole = from_first && bit((*options)->end_mask());
    if ((*strides)[i] != 1 || (one ? from_first : !whole)) return unknown;
    op.dimensions.push_back({one ? 1 : -1, whole, one});
  }
  t.set(std::move(op));
  return t.PickInputs({0, 1});
}

}  // namespace

Status TranslateArgMax(Translation& t) { return FromInt<ArgMax>(t, 1, 0, "axes"); }
Status TranslateArgMin(Translation& t) { return FromInt<ArgMin>(t, 1, 0, "axes"); }
Status TranslateTopK(Translation& t) { return FromInt<TopK>(t, 1, 0, "counts"); }
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

Status TranslateResizeBilinear(Translation& t) {
  return TranslateResize<ResizeBilinear, tflite::ResizeBilinearOptions>(t);
}
Status TranslateResizeNearestNeighbor(Translation& t) {
  return TranslateResize<ResizeNearestNeighbor, tflite::ResizeNearestNeighborOptions>(t);
}

Status TranslateCumsum(Translation& t) {
  const Result<int> axis = t.ConstantInt(1, "axes");
  if (!axis.ok()) return axis.status();
  const auto* const options = t.options<tflite::CumsumOptions>();
  if (options == nullptr && t.has_options()) {
    return InvalidArgument("has another operator's options");
  }
  t.set(Cumsum{*axis, options != nullptr && options->exclusive(),
               options != nullptr && options->reverse()});
  return t.PickInputs({0});
}

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

Status TranslateSlice(Translation& t) {
  if (IsComputed(t, 1)) return TranslateDynamicSlice(t);
  Result<std::vector<int>> begin = t.ConstantInts(1, "begins");
  if (!begin.ok()) return begin.status();
  Result<std::vector<int>> size = t.ConstantInts(2, "sizes");
  if (!size.ok()) return size.status();
  t.set(Slice{std::move(*begin), std::move(*size)});
  return t.PickInputs({0});
}

Status TranslateStridedSlice(Translation& t) {
  if (IsComputed(t, 1)) return TranslateDynamicStridedSlice(t);
  Result<std::vector<int>> begin = t.ConstantInts(1, "begins");
  if (!begin.ok()) return begin.status();
  Result<std::vector<int>> end = t.ConstantInts(2, "ends");
  if (!end.ok()) return end.status();
  Result<std::vector<int>> strides = t.ConstantInts(3, "strides");
  if (!strides.ok()) return strides.status();
  const auto options = t.RequiredOptions<tflite::StridedSliceOptions>();
  if (!options.ok()) return options.status();
  const auto mask = [](int bits) { return static_cast<uint32_t>(bits); };
  StridedSlice op{std::move(*begin), std::move(*end), std::move(*strides)};
  op.begin_mask = mask((*options)->begin_mask());
  op.end_mask = mask((*options)->end_mask());
  op.ellipsis_mask = mask((*options)->ellipsis_mask());
  op.new_axis_mask = mask((*options)->new_axis_mask());
  op.shrink_axis_mask = mask((*options)->shrink_axis_mask());
  op.offset = (*options)->offset();
  t.set(std::move(op));
  return t.PickInputs({0});
}

}  // namespace intaglio::nn
