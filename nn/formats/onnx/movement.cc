// Nodes that move elements and make shapes.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/pad.h"
#include "intaglio/nn/formats/onnx/rows.h"
#include "intaglio/nn/formats/onnx/tensors.h"

namespace intaglio::nn::onnx {
namespace {

// 0 stands for the input's dimension unless `zeros_count`. -1 stands for the rest.
void ReadReshape(Translation& t) {
  const bool zeros_count = t.Flag("allowzero", false);
  std::vector<int> shape = ToInts(t, t.make.Ints(t.in(1), "the shape"), "a dimension");
  const Shape& from = t.input(0).shape;
  for (size_t i = 0; i < shape.size() && !zeros_count; ++i) {
    if (shape[i] != 0) continue;
    if (i >= from.size()) return t.Invalid("has no dimension " + std::to_string(i) + " to keep");
    shape[i] = from[i];
  }
  t.Set(0, t.make.Reshaped(t.in(0), shape));
}

void ReadFlatten(Translation& t) {
  const Shape& from = t.input(0).shape;
  const int64_t given = t.Int("axis", 1);
  const auto rank = static_cast<int64_t>(from.size());
  if (given < -rank || given > rank) return t.Invalid("axis does not exist");
  const auto axis = static_cast<ptrdiff_t>(given < 0 ? given + rank : given);
  const Shape before(from.begin(), from.begin() + axis);
  const Shape behind(from.begin() + axis, from.end());
  const std::vector<int> shape = ToInts(t, {Count(before), Count(behind)}, "a dimension");
  t.Set(0, t.make.Reshaped(t.in(0), shape));
}

void ReadTranspose(Translation& t) {
  std::vector<int> reversed(static_cast<size_t>(t.rank(0)));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  std::vector<int> permutation = ToInts(t, t.Ints("perm"), "perm");
  if (!t.HasAttribute("perm")) permutation = reversed;
  std::vector<int> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  std::sort(reversed.begin(), reversed.end());
  if (sorted != reversed) return t.Invalid("perm is no permutation of the dimensions");
  t.Set(0, t.make.Transposed(t.in(0), permutation));
}

void ReadConcat(Translation& t) {
  const int axis = Axis(t.make, t.Int("axis", 1), t.rank(0));
  std::vector<TensorId> inputs;
  bool same = true;
  for (size_t i = 0; i < t.input_count(); ++i) {
    inputs.push_back(t.in(i));
    const Quantization& own = t.make.At(inputs[i]).quantization;
    const Quantization& first = t.make.At(inputs[0]).quantization;
    same = same && own.scales == first.scales && own.zero_points == first.zero_points;
  }
  // The numbers are joined, whatever they stand for.
  if (!same) {
    for (TensorId& input : inputs) input = t.make.Unquantized(input);
  }
  t.Set(0, t.make.AddLike(Concatenation{axis}, inputs));
}

void ReadShape(Translation& t) {
  const Shape& shape = t.input(0).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const auto clamped = [&](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank);
  };
  const int64_t begin = clamped(t.Int("start", 0));
  const int64_t end = std::max(begin, clamped(t.Int("end", rank)));
  const auto at = [&](int64_t place) { return shape.begin() + static_cast<ptrdiff_t>(place); };
  const std::vector<int64_t> dims(at(begin), at(end));
  const Shape shape_of_dims = {static_cast<int>(dims.size())};
  t.Set(0, t.make.Constant<int64_t>(dims, shape_of_dims));
}

void ReadSize(Translation& t) { t.Set(0, t.make.Scalar<int64_t>(Count(t.input(0).shape))); }

// The shape without these axes, each of which must be 1.
void ReadSqueeze(Translation& t) {
  const Shape& from = t.input(0).shape;
  std::vector<int> all;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1) all.push_back(static_cast<int>(i));
  }
  const std::vector<int> axes = t.Axes(13, all, t.rank(0));
  Shape shape;
  for (size_t i = 0; i < from.size(); ++i) {
    const bool drop = std::find(axes.begin(), axes.end(), static_cast<int>(i)) != axes.end();
    if (!drop) shape.push_back(from[i]);
    if (drop && from[i] != 1)
      return t.Invalid("squeezes a dimension of " + std::to_string(from[i]));
  }
  t.Set(0, t.make.Reshaped(t.in(0), shape));
}

