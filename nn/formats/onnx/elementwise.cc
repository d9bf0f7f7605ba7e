// Nodes that compute each element of the output from one element of each input.
#include <algorithm>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/rows.h"
#include "intaglio/nn/formats/onnx/tensors.h"

namespace intaglio::nn::onnx {
namespace {

template <class Op>
void Unary(Translation& t) {
  t.Set(0, t.make.AddLike(Op{}, {t.in(0)}));
}

template <class Op>
void Binary(Translation& t) {
  t.Set(0, t.make.AddLike(Op{}, {t.in(0), t.in(1)}));
}

template <class Op>
void Comparison(Translation& t) {
  t.Set(0, t.make.Add(Op{}, {t.in(0), t.in(1)}, Type::kBool));
}

// Sum, Max, Min: any number of inputs, one after the other.
template <class Op>
void Variadic(Translation& t) {
  TensorId sum = t.in(0);
  for (size_t i = 1; i < t.input_count(); ++i) sum = t.make.AddLike(Op{}, {sum, t.in(i)});
  t.Set(0, sum);
}

void ReadMean(Translation& t) {
  Variadic<Add>(t);
  if (t.outputs().empty()) return;
  const TensorId count = t.make.Scalar(static_cast<float>(t.input_count()));
  t.Set(0, t.make.AddLike(Div{}, {t.outputs()[0], count}));
}

void ReadLeakyRelu(Translation& t) {
  t.Set(0, t.make.AddLike(LeakyRelu{t.Float("alpha", 0.01f)}, {t.in(0)}));
}

void ReadGelu(Translation& t) {
  const bool approximate = t.String("approximate", "none") == "tanh";
  t.Set(0, t.make.AddLike(Gelu{approximate}, {t.in(0)}));
}

void ReadPRelu(Translation& t) { t.Set(0, t.make.AddLike(Prelu{}, {t.in(0), t.in(1)})); }

void ReadIdentity(Translation& t) { t.Set(0, t.in(0)); }

// Inference drops nothing.
void ReadDropout(Translation& t) {
  if (t.has(2)) {
    const std::vector<int64_t> training = t.make.Ints(t.in(2), "training_mode");
    if (!training.empty() && training[0] != 0) t.Refuse("training is not supported");
  }
  t.Set(0, t.in(0));
  if (!t.wants(1)) return;
  const size_t count = static_cast<size_t>(Count(t.input(0).shape));
  const TensorId ones = t.make.Constant(std::vector<uint8_t>(count, 1), t.make.ShapeOf(t.in(0)));
  t.Set(1, t.make.CastTo(ones, Type::kBool));
}

void ReadCast(Translation& t) {
  const Result<Type> type = TypeFrom(t.IntWithin("to", 0, 0, 1000));
  if (!type.ok()) return t.make.Fail(type.status());
  t.Set(0, t.make.CastTo(t.in(0), *type));
}

void ReadCastLike(Translation& t) { t.Set(0, t.make.CastTo(t.in(0), t.input(1).type)); }

void ReadWhere(Translation& t) {
  t.Set(0, t.make.Add(SelectV2{}, {t.in(0), t.in(1), t.in(2)}, t.input(1).type));
}

constexpr OnnxRow kRows[] = {
    {"Abs", Unary<Abs>, "float32, integers"},
    {"Add", Binary<Add>, "float32, integers"},
    {"And", Binary<LogicalAnd>, "bool"},
    {"Cast", ReadCast, "float32, integers, bool"},
    {"CastLike", ReadCastLike, "float32, integers, bool"},
    {"Ceil", Unary<Ceil>, "float32"},
    {"Cos", Unary<Cos>, "float32"},
    {"Div", Binary<Div>, "float32, integers"},
    {"Dropout", ReadDropout, "any"},
    {"Equal", Comparison<Equal>, "float32, integers, bool"},
    {"Exp", Unary<Exp>, "float32"},
    {"Floor", Unary<Floor>, "float32"},
    {"Gelu", ReadGelu, "float32"},
    {"Greater", Comparison<Greater>, "float32, integers"},
    {"GreaterOrEqual", Comparison<GreaterEqual>, "float32, integers"},
    {"HardSwish", Unary<HardSwish>, "float32"},
    {"Identity", ReadIdentity, "any"},
    {"LeakyRelu", ReadLeakyRelu, "float32"},
    {"Less", Comparison<Less>, "float32, integers"},
    {"LessOrEqual", Comparison<LessEqual>, "float32, integers"},
    {"Log", Unary<Log>, "float32"},
    {"Max", Variadic<Maximum>, "float32, integers"},
    {"Mean", ReadMean, "float32"},
    {"Min", Variadic<Minimum>, "float32, integers"},
    {"Mul", Binary<Mul>, "float32, integers"},
    {"Neg", Unary<Neg>, "float32, integers"},
    {"Not", Unary<LogicalNot>, "bool"},
    {"Or", Binary<LogicalOr>, "bool"},
    {"PRelu", ReadPRelu, "float32"},
    {"Pow", Binary<Pow>, "float32, int32"},
    {"Relu", Unary<Relu>, "float32"},
    {"Round", Unary<Round>, "float32"},
    {"Sigmoid", Unary<Logistic>, "float32"},
    {"Sin", Unary<Sin>, "float32"},
    {"Sqrt", Unary<Sqrt>, "float32"},
    {"Sub", Binary<Sub>, "float32, integers"},
    {"Sum", Variadic<Add>, "float32"},
    {"Tanh", Unary<Tanh>, "float32"},
    {"Where", ReadWhere, "any"},
};

}  // namespace

std::span<const OnnxRow> ElementwiseRows() { return kRows; }

}  // namespace intaglio::nn::onnx
