// Element-wise operators in .onnx files.
#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "intaglio/nn/formats/onnx/write_rows.h"
#include "intaglio/nn/ops/elementwise/map_bytes.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::onnx {
namespace {

// One node on real numbers.
void WriteReal(LayerWriter& w, const WriteRow& row) {
  w.SetReal(w.nodes().Node(row.name, w.AllReal()));
}

// The same with a fused activation. Integers of 32 and 64 bits are taken as they are.
template <class Op>
void WriteArithmetic(LayerWriter& w, const WriteRow& row) {
  w.SetReal(w.nodes().Node(row.name, w.AllReal()), w.layer().op<Op>().activation);
}

// The numbers are compared as they are.
void WriteExtreme(LayerWriter& w, const WriteRow& row) {
  const Value a = w.RealAsOutput(0, w.order());
  w.SetReal(w.nodes().Node(row.name, {a, w.RealAsOutput(1, w.order())}));
}

void Write(const Elu& op, LayerWriter& w) {
  w.SetReal(w.nodes().Node("Elu", w.AllReal(), {{"alpha", op.alpha}}));
}
void Write(const LeakyRelu& op, LayerWriter& w) {
  w.SetReal(w.nodes().Node("LeakyRelu", w.AllReal(), {{"alpha", op.alpha}}));
}
void Write(const Celu& op, LayerWriter& w) {
  w.SetReal(w.nodes().Node("Celu", w.AllReal(), {{"alpha", op.alpha}}));
}
void Write(const ThresholdedRelu& op, LayerWriter& w) {
  w.SetReal(w.nodes().Node("ThresholdedRelu", w.AllReal(), {{"alpha", op.alpha}}));
}
void Write(const Selu& op, LayerWriter& w) {
  w.SetReal(w.nodes().Node("Selu", w.AllReal(), {{"alpha", op.alpha}, {"gamma", op.gamma}}));
}
void Write(const HardSigmoid& op, LayerWriter& w) {
  w.SetReal(w.nodes().Node("HardSigmoid", w.AllReal(), {{"alpha", op.alpha}, {"beta", op.beta}}));
}
void Write(const Shrink& op, LayerWriter& w) {
  w.SetReal(w.nodes().Node("Shrink", w.AllReal(), {{"bias", op.bias}, {"lambd", op.threshold}}));
}
void Write(const Gelu& op, LayerWriter& w) {
  const std::string approximate = op.approximate ? "tanh" : "none";
  w.SetReal(w.nodes().Node("Gelu", w.AllReal(), {{"approximate", approximate}}));
}
void Write(const Swish& op, LayerWriter& w) {
  w.nodes().RequireOpset(24);
  w.SetReal(w.nodes().Node("Swish", w.AllReal(), {{"alpha", op.alpha}}));
}
void Write(const IsInf& op, LayerWriter& w) {
  w.SetReal(w.nodes().Node(
      "IsInf", w.AllReal(),
      {{"detect_negative", int64_t{op.negative}}, {"detect_positive", int64_t{op.positive}}}));
}
void Write(const BitShift& op, LayerWriter& w) {
  const std::string direction = op.right ? "RIGHT" : "LEFT";
  w.SetNumbers(w.nodes().Node("BitShift", w.AllNumbers(), {{"direction", direction}}));
}

void Write(const Relu6&, LayerWriter& w) { w.SetReal(w.Real(0), Activation::kRelu6); }
void Write(const ReluN1To1&, LayerWriter& w) { w.SetReal(w.Real(0), Activation::kReluN1To1); }
void Write(const Relu&, LayerWriter& w) { w.SetReal(w.Real(0), Activation::kRelu); }

void Write(const Rsqrt&, LayerWriter& w) {
  w.SetReal(w.nodes().Node("Reciprocal", {w.nodes().Node("Sqrt", w.AllReal())}));
}
void Write(const Square&, LayerWriter& w) {
  w.SetReal(w.nodes().Node("Mul", {w.Real(0), w.Real(0)}));
}
void Write(const SquaredDifference&, LayerWriter& w) {
  const Value difference = w.nodes().Node("Sub", w.AllReal());
  w.SetReal(w.nodes().Node("Mul", {difference, difference}));
}
void Write(const NotEqual&, LayerWriter& w) {
  w.SetReal(w.nodes().Node("Not", {w.nodes().Node("Equal", w.AllReal())}));
}

// What the division towards zero leaves, and the divisor where their signs differ.
Value FloorModOf(LayerWriter& w) {
  NodeWriter& nodes = w.nodes();
  const Value x = w.Numbers(0);
  const Value y = w.Numbers(1);
  if (w.input(0).type != Type::kFloat32) return nodes.Node("Mod", {x, y});
  const Value rest = nodes.Node("Mod", {x, y}, {{"fmod", 1}});
  const Value zero = nodes.Scalar(0.0f);
  const Value differ =
      nodes.Node("Xor", {nodes.Node("Less", {rest, zero}), nodes.Node("Less", {y, zero})});
  const Value is_zero = nodes.Node("Equal", {rest, zero});
  const Value adds = nodes.Node("And", {differ, nodes.Node("Not", {is_zero})});
  return nodes.Node("Where", {adds, nodes.Node("Add", {rest, y}), rest});
}

void Write(const FloorMod&, LayerWriter& w) { w.SetNumbers(FloorModOf(w)); }

// Integer division cuts off, so what FloorMod leaves is taken away before.
void Write(const FloorDiv&, LayerWriter& w) {
  NodeWriter& nodes = w.nodes();
  if (w.input(0).type == Type::kFloat32) {
    return w.SetNumbers(nodes.Node("Floor", {nodes.Node("Div", w.AllNumbers())}));
  }
  const Value multiple = nodes.Node("Sub", {w.Numbers(0), FloorModOf(w)});
  w.SetNumbers(nodes.Node("Div", {multiple, w.Numbers(1)}));
}

void Write(const Fmod&, LayerWriter& w) {
  w.SetNumbers(w.nodes().Node("Mod", w.AllNumbers(), {{"fmod", 1}}));
}

Value BoundOf(LayerWriter& w, const std::optional<Clip::Bound>& bound) {
  if (!bound.has_value()) return kNoValue;
  const Type type = w.input(0).type;
  if (const auto* const real = std::get_if<double>(&*bound); real != nullptr) {
    return std::isnan(*real) ? kNoValue : w.nodes().Number(type, *real);
  }
  const int64_t integer = std::get<int64_t>(*bound);
  return type == Type::kInt64 ? w.nodes().Scalar(integer)
                              : w.nodes().Number(type, static_cast<double>(integer));
}

// The bounds are numbers, whatever they stand for.
void Write(const Clip& op, LayerWriter& w) {
  const Value low = BoundOf(w, op.low);
  const Value high = BoundOf(w, op.high);
  w.SetNumbers(w.nodes().Node("Clip", {w.Numbers(0), low, high}));
}

void Write(const Cast&, LayerWriter& w) {
  const Type to = w.output().type;
  w.SetNumbers(w.nodes().Node("Cast", {w.Numbers(0)}, {{"to", int64_t{CodeOf(to)}}}));
}

// A negative index counts from the end, as the bits of a negative number do.
void Write(const MapBytes& op, LayerWriter& w) {
  const Value table = w.nodes().Constant(w.output().type, {static_cast<int>(op.table.size())},
                                         op.table.data(), op.table.size());
  const Value places = w.nodes().CastTo(w.Numbers(0), w.input(0).type, Type::kInt32);
  w.SetNumbers(w.nodes().Node("Gather", {table, places}, {{"axis", 0}}));
}

void WriteWhere(LayerWriter& w, Value condition, Order order) {
  w.SetReal(w.nodes().Node("Where", {condition, w.Real(1, order), w.Real(2, order)}), order);
}

void Write(const SelectV2&, LayerWriter& w) { WriteWhere(w, w.Numbers(0), w.order()); }

// A condition may be one per index of dimension 0.
void Write(const Select&, LayerWriter& w) {
  const size_t rank = w.output().shape.size();
  const Shape& shape = w.input(0).shape;
  if (shape.size() != 1 || rank < 2) return WriteWhere(w, w.Numbers(0), w.order());
  Shape column(rank, 1);
  column[0] = shape[0];
  WriteWhere(w, w.nodes().Reshaped(w.Numbers(0, Order::kOurs), shape, column), Order::kOurs);
}

constexpr WriteRow kRows[] = {
    {&Abs::kRow, WriteReal, "Abs"},
    {&Acos::kRow, WriteReal, "Acos"},
    {&Acosh::kRow, WriteReal, "Acosh"},
    {&Add::kRow, WriteArithmetic<Add>, "Add"},
    {&Asin::kRow, WriteReal, "Asin"},
    {&Asinh::kRow, WriteReal, "Asinh"},
    {&Atan::kRow, WriteReal, "Atan"},
    {&Atanh::kRow, WriteReal, "Atanh"},
    {&BitShift::kRow, WriteBy<BitShift, Write>},
    {&BitwiseAnd::kRow, WriteReal, "BitwiseAnd"},
    {&BitwiseNot::kRow, WriteReal, "BitwiseNot"},
    {&BitwiseOr::kRow, WriteReal, "BitwiseOr"},
    {&BitwiseXor::kRow, WriteReal, "BitwiseXor"},
    {&Cast::kRow, WriteBy<Cast, Write>},
    {&Ceil::kRow, WriteReal, "Ceil"},
    {&Celu::kRow, WriteBy<Celu, Write>},
    {&Clip::kRow, WriteBy<Clip, Write>},
    {&Cos::kRow, WriteReal, "Cos"},
    {&Cosh::kRow, WriteReal, "Cosh"},
    {&Div::kRow, WriteArithmetic<Div>, "Div"},
    {&Elu::kRow, WriteBy<Elu, Write>},
    {&Equal::kRow, WriteReal, "Equal"},
    {&Erf::kRow, WriteReal, "Erf"},
    {&Exp::kRow, WriteReal, "Exp"},
    {&Floor::kRow, WriteReal, "Floor"},
    {&FloorDiv::kRow, WriteBy<FloorDiv, Write>},
    {&FloorMod::kRow, WriteBy<FloorMod, Write>},
    {&Fmod::kRow, WriteBy<Fmod, Write>},
    {&Gelu::kRow, WriteBy<Gelu, Write>},
    {&Greater::kRow, WriteReal, "Greater"},
    {&GreaterEqual::kRow, WriteReal, "GreaterOrEqual"},
    {&HardSigmoid::kRow, WriteBy<HardSigmoid, Write>},
    {&HardSwish::kRow, WriteReal, "HardSwish"},
    {&IsInf::kRow, WriteBy<IsInf, Write>},
    {&IsNan::kRow, WriteReal, "IsNaN"},
    {&LeakyRelu::kRow, WriteBy<LeakyRelu, Write>},
    {&Less::kRow, WriteReal, "Less"},
    {&LessEqual::kRow, WriteReal, "LessOrEqual"},
    {&Log::kRow, WriteReal, "Log"},
    {&LogicalAnd::kRow, WriteReal, "And"},
    {&LogicalNot::kRow, WriteReal, "Not"},
    {&LogicalOr::kRow, WriteReal, "Or"},
    {&LogicalXor::kRow, WriteReal, "Xor"},
    {&Logistic::kRow, WriteReal, "Sigmoid"},
    {&MapBytes::kRow, WriteBy<MapBytes, Write>},
    {&Maximum::kRow, WriteExtreme, "Max"},
    {&Minimum::kRow, WriteExtreme, "Min"},
    {&Mish::kRow, WriteReal, "Mish"},
    {&Mul::kRow, WriteArithmetic<Mul>, "Mul"},
    {&Neg::kRow, WriteReal, "Neg"},
    {&NotEqual::kRow, WriteBy<NotEqual, Write>},
    {&Pow::kRow, WriteReal, "Pow"},
    {&Prelu::kRow, WriteReal, "PRelu"},
    {&Reciprocal::kRow, WriteReal, "Reciprocal"},
    {&Relu::kRow, WriteBy<Relu, Write>},
    {&Relu6::kRow, WriteBy<Relu6, Write>},
    {&ReluN1To1::kRow, WriteBy<ReluN1To1, Write>},
    {&Round::kRow, WriteReal, "Round"},
    {&Rsqrt::kRow, WriteBy<Rsqrt, Write>},
    {&Select::kRow, WriteBy<Select, Write>},
    {&SelectV2::kRow, WriteBy<SelectV2, Write>},
    {&Selu::kRow, WriteBy<Selu, Write>},
    {&Shrink::kRow, WriteBy<Shrink, Write>},
    {&Sign::kRow, WriteReal, "Sign"},
    {&Sin::kRow, WriteReal, "Sin"},
    {&Sinh::kRow, WriteReal, "Sinh"},
    {&Softplus::kRow, WriteReal, "Softplus"},
    {&Softsign::kRow, WriteReal, "Softsign"},
    {&Sqrt::kRow, WriteReal, "Sqrt"},
    {&Square::kRow, WriteBy<Square, Write>},
    {&SquaredDifference::kRow, WriteBy<SquaredDifference, Write>},
    {&Sub::kRow, WriteArithmetic<Sub>, "Sub"},
    {&Swish::kRow, WriteBy<Swish, Write>},
    {&Tan::kRow, WriteReal, "Tan"},
    {&Tanh::kRow, WriteReal, "Tanh"},
    {&ThresholdedRelu::kRow, WriteBy<ThresholdedRelu, Write>},
};

}  // namespace

std::span<const WriteRow> ElementwiseWriteRows() { return kRows; }

}  // namespace intaglio::nn::onnx
