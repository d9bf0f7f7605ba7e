// Nodes that work along rows or reduce axes.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
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
  t.Set(0, t.make.AddLike(IeeeReduction<Op>(reduced.axes, reduced.keep_dims), {t.in(0)}));
}

// What is computed of each element, and of each sum.
TensorId Same(LayerMaker&, TensorId id) { return id; }
template <class Op>
TensorId Apply(LayerMaker& make, TensorId id) {
  return make.AddLike(Op{}, {id});
}
TensorId SquareOf(LayerMaker& make, TensorId id) { return make.AddLike(Ieee<Mul>(), {id, id}); }

template <TensorId (*kBefore)(LayerMaker&, TensorId), TensorId (*kAfter)(LayerMaker&, TensorId)>
void ComposedSum(Translation& t) {
  const Reduced reduced = ReducedBy(t, kAxesMoved);
  TensorId x = kBefore(t.make, t.in(0));
  if (!reduced.nothing) x = t.make.AddLike(Sum{reduced.axes, reduced.keep_dims}, {x});
  t.Set(0, kAfter(t.make, x));
}

// log(sum of e^(x - m)) + m, with the greatest x as m, so that no power overflows. An infinite one
// is brought to the nearest finite number: x - m must not be NaN.
void ReadLogSumExp(Translation& t) {
  const Reduced reduced = ReducedBy(t, kAxesMoved);
  if (reduced.nothing) return t.Set(0, t.in(0));
  LayerMaker& make = t.make;
  constexpr double kMost = std::numeric_limits<float>::max();
  const TensorId greatest = make.AddLike(IeeeReduction<ReduceMax>(reduced.axes, true), {t.in(0)});
  const TensorId finite = make.AddLike(Clip{-kMost, kMost}, {greatest});
  const TensorId less = make.AddLike(Ieee<Sub>(), {t.in(0), finite});
  const TensorId sum =
      make.AddLike(Sum{reduced.axes, reduced.keep_dims}, {make.AddLike(Exp{}, {less})});
  const TensorId log = make.AddLike(Log{}, {sum});
  t.Set(0, make.AddLike(Ieee<Add>(), {log, make.Reshaped(finite, make.ShapeOf(sum))}));
}

// Maxima and minima. Those of bool say whether any is true, or all.
template <class Op, class OpOfBool>
void Extreme(Translation& t) {
  return t.input(0).type == Type::kBool ? Reduction<OpOfBool>(t) : Reduction<Op>(t);
}

// Running sums.
void ReadCumSum(Translation& t) {
  const std::vector<int64_t> axis = t.make.Ints(t.in(1), "the axis");
  if (axis.size() != 1) return t.Invalid("needs one axis");
  const Cumsum op = {Axis(t.make, axis[0], t.rank(0)), t.Flag("exclusive", false),
                     t.Flag("reverse", false)};
  t.Set(0, t.make.AddLike(op, {t.in(0)}));
}

// Before opset 13 the dimensions from the axis on count as one.
TensorId InLines(Translation& t, int axis, const Operator& op) {
  const Shape shape = t.input(0).shape;
  const Shape before(shape.begin(), shape.begin() + axis);
  const Shape behind(shape.begin() + axis, shape.end());
  const std::vector<int> lines = ToInts(t, {Count(before), Count(behind)}, "a dimension");
  return t.make.Reshaped(t.make.AddLike(op, {t.make.Reshaped(t.in(0), lines)}), shape);
}

void ReadHardmax(Translation& t) {
  LayerMaker& make = t.make;
  const int axis = Axis(make, t.Int("axis", t.opset() < 13 ? 1 : -1), t.rank(0));
  if (t.opset() < 13) return t.Set(0, InLines(t, axis, Hardmax{}));
  t.Set(0, make.AddLike(Hardmax{axis}, {t.in(0)}));
}