void ReadUnsqueeze(Translation& t) {
  const size_t added =
      t.opset() < 13 ? t.Ints("axes").size() : static_cast<size_t>(Count(t.input(1).shape));
  constexpr size_t kMaxRank = 64;
  if (added > kMaxRank) return t.Invalid("adds too many dimensions");
  const int rank = t.rank(0) + static_cast<int>(added);
  std::vector<int> axes = t.Axes(13, {}, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return t.Invalid("adds a dimension twice");
  }
  Shape shape = t.input(0).shape;
  for (const int axis : axes) shape.insert(shape.begin() + axis, 1);
  t.Set(0, t.make.Reshaped(t.in(0), shape));
}

void ReadGather(Translation& t) {
  const int axis = Axis(t.make, t.Int("axis", 0), t.rank(0));
  t.Set(0, t.make.AddLike(Gather{.axis = axis, .from_end = true}, {t.in(0), t.in(1)}));
}

void ReadGatherElements(Translation& t) {
  const int axis = Axis(t.make, t.Int("axis", 0), t.rank(0));
  t.Set(0, t.make.AddLike(GatherElements{axis}, {t.in(0), t.in(1)}));
}

void ReadGatherNd(Translation& t) {
  const int batch_dims = t.IntWithin("batch_dims", 0, 0, 64);
  t.Set(0, t.make.AddLike(GatherNd{batch_dims, true}, {t.in(0), t.in(1)}));
}

Scattering ScatteringOf(Translation& t) {
  const std::string reduction = t.String("reduction", "none");
  if (reduction == "none") return Scattering::kReplace;
  if (reduction == "add") return Scattering::kAdd;
  if (reduction == "mul") return Scattering::kMultiply;
  if (reduction == "min") return Scattering::kLeast;
  if (reduction == "max") return Scattering::kGreatest;
  t.Invalid("the reduction is unknown");
  return Scattering::kReplace;
}

void ReadScatterElements(Translation& t) {
  const int axis = Axis(t.make, t.Int("axis", 0), t.rank(0));
  const ScatterElements op = {axis, ScatteringOf(t)};
  t.Set(0, t.make.AddLike(op, {t.in(0), t.in(1), t.in(2)}));
}

void ReadScatterNd(Translation& t) {
  t.Set(0, t.make.AddLike(ScatterNdUpdate{ScatteringOf(t)}, {t.in(0), t.in(1), t.in(2)}));
}

struct Bounds {
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  std::vector<int64_t> axes;
  std::vector<int64_t> steps;
};

Bounds BoundsOf(Translation& t) {
  Bounds bounds;
  if (t.opset() < 10) {
    bounds.starts = t.Ints("starts");
    bounds.ends = t.Ints("ends");
    bounds.axes = t.Ints("axes");
  } else {
    bounds.starts = t.make.Ints(t.in(1), "the starts");
    bounds.ends = t.make.Ints(t.in(2), "the ends");
    if (t.has(3)) bounds.axes = t.make.Ints(t.in(3), "the axes");
    if (t.has(4)) bounds.steps = t.make.Ints(t.in(4), "the steps");
  }
  const size_t count = bounds.starts.size();
  if (bounds.axes.empty()) {
    bounds.axes.resize(count);
    std::iota(bounds.axes.begin(), bounds.axes.end(), 0);
  }
  if (bounds.steps.empty()) bounds.steps.assign(count, 1);
  if (bounds.ends.size() != count || bounds.axes.size() != count || bounds.steps.size() != count) {
    t.Invalid("has unequal numbers of starts, ends, axes and steps");
  }
  return bounds;
}

