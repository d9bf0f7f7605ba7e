// Parts of tensors, whose places are constants or computed by a run, in .tflite files.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/tflite/rows.h"
#include "intaglio/nn/graph/input_advice.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn {
namespace {

bool IsComputed(const Translation& t, size_t i) { return t.has_input(i) && !t.IsConstant(i); }

// A SLICE with computed begins must have known sizes.
Status TranslateDynamicSlice(Translation& t) {
  const Result<std::vector<int>> sizes = t.ConstantInts(2, "sizes");
  if (!sizes.ok()) return sizes.status();
  DynamicSlice op;
  for (const int size : *sizes) op.dimensions.push_back({size, false, false});
  t.set(std::move(op));
  return t.PickInputs({0, 1});
}

// A STRIDED_SLICE with computed begins takes one element of a dimension, x[.., i, ..], or all.
Status TranslateDynamicStridedSlice(Translation& t) {
  const Result<std::vector<int>> strides = t.ConstantInts(3, "strides");
  if (!strides.ok()) return strides.status();
  const auto options = t.RequiredOptions<tflite::StridedSliceOptions>();
  if (!options.ok()) return options.status();
  const Status unknown = Unsupported(
      "begins that are not constant are supported for dimensions that shrink to one index only" +
      AdviceForInput(t.view(), 1));
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

int32_t Bits(uint32_t mask) { return static_cast<int32_t>(mask); }

Status Encode(const Slice& op, Encoding& e) {
  e.AppendInput(e.Ints("begin", op.begin));
  return Append(e, e.Ints("size", op.size));
}

Status Encode(const StridedSlice& op, Encoding& e) {
  e.SetOptions(tflite::CreateStridedSliceOptions(
      e.builder(), Bits(op.begin_mask), Bits(op.end_mask), Bits(op.ellipsis_mask),
      Bits(op.new_axis_mask), Bits(op.shrink_axis_mask), op.offset));
  e.AppendInput(e.Ints("begin", op.begin));
  e.AppendInput(e.Ints("end", op.end));
  return Append(e, e.Ints("strides", op.strides));
}

using Dimensions = std::vector<DynamicSlice::Dimension>;

bool HasSizesOnly(const Dimensions& dimensions) {
  return std::none_of(dimensions.begin(), dimensions.end(),
                      [](const DynamicSlice::Dimension& d) { return d.any_begin || d.vanishes; });
}

// Whether STRIDED_SLICE can express this: it takes one element of a dimension, or all.
bool IsStrided(const Dimensions& dimensions) {
  constexpr size_t kMasked = 32;  // dimensions
  return dimensions.size() <= kMasked &&
         std::all_of(dimensions.begin(), dimensions.end(), [](const DynamicSlice::Dimension& d) {
           return d.vanishes ? d.size == 1 && !d.any_begin : d.size == -1 && d.any_begin;
         });
}

template <class Member>
int32_t MaskOf(const Dimensions& dimensions, Member member) {
  uint32_t mask = 0;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    mask |= (dimensions[i].*member ? 1u : 0u) << i;
  }
  return static_cast<int32_t>(mask);
}

//  These operators replace an item of a list. The reader knows them (ItemUpdates):
//    CONCATENATION(SLICE(list, [0, 0, ..], [i, -1, ..]), item,
//                  SLICE(list, [i + 1, 0, ..], [-1, -1, ..]))
class ItemUpdate {
 public:
  explicit ItemUpdate(Encoding& e) : e_(e), list_(e.layer().input(0)) {}

  static bool Fits(const LayerView& layer) {
    const Tensor& item = layer.input(1);
    const Tensor& index = layer.input(2);
    return !item.shape.empty() && item.shape[0] == 1 && index.type == Type::kInt32 &&
           index.shape.empty();
  }

  void Encode() {
    const TensorId list = e_.inputs()[0];
    const TensorId item = e_.inputs()[1];
    const TensorId index = e_.inputs()[2];
    const TensorId size = Bound("index", index, -1);
    const TensorId before = Slice("before", list, All("from", 0), size);
    const TensorId next = e_.Add("next", Type::kInt32, {});
    e_.RunBefore("ADD", {index, e_.Int("one", 1)}, next, tflite::CreateAddOptions(e_.builder()));
    const TensorId from = Bound("next", next, 0);
    const TensorId behind = Slice("behind", list, from, All("all", -1));
    e_.set_code_name("CONCATENATION");
    e_.set_inputs({before, item, behind});
    e_.SetOptions(tflite::CreateConcatenationOptions(e_.builder(), 0));
  }

