// Nodes that work along rows or reduce axes.
#include <numeric>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

// The axes of a reduction moved from an attribute to an input.
constexpr int kAxesMoved = 18;
constexpr int kSumAxesMoved = 13;

// The axes, and whether anything is reduced at all.
struct Reduced {
  std::vector<int> axes;
  bool keep_dims = true;
  bool nothing = false;
};

Reduced ReducedBy(Translation& t, int moved) {
  const int rank = t.rank(0);
  std::vector<int> all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  const bool nothing = t.Flag("noop_with_empty_axes", false);
  Reduced reduced;
  reduced.axes = t.Axes(moved, nothing ? std::vector<int>{} : all, rank);
  reduced.keep_dims = t.Flag("keepdims", true);
  reduced.nothing = reduced.axes.empty();
  return reduced;
}

template <class Op, int kMoved = kAxesMoved>
void Reduction(Translation& t) {
  const Reduced reduced = ReducedBy(t, kMoved);
  if (reduced.nothing) return t.Set(0, t.in(0));
  t.Set(0, t.make.AddLike(Op{reduced.axes, reduced.keep_dims}, {t.in(0)}));
}

// Ours work along the last axis.
TensorId AlongAxis(LayerMaker& make, TensorId id, int axis, const Operator& op) {
  const std::vector<int> last = AxisLast(axis, make.RankOf(id));
  const TensorId result = make.AddLike(op, {make.Transposed(id, last)});
  return make.Transposed(result, Inverse(last));
}

// Before opset 13 the dimensions from the axis on count as one.
template <class Op>
void ReadSoftmax(Translation& t) {
  const int axis = Axis(t.make, t.Int("axis", t.opset() < 13 ? 1 : -1), t.rank(0));
  if (!t.make.ok()) return;
  if (t.opset() >= 13) return t.Set(0, AlongAxis(t.make, t.in(0), axis, Op{}));
  const Shape shape = t.input(0).shape;
  const Shape before(shape.begin(), shape.begin() + axis);
  const Shape behind(shape.begin() + axis, shape.end());
  const std::vector<int> lines = ToInts(t, {Count(before), Count(behind)}, "a dimension");
  const TensorId result = t.make.AddLike(Op{}, {t.make.Reshaped(t.in(0), lines)});
  t.Set(0, t.make.Reshaped(result, shape));
}

template <class Op>
void ReadArg(Translation& t) {
  const int axis = Axis(t.make, t.Int("axis", 0), t.rank(0));
  if (!t.make.ok()) return;
  if (t.Flag("select_last_index", false)) return t.Refuse("select_last_index is not supported");
  Shape shape = t.input(0).shape;
  const TensorId place = t.make.Add(Op{axis}, {t.in(0)}, Type::kInt64);
  shape[static_cast<size_t>(axis)] = 1;
  t.Set(0, t.Flag("keepdims", true) ? t.make.Reshaped(place, shape) : place);
}

constexpr OnnxRow kRows[] = {
    {"ArgMax", ReadArg<ArgMax>, "float32, int8, uint8, int32"},
    {"ArgMin", ReadArg<ArgMin>, "float32, int8, uint8, int32"},
    {"LogSoftmax", ReadSoftmax<LogSoftmax>, "float32"},
    {"ReduceMax", Reduction<ReduceMax>, "float32, integers"},
    {"ReduceMean", Reduction<Mean>, "float32"},
    {"ReduceMin", Reduction<ReduceMin>, "float32, integers"},
    {"ReduceProd", Reduction<ReduceProd>, "float32, integers"},
    {"ReduceSum", Reduction<Sum, kSumAxesMoved>, "float32, integers"},
    {"Softmax", ReadSoftmax<Softmax>, "float32"},
};

}  // namespace

std::span<const OnnxRow> ReduceRows() { return kRows; }

}  // namespace intaglio::nn::onnx