void ReadSlice(Translation& t) {
  const Bounds bounds = BoundsOf(t);
  const Shape& shape = t.input(0).shape;
  StridedSlice slice;
  slice.begin.assign(shape.size(), 0);
  slice.strides.assign(shape.size(), 1);
  slice.end.assign(shape.begin(), shape.end());
  for (size_t i = 0; i < bounds.starts.size(); ++i) {
    const int axis = Axis(t.make, bounds.axes[i], t.rank(0));
    const auto place = static_cast<size_t>(axis);
    const int64_t extent = shape[place];
    const int64_t step = bounds.steps[i];
    if (step == 0 || !std::in_range<int>(step))
      return t.Invalid("has a step of " + std::to_string(step));
    const auto bound = [&](int64_t value) {
      // The lowest value must not become positive.
      if (value < 0) value = std::max(value, -extent - 1) + extent;
      return step > 0 ? std::clamp<int64_t>(value, 0, extent)
                      : std::clamp<int64_t>(value, -1, extent - 1);
    };
    slice.begin[place] = static_cast<int>(bound(bounds.starts[i]));
    const int64_t end = bound(bounds.ends[i]);
    // -1 would count from the end.
    if (end < 0) slice.end_mask |= 1u << place;
    slice.end[place] = static_cast<int>(end);
    slice.strides[place] = static_cast<int>(step);
  }
  t.Set(0, t.make.AddLike(slice, {t.in(0)}));
}

void ReadSplit(Translation& t) {
  const int axis = Axis(t.make, t.Int("axis", 0), t.rank(0));
  const int extent = t.input(0).shape[static_cast<size_t>(axis)];
  const auto count = static_cast<int>(t.output_count());
  if (count < 1 || t.Int("num_outputs", count) != count) {
    return t.Invalid("splits into another number of outputs");
  }
  std::vector<int> sizes = ToInts(t, t.Ints("split"), "split");
  if (t.opset() >= 13 && t.has(1)) sizes = ToInts(t, t.make.Ints(t.in(1), "split"), "split");
  if (sizes.empty()) {
    const int chunk = extent / count + (extent % count == 0 ? 0 : 1);
    for (int left = extent; static_cast<int>(sizes.size()) < count; left -= sizes.back()) {
      sizes.push_back(std::min(chunk, left));
    }
  }
  if (static_cast<int>(sizes.size()) != count)
    return t.Invalid("splits into another number of outputs");
  const std::vector<TensorId> parts = t.make.AddMany(
      SplitV{axis, sizes}, {t.in(0)}, std::vector<Type>(sizes.size(), t.input(0).type));
  for (size_t i = 0; i < parts.size(); ++i) t.Set(i, parts[i]);
}

// The shape to which two broadcast.
Shape Broadcast(Translation& t, Shape a, Shape b) {
  if (a.size() < b.size()) std::swap(a, b);
  b.insert(b.begin(), a.size() - b.size(), 1);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) t.Invalid("shapes do not broadcast");
    if (a[i] == 1) a[i] = b[i];
  }
  return a;
}

void ReadExpand(Translation& t) {
  const std::vector<int> shape = ToInts(t, t.make.Ints(t.in(1), "the shape"), "a dimension");
  const Shape to = Broadcast(t, t.input(0).shape, shape);
  if (to == t.input(0).shape) return t.Set(0, t.in(0));
  t.Set(0, t.make.AddLike(BroadcastTo{to}, {t.in(0)}));
}

void ReadTile(Translation& t) {
  const std::vector<int> repeats = ToInts(t, t.make.Ints(t.in(1), "the repeats"), "a repeat");
  t.Set(0, t.make.AddLike(Tile{repeats}, {t.in(0)}));
}

void ReadConstant(Translation& t) {
  LayerMaker& make = t.make;
  if (t.HasAttribute("value")) return t.Set(0, t.TensorAttribute("value"));
  if (t.HasAttribute("value_float")) return t.Set(0, make.Scalar(t.Float("value_float", 0)));
  if (t.HasAttribute("value_int")) return t.Set(0, make.Scalar(t.Int("value_int", 0)));
  if (t.HasAttribute("value_floats")) {
    const std::vector<float> values = t.Floats("value_floats");
    return t.Set(0, make.Constant<float>(values, {static_cast<int>(values.size())}));
  }
  if (t.HasAttribute("value_ints")) {
    const std::vector<int64_t> values = t.Ints("value_ints");
    return t.Set(0, make.Constant<int64_t>(values, {static_cast<int>(values.size())}));
  }
  t.Refuse("only constants of numbers are supported");
}