void ReadTopK(Translation& t) {
  LayerMaker& make = t.make;
  const int axis = Axis(make, t.Int("axis", -1), t.rank(0));
  int64_t k = t.Int("k", 0);
  if (t.opset() >= 10) {
    const std::vector<int64_t> given = make.Ints(t.in(1), "k");
    if (given.size() == 1) k = given[0];
  }
  if (k < 0 || k > t.input(0).shape[static_cast<size_t>(axis)]) return t.Invalid("k is no count");
  const TopK op = {static_cast<int>(k), axis, t.Flag("largest", true)};
  const std::vector<TensorId> both = make.AddMany(op, {t.in(0)}, {t.input(0).type, Type::kInt64});
  t.Set(0, both[0]);
  t.Set(1, both[1]);
}

// Ours work along the last axis.
TensorId AlongAxis(LayerMaker& make, TensorId id, int axis, const Operator& op) {
  const std::vector<int> last = AxisLast(axis, make.RankOf(id));
  const TensorId result = make.AddLike(op, {make.Transposed(id, last)});
  return make.Transposed(result, Inverse(last));
}

template <class Op>
void ReadSoftmax(Translation& t) {
  const int axis = Axis(t.make, t.Int("axis", t.opset() < 13 ? 1 : -1), t.rank(0));
  const bool lines = t.opset() < 13;
  t.Set(0, lines ? InLines(t, axis, Op{}) : AlongAxis(t.make, t.in(0), axis, Op{}));
}

template <class Op>
void ReadArg(Translation& t) {
  const int axis = Axis(t.make, t.Int("axis", 0), t.rank(0));
  Shape shape = t.input(0).shape;
  int& extent = shape[static_cast<size_t>(axis)];
  // The last one is the first of the reverse.
  const bool last = t.Flag("select_last_index", false);
  const TensorId x = last ? t.make.AddLike(Reverse{{axis}}, {t.in(0)}) : t.in(0);
  TensorId place = t.make.Add(Op{axis}, {x}, Type::kInt64);
  if (last) place = t.make.AddLike(Sub{}, {t.make.Scalar(int64_t{extent} - 1), place});
  extent = 1;
  t.Set(0, t.Flag("keepdims", true) ? t.make.Reshaped(place, shape) : place);
}

constexpr OnnxRow kRows[] = {
    {"ArgMax", ReadArg<ArgMax>, "float32, int8, uint8, int32"},
    {"ArgMin", ReadArg<ArgMin>, "float32, int8, uint8, int32"},
    {"CumSum", ReadCumSum, "float32, int32, int64"},
    {"Hardmax", ReadHardmax, "float32"},
    {"LogSoftmax", ReadSoftmax<LogSoftmax>, "float32"},
    {"ReduceL1", ComposedSum<Apply<Abs>, Same>, "float32, integers"},
    {"ReduceL2", ComposedSum<SquareOf, Apply<Sqrt>>, "float32"},
    {"ReduceLogSum", ComposedSum<Same, Apply<Log>>, "float32"},
    {"ReduceLogSumExp", ReadLogSumExp, "float32"},
    {"ReduceMax", Extreme<ReduceMax, ReduceAny>, "float32, integers, bool"},
    {"ReduceMean", Reduction<Mean>, "float32"},
    {"ReduceMin", Extreme<ReduceMin, ReduceAll>, "float32, integers, bool"},
    {"ReduceProd", Reduction<ReduceProd>, "float32, integers"},
    {"ReduceSum", Reduction<Sum, kSumAxesMoved>, "float32, integers"},
    {"ReduceSumSquare", ComposedSum<SquareOf, Same>, "float32, integers"},
    {"Softmax", ReadSoftmax<Softmax>, "float32"},
    {"TopK", ReadTopK, "float32, integers"},
};

}  // namespace

std::span<const OnnxRow> ReduceRows() { return kRows; }

}  // namespace intaglio::nn::onnx
