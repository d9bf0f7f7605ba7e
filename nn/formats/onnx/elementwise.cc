// Nodes that compute each element of the output from one element of each input.
#include <optional>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
#include "intaglio/nn/formats/onnx/narrow.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

template <class Op>
void Unary(Translation& t) {
  t.Set(0, t.make.AddLike(Op{}, {t.make.Unquantized(t.in(0))}));
}

// Functions with a parameter.
template <class Op>
void WithAlpha(Translation& t) {
  Op op;
  op.alpha = t.Float("alpha", op.alpha);
  t.Set(0, t.make.AddLike(op, {t.in(0)}));
}

template <class Op>
TensorId Join(Translation& t, const Op& op, TensorId a, TensorId b) {
  return t.make.AddLike(op, {t.make.Unquantized(a), t.make.Unquantized(b)});
}

template <class Op>
void Binary(Translation& t) {
  t.Set(0, Join(t, Op{}, t.in(0), t.in(1)));
}

template <class Op>
void Arithmetic(Translation& t) {
  t.Set(0, Join(t, Ieee<Op>(), t.in(0), t.in(1)));
}

template <class Op>
void Comparison(Translation& t) {
  t.Set(0,
        t.make.Add(Op{}, {t.make.Unquantized(t.in(0)), t.make.Unquantized(t.in(1))}, Type::kBool));
}

// Sum, Max, Min: any number of inputs, one after the other.
template <class Op>
void Variadic(Translation& t) {
  TensorId sum = t.in(0);
  for (size_t i = 1; i < t.input_count(); ++i) sum = Join(t, Ieee<Op>(), sum, t.in(i));
  t.Set(0, sum);
}

void ReadMean(Translation& t) {
  Variadic<Add>(t);
  if (t.outputs().empty()) return;
  const TensorId count = t.make.Scalar(static_cast<float>(t.input_count()));
  t.Set(0, t.make.AddLike(Ieee<Div>(), {t.outputs()[0], count}));
}

void ReadLeakyRelu(Translation& t) {
  t.Set(0, t.make.AddLike(LeakyRelu{t.Float("alpha", 0.01f)}, {t.in(0)}));
}

void ReadSelu(Translation& t) {
  const Selu standard;
  const Selu op = {t.Float("alpha", standard.alpha), t.Float("gamma", standard.gamma)};
  t.Set(0, t.make.AddLike(op, {t.in(0)}));
}

void ReadHardSigmoid(Translation& t) {
  t.Set(0, t.make.AddLike(HardSigmoid{t.Float("alpha", 0.2f), t.Float("beta", 0.5f)}, {t.in(0)}));
}

// x times HardSigmoid of x with alpha = 1 / 6 and beta = .5, each step rounded.
void ReadHardSwish(Translation& t) {
  const TensorId gate = t.make.AddLike(HardSigmoid{1.0f / 6.0f, 0.5f}, {t.in(0)});
  t.Set(0, t.make.AddLike(Ieee<Mul>(), {t.in(0), gate}));
}

void ReadShrink(Translation& t) {
  t.Set(0, t.make.AddLike(Shrink{t.Float("bias", 0), t.Float("lambd", 0.5f)}, {t.in(0)}));
}

void ReadIsInf(Translation& t) {
  const IsInf op = {t.Flag("detect_negative", true), t.Flag("detect_positive", true)};
  t.Set(0, t.make.Add(op, {t.in(0)}, Type::kBool));
}

void ReadIsNan(Translation& t) { t.Set(0, t.make.Add(IsNan{}, {t.in(0)}, Type::kBool)); }

void ReadBitShift(Translation& t) {
  const std::string direction = t.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") return t.Invalid("direction is unknown");
  t.Set(0, t.make.AddLike(BitShift{direction == "RIGHT"}, {t.in(0), t.in(1)}));
}

void ReadMod(Translation& t) {
  if (t.Flag("fmod", false)) return Binary<Fmod>(t);
  Binary<FloorMod>(t);
}

// A bound that is known, of x's type.
std::optional<Clip::Bound> BoundOf(Translation& t, TensorId id) {
  LayerMaker& make = t.make;
  if (id == kNoTensor) return std::nullopt;
  if (Count(make.ShapeOf(id)) != 1) t.Invalid("a bound is not one number");
  if (make.At(id).type == Type::kFloat32) {
    const std::vector<float> value = make.Floats(id, "a bound");
    return double{value[0]};
  }
  const std::vector<int64_t> value = make.Ints(id, "a bound");
  return value[0];
}