void ReadConstantOfShape(Translation& t) {
  const Shape shape = ToInts(t, t.make.Ints(t.in(0), "the shape"), "a dimension");
  TensorId value = t.HasAttribute("value") ? t.TensorAttribute("value") : t.make.Scalar<float>(0);
  if (Count(t.make.ShapeOf(value)) != 1) return t.Invalid("needs one value");
  value = t.make.Reshaped(value, {});
  t.Set(0, t.make.AddLike(Fill{shape}, {value}));
}

void ReadRange(Translation& t) {
  std::vector<TensorId> unknown;
  for (size_t i = 0; i < 3; ++i) {
    if (!t.make.IsConstant(t.in(i))) unknown.push_back(t.in(i));
  }
  if (!unknown.empty()) {
    t.make.FailUnknown(unknown, "start, limit and step that are not constant");
  }
  t.Set(0, t.make.AddLike(Sequence{}, {t.in(0), t.in(1), t.in(2)}));
}

void ReadOneHot(Translation& t) {
  LayerMaker& make = t.make;
  const TensorId given = make.CastTo(t.in(1), Type::kInt64);
  const std::vector<int64_t> depth = make.Ints(given, "the depth");
  if (depth.size() != 1 || depth[0] < 1 || depth[0] > 1 << 30)
    return t.Invalid("the depth is no size");
  const int rank = t.rank(0) + 1;
  const int axis = Axis(make, t.Int("axis", -1), rank);
  if (Count(make.ShapeOf(t.in(2))) != 2) return t.Invalid("needs two values");
  const auto value = [&](int i) {
    return make.Reshaped(make.AddLike(Slice{{i}, {1}}, {t.in(2)}), {});
  };
  const TensorId indices = make.CastTo(t.in(0), Type::kInt64);
  const OneHot op = {.depth = static_cast<int>(depth[0]), .axis = axis, .from_end = true};
  t.Set(0, make.Add(op, {indices, value(1), value(0)}, t.input(2).type));
}

// Ones on a diagonal.
void ReadEyeLike(Translation& t) {
  const Shape shape = t.input(0).shape;
  if (shape.size() != 2) return t.Invalid("needs a matrix");
  const int64_t k = t.Int("k", 0);
  const auto count = static_cast<size_t>(Count(shape));
  t.make.CheckMemory(count * sizeof(int32_t));
  std::vector<int32_t> values(count, 0);
  for (int64_t row = 0; row < shape[0]; ++row) {
    if (k < -row || k >= shape[1] - row) continue;
    values[static_cast<size_t>(row * shape[1] + row + k)] = 1;
  }
  const TensorId ones = t.make.Constant<int32_t>(std::move(values), shape);
  Type type = t.input(0).type;
  if (t.HasAttribute("dtype")) {
    const Result<Type> given = TypeFrom(t.IntWithin("dtype", 0, 0, 1000));
    if (!given.ok()) return t.make.Fail(given.status());
    type = *given;
  }
  t.Set(0, t.make.CastTo(ones, type));
}

// The upper or the lower triangle; the rest is 0.
void ReadTrilu(Translation& t) {
  LayerMaker& make = t.make;
  const Shape shape = t.input(0).shape;
  if (shape.size() < 2) return t.Invalid("needs matrices");
  const bool upper = t.Flag("upper", true);
  int64_t k = 0;
  if (t.has(1)) {
    const std::vector<int64_t> given = make.Ints(t.in(1), "the diagonal");
    if (given.size() != 1) return t.Invalid("needs one diagonal");
    k = std::clamp<int64_t>(given[0], -(int64_t{1} << 32), int64_t{1} << 32);
  }
  t.Set(0, make.AddLike(Trilu{upper, k}, {t.in(0)}));
}