 private:
  TensorId All(const char* what, int32_t value) {
    return e_.Ints(what, std::vector<int32_t>(list_.shape.size(), value));
  }

  // [i, rest, rest, ..]
  TensorId Bound(const char* what, TensorId i, int32_t rest) {
    const auto rank = static_cast<int>(list_.shape.size());
    const TensorId vector = e_.Add(what, Type::kInt32, {1});
    e_.RunBefore(
        "RESHAPE", {i, e_.Ints("shape", {1})}, vector,
        tflite::CreateReshapeOptions(e_.builder(), e_.builder().CreateVector(std::vector<int>{1})));
    const TensorId others = e_.Ints("rest", std::vector<int32_t>(list_.shape.size() - 1, rest));
    const TensorId bound = e_.Add(what, Type::kInt32, {rank});
    e_.RunBefore("CONCATENATION", {vector, others}, bound,
                 tflite::CreateConcatenationOptions(e_.builder(), 0));
    return bound;
  }

  TensorId Slice(const char* what, TensorId list, TensorId from, TensorId size) {
    const TensorId part =
        e_.AddOpen(what, list_.type, e_.layer().input(1).shape, list_.quantization);
    e_.RunBefore("SLICE", {list, from, size}, part);
    return part;
  }

  Encoding& e_;
  const Tensor& list_;
};

Status Encode(const DynamicSlice& op, Encoding& e) {
  const Type type = e.layer().input(1).type;
  if (HasSizesOnly(op.dimensions)) {
    std::vector<int32_t> sizes;
    for (const DynamicSlice::Dimension& d : op.dimensions) sizes.push_back(d.size);
    e.AppendInput(e.IntsOf(type, "size", sizes));
    return {};
  }
  if (!IsStrided(op.dimensions)) {
    return e.layer().Unsupported("parts with both indices and extents cannot be written");
  }
  const int32_t whole = MaskOf(op.dimensions, &DynamicSlice::Dimension::any_begin);
  const int32_t one = MaskOf(op.dimensions, &DynamicSlice::Dimension::vanishes);
  e.set_code_name("STRIDED_SLICE");
  e.SetOptions(tflite::CreateStridedSliceOptions(e.builder(), whole, whole, 0, 0, one));
  e.AppendInput(e.IntsOf(type, "end", std::vector<int32_t>(op.dimensions.size(), 0)));
  e.AppendInput(e.IntsOf(type, "strides", std::vector<int32_t>(op.dimensions.size(), 1)));
  return {};
}

Status Encode(const DynamicUpdateSlice& op, Encoding& e) {
  const Shape& indices = e.layer().input(2).shape;
  const bool for_all =
      indices.size() == 1 && std::cmp_equal(indices[0], e.layer().input(0).shape.size());
  if (op.clamp && for_all) return {};
  if (op.clamp || !ItemUpdate::Fits(e.layer())) {
    return e.layer().Unsupported(
        "an update whose indices are not one per dimension, nor one for an "
        "item of a list, cannot be written");
  }
  ItemUpdate(e).Encode();
  return {};
}

constexpr TfliteRow kRows[] = {
    {Code::SLICE, 8, TranslateSlice, &Slice::kRow, WriteBy<Slice, Encode>},
    {Code::SLICE, 0, nullptr, &DynamicSlice::kRow, WriteBy<DynamicSlice, Encode>},
    {Code::STRIDED_SLICE, 8, TranslateStridedSlice, &StridedSlice::kRow,
     WriteBy<StridedSlice, Encode>},
    {Code::DYNAMIC_UPDATE_SLICE, 3, TranslatePlain<DynamicUpdateSlice>, &DynamicUpdateSlice::kRow,
     WriteBy<DynamicUpdateSlice, Encode>},
};

}  // namespace

std::span<const TfliteRow> SliceRows() { return kRows; }

}  // namespace intaglio::nn
