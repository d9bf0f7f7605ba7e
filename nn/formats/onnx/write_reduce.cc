// Operators that work along rows or reduce axes, in .onnx files.
#include <cstdint>
#include <vector>

#include "intaglio/nn/formats/onnx/write_rows.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::onnx {
namespace {

// Where dimensions vanish, those that are left have our order.
Order OrderOf(const LayerWriter& w, bool keep_dims) { return keep_dims ? w.order() : Order::kOurs; }

template <class Op>
Value ReducedBy(const Op& op, LayerWriter& w, const char* name, Value x, Order order) {
  const size_t rank = w.input(0).shape.size();
  std::vector<int> axes;
  for (const int axis : op.axes) axes.push_back(onnx::AxisIn(order, axis, rank));
  return w.nodes().Node(name, {x, w.nodes().Ints(axes)},
                        {{"keepdims", int64_t{op.keep_dims}}, {"noop_with_empty_axes", 1}});
}

template <class Op>
void WriteReduction(LayerWriter& w, const WriteRow& row) {
  const Op& op = w.layer().op<Op>();
  const Order order = OrderOf(w, op.keep_dims);
  w.SetReal(ReducedBy(op, w, row.name, w.Real(0, order), order), order);
}

// The order of numbers is that of what they stand for.
template <class Op>
void WriteExtreme(LayerWriter& w, const WriteRow& row) {
  const Op& op = w.layer().op<Op>();
  if (!SameQuantization(w.input(0), w.output()) || w.input(0).type == Type::kInt16) {
    return WriteReduction<Op>(w, row);
  }
  const Order order = OrderOf(w, op.keep_dims);
  w.SetNumbers(ReducedBy(op, w, row.name, w.Numbers(0, order), order), order);
}

// Elements of bool are reduced as int32. The extremes of nothing are the lowest and the highest
// number.
template <class Op>
void WriteLogical(LayerWriter& w, const WriteRow& row) {
  const Op& op = w.layer().op<Op>();
  const Order order = OrderOf(w, op.keep_dims);
  const Value x = w.nodes().CastTo(w.Numbers(0, order), Type::kBool, Type::kInt32);
  const Value y = ReducedBy(op, w, row.name, x, order);
  w.SetNumbers(w.nodes().Node("Greater", {y, w.nodes().Scalar<int32_t>(0)}), order);
}

void Write(const Softmax& op, LayerWriter& w) {
  Value x = w.Real(0);
  if (op.beta != 1) x = w.nodes().Node("Mul", {x, w.nodes().Scalar(op.beta)});
  w.SetReal(w.nodes().Node("Softmax", {x}, {{"axis", w.AxisIn(-1)}}));
}

void Write(const LogSoftmax&, LayerWriter& w) {
  w.SetReal(w.nodes().Node("LogSoftmax", {w.Real(0)}, {{"axis", w.AxisIn(-1)}}));
}

void Write(const Hardmax& op, LayerWriter& w) {
  w.SetReal(w.nodes().Node("Hardmax", {w.Real(0)}, {{"axis", w.AxisIn(op.axis)}}));
}

// A length of 0 counts as TFLite's least one.
void Write(const L2Normalization&, LayerWriter& w) {
  constexpr float kLeast = 1e-6f;
  NodeWriter& nodes = w.nodes();
  const Value x = w.Real(0);
  const Value axis = nodes.Ints({w.AxisIn(-1)});
  const Value sum = nodes.Node("ReduceSum", {nodes.Node("Mul", {x, x}), axis});
  const Value length = nodes.Node("Sqrt", {sum});
  w.SetReal(nodes.Node("Div", {x, nodes.Node("Max", {length, nodes.Scalar(kLeast)})}));
}

// x / (bias + alpha * sum)^beta; the sum is over the channels from c - radius to c + radius - 1,
// which is an average pool along the channels of what is padded by zeros.
void Write(const LocalResponseNormalization& op, LayerWriter& w) {
  if (op.radius < 1 || op.radius > (1 << 16)) return w.Refuse("a radius of less than 1");
  if (w.input(0).shape.size() != 4) return w.Refuse("needs images");
  NodeWriter& nodes = w.nodes();
  const Value x = w.Real(0, Order::kOurs);
  const int64_t width = int64_t{2} * op.radius;
  const Value padded = nodes.Node(
      "Pad", {nodes.Node("Mul", {x, x}), nodes.Ints({0, 0, 0, op.radius, 0, 0, 0, op.radius - 1})});
  const Value means =
      nodes.Node("AveragePool", {padded}, {{"kernel_shape", std::vector<int64_t>{1, width}}});
  const Value scaled =
      nodes.Node("Mul", {means, nodes.Scalar(op.alpha * static_cast<float>(width))});
  const Value sum = nodes.Node("Add", {scaled, nodes.Scalar(op.bias)});
  const Value divisor = nodes.Node("Pow", {sum, nodes.Scalar(op.beta)});
  w.SetReal(nodes.Node("Div", {x, divisor}), Order::kOurs);
}

// The format needs a scale.
template <class Op>
Value NormalizedBy(const Op& op, LayerWriter& w, const char* name) {
  NodeWriter& nodes = w.nodes();
  const Shape& shape = w.input(0).shape;
  const int axis = onnx::AxisIn(Order::kOurs, op.axis, shape.size());
  std::vector<Value> inputs = {w.Numbers(0, Order::kOurs)};
  const Value row = nodes.Ints(Shape(shape.begin() + axis, shape.end()));
  inputs.push_back(w.has(1) ? w.Numbers(1, Order::kOurs)
                            : nodes.Node("Expand", {nodes.Scalar(1.0f), row}));
  if (w.has(2)) inputs.push_back(w.Numbers(2, Order::kOurs));
  return nodes.Node(name, inputs, {{"axis", axis}, {"epsilon", op.epsilon}});
}

void Write(const LayerNormalization& op, LayerWriter& w) {
  w.SetNumbers(NormalizedBy(op, w, "LayerNormalization"), Order::kOurs);
}

void Write(const RmsNormalization& op, LayerWriter& w) {
  w.nodes().RequireOpset(23);
  w.SetNumbers(NormalizedBy(op, w, "RMSNormalization"), Order::kOurs);
}

void Write(const TopK& op, LayerWriter& w) {
  NodeWriter& nodes = w.nodes();
  const Value k = nodes.Vector(std::vector<int64_t>{op.k});
  const int axis = onnx::AxisIn(Order::kOurs, op.axis, w.input(0).shape.size());
  const std::vector<Value> found =
      nodes.Nodes("TopK", {w.Real(0, Order::kOurs), k}, 2,
                  {{"axis", axis}, {"largest", int64_t{op.greatest}}, {"sorted", 1}});
  w.SetReal(found[0], Order::kOurs);
  w.SetNumbers(nodes.CastTo(found[1], Type::kInt64, w.output(1).type), Order::kOurs, 1);
}

// The order of numbers is that of what they stand for.
template <class Op>
void WriteArg(LayerWriter& w, const WriteRow& row) {
  const int axis = onnx::AxisIn(Order::kOurs, w.layer().op<Op>().axis, w.input(0).shape.size());
  const Value place =
      w.nodes().Node(row.name, {w.Numbers(0, Order::kOurs)}, {{"axis", axis}, {"keepdims", 0}});
  w.SetNumbers(w.nodes().CastTo(place, Type::kInt64, w.output().type), Order::kOurs);
}

void Write(const Cumsum& op, LayerWriter& w) {
  NodeWriter& nodes = w.nodes();
  const auto axis = static_cast<int64_t>(w.AxisIn(op.axis));
  w.SetNumbers(
      nodes.Node("CumSum", {w.Numbers(0), nodes.Scalar(axis)},
                 {{"exclusive", int64_t{op.exclusive}}, {"reverse", int64_t{op.reverse}}}));
}

constexpr WriteRow kRows[] = {
    {&ArgMax::kRow, WriteArg<ArgMax>, "ArgMax"},
    {&ArgMin::kRow, WriteArg<ArgMin>, "ArgMin"},
    {&Cumsum::kRow, WriteBy<Cumsum, Write>},
    {&Hardmax::kRow, WriteBy<Hardmax, Write>},
    {&L2Normalization::kRow, WriteBy<L2Normalization, Write>},
    {&LayerNormalization::kRow, WriteBy<LayerNormalization, Write>},
    {&LocalResponseNormalization::kRow, WriteBy<LocalResponseNormalization, Write>},
    {&LogSoftmax::kRow, WriteBy<LogSoftmax, Write>},
    {&Mean::kRow, WriteReduction<Mean>, "ReduceMean"},
    {&ReduceAll::kRow, WriteLogical<ReduceAll>, "ReduceMin"},
    {&ReduceAny::kRow, WriteLogical<ReduceAny>, "ReduceMax"},
    {&ReduceMax::kRow, WriteExtreme<ReduceMax>, "ReduceMax"},
    {&ReduceMin::kRow, WriteExtreme<ReduceMin>, "ReduceMin"},
    {&ReduceProd::kRow, WriteReduction<ReduceProd>, "ReduceProd"},
    {&RmsNormalization::kRow, WriteBy<RmsNormalization, Write>},
    {&Softmax::kRow, WriteBy<Softmax, Write>},
    {&Sum::kRow, WriteReduction<Sum>, "ReduceSum"},
    {&TopK::kRow, WriteBy<TopK, Write>},
};

}  // namespace

std::span<const WriteRow> ReduceWriteRows() { return kRows; }

}  // namespace intaglio::nn::onnx