// What the condition keeps, along the axis or of all elements in a row.
void ReadCompress(Translation& t) {
  LayerMaker& make = t.make;
  const std::vector<int64_t> condition = make.Ints(t.in(1), "the condition");
  TensorId x = t.in(0);
  int axis = 0;
  if (t.HasAttribute("axis")) {
    axis = Axis(make, t.Int("axis", 0), t.rank(0));
  } else {
    x = make.Reshaped(x, ToInts(t, {Count(t.input(0).shape)}, "a dimension"));
  }
  const auto extent = static_cast<size_t>(make.ShapeOf(x)[static_cast<size_t>(axis)]);
  if (condition.size() > extent) return t.Invalid("the condition is too long");
  std::vector<int64_t> kept;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) kept.push_back(static_cast<int64_t>(i));
  }
  const Shape shape = {static_cast<int>(kept.size())};
  t.Set(0, make.AddLike(Gather{axis}, {x, make.Constant<int64_t>(std::move(kept), shape)}));
}

// The places of a constant's elements that are not 0.
std::vector<int64_t> PlacesOfOthers(Translation& t) {
  std::vector<int64_t> places;
  const auto find = [&](const auto& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0) places.push_back(static_cast<int64_t>(i));
    }
  };
  const char* const what = "the number of elements that are not 0";
  if (t.input(0).type == Type::kFloat32) {
    find(t.make.Floats(t.in(0), what));
  } else {
    find(t.make.Ints(t.in(0), what));
  }
  return places;
}

// The output has a row for each dimension. Its extent depends on the values, so they must be known.
void ReadNonZero(Translation& t) {
  const Shape shape = t.input(0).shape;
  const std::vector<int64_t> places = PlacesOfOthers(t);
  const size_t count = shape.size() * places.size();
  t.make.CheckMemory(count * sizeof(int64_t));
  std::vector<int64_t> rows(count);
  for (size_t i = 0; i < places.size(); ++i) {
    int64_t place = places[i];
    for (size_t d = shape.size(); d-- > 0;) {
      rows[d * places.size() + i] = place % shape[d];
      place /= shape[d];
    }
  }
  const Shape of_rows = ToInts(
      t, {static_cast<int64_t>(shape.size()), static_cast<int64_t>(places.size())}, "a dimension");
  t.Set(0, t.make.Constant<int64_t>(std::move(rows), of_rows));
}

constexpr OnnxRow kRows[] = {
    {"Compress", ReadCompress, "any", 9, kEver, "the condition must be known"},
    {"Concat", ReadConcat, "any"},
    {"Constant", ReadConstant, "any"},
    {"ConstantOfShape", ReadConstantOfShape, "any"},
    {"Expand", ReadExpand, "any"},
    {"EyeLike", ReadEyeLike, "float32, integers, bool"},
    {"Flatten", ReadFlatten, "any"},
    {"Gather", ReadGather, "any"},
    {"GatherElements", ReadGatherElements, "any"},
    {"GatherND", ReadGatherNd, "any"},
    {"NonZero", ReadNonZero, "float32, integers, bool", 9, kEver, "the input must be known"},
    {"OneHot", ReadOneHot, "any"},
    {"Pad", ReadPad, "any"},
    {"Range", ReadRange, "float32, int32, int64"},
    {"Reshape", ReadReshape, "any"},
    {"ScatterElements", ReadScatterElements, "any"},
    {"ScatterND", ReadScatterNd, "any"},
    {"Shape", ReadShape, "any"},
    {"Size", ReadSize, "any"},
    {"Slice", ReadSlice, "any"},
    {"Split", ReadSplit, "any"},
    {"Squeeze", ReadSqueeze, "any"},
    {"Tile", ReadTile, "any"},
    {"Transpose", ReadTranspose, "any"},
    {"Trilu", ReadTrilu, "float32, integers"},
    {"Unsqueeze", ReadUnsqueeze, "any"},
};

}  // namespace

std::span<const OnnxRow> MovementRows() { return kRows; }

}  // namespace intaglio::nn::onnx