// Before opset 11 the bounds are attributes.
void ReadClip(Translation& t) {
  LayerMaker& make = t.make;
  Clip clip;
  if (t.opset() < 11) {
    if (t.HasAttribute("min")) clip.low = double{t.Float("min", 0)};
    if (t.HasAttribute("max")) clip.high = double{t.Float("max", 0)};
    return t.Set(0, make.AddLike(clip, {t.in(0)}));
  }
  const auto is_known = [&](TensorId id) { return id == kNoTensor || make.IsConstant(id); };
  TensorId x = make.Unquantized(t.in(0));
  if (is_known(t.optional(1)) && is_known(t.optional(2))) {
    clip.low = BoundOf(t, t.optional(1));
    clip.high = BoundOf(t, t.optional(2));
    return t.Set(0, make.AddLike(clip, {x}));
  }
  if (t.has(1)) x = Join(t, Ieee<Maximum>(), x, t.in(1));
  if (t.has(2)) x = Join(t, Ieee<Minimum>(), x, t.in(2));
  t.Set(0, x);
}

template <class T>
std::optional<double> First(const std::vector<T>& values) {
  if (values.empty()) return std::nullopt;
  return static_cast<double>(values[0]);
}

// The exponent of all elements of a tensor of float32, if it is known beforehand.
std::optional<double> KnownExponent(Translation& t) {
  LayerMaker& make = t.make;
  const TensorId id = t.in(1);
  if (make.At(t.in(0)).type != Type::kFloat32 || !make.IsConstant(id)) return std::nullopt;
  if (Count(make.ShapeOf(id)) != 1 || make.RankOf(id) > make.RankOf(t.in(0))) return std::nullopt;
  const Type type = make.At(id).type;
  if (type == Type::kFloat32) return First(make.Floats(id, "the exponent"));
  if (type != Type::kInt32 && type != Type::kInt64) return std::nullopt;
  return First(make.Ints(id, "the exponent"));
}

void ReadPow(Translation& t) {
  const TensorId x = t.in(0);
  const std::optional<double> exponent = KnownExponent(t);
  if (exponent != 2.0 && exponent != 3.0) {
    return t.Set(0, t.make.AddLike(Pow{}, {x, t.in(1)}));
  }
  t.Set(0, SquareOrCube(t.make, x, exponent == 3.0));
}

void ReadGelu(Translation& t) {
  const bool approximate = t.String("approximate", "none") == "tanh";
  t.Set(0, t.make.AddLike(Gelu{approximate}, {t.in(0)}));
}

void ReadPRelu(Translation& t) { t.Set(0, t.make.AddLike(Prelu{}, {t.in(0), t.in(1)})); }

void ReadIdentity(Translation& t) { t.Set(0, t.in(0)); }

// Whether the node drops elements, which only training does.
bool Drops(Translation& t) {
  if (t.opset() < 12 || !t.has(2)) return false;
  const std::vector<int64_t> training = t.make.Ints(t.in(2), "training_mode");
  if (training.empty() || training[0] == 0) return false;
  if (!t.has(1)) return true;
  const std::vector<float> ratio = t.make.Floats(t.in(1), "the ratio");
  return ratio.empty() || ratio[0] != 0;
}

void ReadDropout(Translation& t) {
  if (Drops(t)) return t.Refuse("training is not supported");
  t.Set(0, t.in(0));
  if (!t.wants(1)) return;
  const TensorId kept = t.make.CastTo(t.make.Scalar<uint8_t>(1), Type::kBool);
  t.Set(1, t.make.AddLike(Fill{t.input(0).shape}, {kept}));
}

void CastToElements(Translation& t, const ElementType& to) {
  LayerMaker& make = t.make;
  TensorId y = t.in(0);
  // Whole numbers lose their high bits, which float32 does not have: it saturates.
  if (to.bits < 8 && make.At(y).type == Type::kFloat32) y = make.CastTo(y, Type::kInt32);
  y = make.CastTo(y, to.type);
  if (to.bits < 8) {
    y = Narrowed(make, y, to.bits, Narrowing::kLowBits);
  } else if (y == t.in(0) && make.NarrowBits(y) > 0) {
    y = make.AddLike(Reshape{make.ShapeOf(y)}, {y});  // one that has 8 bits
  }
  t.SetWithBits(0, y, to.bits);
}

void ReadCast(Translation& t) {
  CastToElements(t, ElementTypeFrom(t, t.IntWithin("to", 0, 0, 1000)));
}

void ReadCastLike(Translation& t) { CastToElements(t, ElementTypeOf(t, t.in(1))); }

void ReadWhere(Translation& t) {
  t.Set(0, t.make.Add(SelectV2{}, {t.in(0), t.in(1), t.in(2)}, t.input(1).type));
}

constexpr const char* kNarrow = "int4, uint4, int2 and uint2 lie in int8 and uint8";

constexpr OnnxRow kRows[] = {
    {"Abs", Unary<Abs>, "float32, integers"},
    {"Acos", Unary<Acos>, "float32"},
    {"Acosh", Unary<Acosh>, "float32"},
    {"Add", Arithmetic<Add>, "float32, integers"},
    {"And", Binary<LogicalAnd>, "bool"},
    {"Asin", Unary<Asin>, "float32"},
    {"Asinh", Unary<Asinh>, "float32"},
    {"Atan", Unary<Atan>, "float32"},
    {"Atanh", Unary<Atanh>, "float32"},
    {"BitShift", ReadBitShift, "uint8"},
    {"BitwiseAnd", Binary<BitwiseAnd>, "integers"},
    {"BitwiseNot", Unary<BitwiseNot>, "integers"},
    {"BitwiseOr", Binary<BitwiseOr>, "integers"},
    {"BitwiseXor", Binary<BitwiseXor>, "integers"},
    {"Cast", ReadCast, "float32, integers, bool", 1, kEver, kNarrow},
    {"CastLike", ReadCastLike, "float32, integers, bool", 1, kEver, kNarrow},
    {"Ceil", Unary<Ceil>, "float32"},
    {"Celu", WithAlpha<Celu>, "float32"},
    {"Clip", ReadClip, "float32, integers"},
    {"Cos", Unary<Cos>, "float32"},
    {"Cosh", Unary<Cosh>, "float32"},
    {"Div", Arithmetic<Div>, "float32, integers"},
    {"Dropout", ReadDropout, "any"},
    {"Elu", WithAlpha<Elu>, "float32"},
    {"Equal", Comparison<Equal>, "float32, integers, bool"},
    {"Erf", Unary<Erf>, "float32"},
    {"Exp", Unary<Exp>, "float32"},
    {"Floor", Unary<Floor>, "float32"},
    {"Gelu", ReadGelu, "float32"},
    {"Greater", Comparison<Greater>, "float32, integers"},
    {"GreaterOrEqual", Comparison<GreaterEqual>, "float32, integers"},
    {"HardSigmoid", ReadHardSigmoid, "float32"},
    {"HardSwish", ReadHardSwish, "float32"},
    {"Identity", ReadIdentity, "any"},
    {"IsInf", ReadIsInf, "float32"},
    {"IsNaN", ReadIsNan, "float32"},
    {"LeakyRelu", ReadLeakyRelu, "float32"},
    {"Less", Comparison<Less>, "float32, integers"},
    {"LessOrEqual", Comparison<LessEqual>, "float32, integers"},
    {"Log", Unary<Log>, "float32"},
    {"Max", Variadic<Maximum>, "float32, integers"},
    {"Mean", ReadMean, "float32"},
    {"Min", Variadic<Minimum>, "float32, integers"},
    {"Mish", Unary<Mish>, "float32"},
    {"Mod", ReadMod, "float32, integers"},
    {"Mul", Arithmetic<Mul>, "float32, integers"},
    {"Neg", Unary<Neg>, "float32, integers"},
    {"Not", Unary<LogicalNot>, "bool"},
    {"Or", Binary<LogicalOr>, "bool"},
    {"PRelu", ReadPRelu, "float32"},
    {"Pow", ReadPow, "float32, int32, int64"},
    {"Reciprocal", Unary<Reciprocal>, "float32"},
    {"Relu", Unary<Relu>, "float32"},
    {"Round", Unary<Round>, "float32"},
    {"Selu", ReadSelu, "float32"},
    {"Shrink", ReadShrink, "float32"},
    {"Sigmoid", Unary<Logistic>, "float32"},
    {"Sign", Unary<Sign>, "float32, integers"},
    {"Sin", Unary<Sin>, "float32"},
    {"Sinh", Unary<Sinh>, "float32"},
    {"Softplus", Unary<Softplus>, "float32"},
    {"Softsign", Unary<Softsign>, "float32"},
    {"Sqrt", Unary<Sqrt>, "float32"},
    {"Sub", Arithmetic<Sub>, "float32, integers"},
    {"Sum", Variadic<Add>, "float32"},
    {"Swish", WithAlpha<Swish>, "float32"},
    {"Tan", Unary<Tan>, "float32"},
    {"Tanh", Unary<Tanh>, "float32"},
    {"ThresholdedRelu", WithAlpha<ThresholdedRelu>, "float32"},
    {"Where", ReadWhere, "any"},
    {"Xor", Binary<LogicalXor>, "bool"},
};

}  // namespace

std::span<const OnnxRow> ElementwiseRows() { return kRows; }

}  // namespace intaglio::nn::onnx
