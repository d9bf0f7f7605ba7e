// Attention: softmax(Q K^T + bias) V, for each head.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

TensorId Plus(LayerMaker& make, TensorId a, TensorId b) {
  if (a == kNoTensor) return b;
  return b == kNoTensor ? a : make.AddLike(Ieee<Add>(), {a, b});
}
TensorId Times(LayerMaker& make, TensorId a, float factor) {
  return make.AddLike(Ieee<Mul>(), {a, make.Scalar(factor)});
}

// [batch, heads, places, size]. Files have this, or [batch, places, heads * size].
TensorId ByHeads(Translation& t, size_t i, const char* heads_name) {
  const Shape x = t.input(i).shape;
  if (x.size() == 4) return t.in(i);
  if (x.size() != 3) {
    t.Invalid("needs 3 or 4 dimensions");
    return kNoTensor;
  }
  const int heads = t.IntWithin(heads_name, 0, 1, std::max(x[2], 1));
  if (x[2] % heads != 0) {
    t.Invalid(std::string(heads_name) + " does not divide the last dimension");
    return kNoTensor;
  }
  return t.make.Transposed(t.make.Reshaped(t.in(i), {x[0], x[1], heads, x[2] / heads}),
                           {0, 2, 1, 3});
}

// Keys or values, behind those of earlier calls.
TensorId WithPast(Translation& t, TensorId now, size_t past) {
  if (!t.has(past)) return now;
  return t.make.AddLike(Concatenation{2}, {t.in(past), now});
}

// Which keys a query may see: those from `left` before its own place to `right` behind it.
struct Window {
  int queries = 0;
  int keys = 0;
  int left = -1;  // -1: without end
  int right = -1;

  bool all() const { return left < 0 && right < 0; }
};

// Key - query, [queries, keys].
TensorId Distances(LayerMaker& make, const Window& window) {
  make.CheckMemory(sizeof(int32_t) * static_cast<size_t>(window.queries) *
                   static_cast<size_t>(window.keys));
  std::vector<int32_t> distances;
  for (int query = 0; query < window.queries; ++query) {
    for (int key = 0; key < window.keys; ++key) distances.push_back(key - query);
  }
  return make.Constant<int32_t>(std::move(distances), {window.queries, window.keys});
}

// 0 where the condition holds, and else what no exponential survives.
TensorId BiasOf(LayerMaker& make, TensorId condition) {
  return make.Add(SelectV2{}, {condition, make.Scalar(0.0f), make.Scalar(kNever)}, Type::kFloat32);
}

TensorId PlusInt(LayerMaker& make, TensorId a, int b) {
  return make.AddLike(Add{}, {a, make.Scalar(static_cast<int32_t>(b))});
}

// The bias of a window. `offset` is an int32 that broadcasts to [batch, heads, queries, keys].
TensorId WindowBias(LayerMaker& make, const Window& window, TensorId offset) {
  TensorId bias = kNoTensor;
  const TensorId distances = Distances(make, window);
  if (window.right >= 0) {
    const TensorId last = PlusInt(make, offset, window.right);
    bias = BiasOf(make, make.Add(LessEqual{}, {distances, last}, Type::kBool));
  }
  if (window.left >= 0) {
    const TensorId first = PlusInt(make, offset, -window.left);
    bias =
        Plus(make, bias, BiasOf(make, make.Add(GreaterEqual{}, {distances, first}, Type::kBool)));
  }
  return bias;
}

// Input 3 as numbers that are added, for as many keys as there are.
TensorId MaskBias(Translation& t, int keys) {
  LayerMaker& make = t.make;
  if (!t.has(3)) return kNoTensor;
  const Shape shape = t.input(3).shape;
  const bool is_bool = t.input(3).type == Type::kBool;
  const TensorId bias = is_bool ? BiasOf(make, t.in(3)) : t.in(3);
  if (shape.empty() || shape.back() >= keys) return bias;
  Shape rest = shape;
  rest.back() = keys - shape.back();
  make.CheckMemory(sizeof(float) * static_cast<size_t>(Count(rest)));
  const TensorId never =
      make.Constant<float>(std::vector<float>(static_cast<size_t>(Count(rest)), kNever), rest);
  return make.AddLike(Concatenation{static_cast<int>(shape.size()) - 1}, {bias, never});
}

// What is added to the products of queries and keys; kNoTensor where nothing is.
TensorId Bias(Translation& t, const Shape& queries, const Shape& keys) {
  LayerMaker& make = t.make;
  const int past = t.has(4) ? t.input(4).shape[2] : 0;
  TensorId offset = make.Scalar(static_cast<int32_t>(past));
  TensorId valid = kNoTensor;  // how many keys there are, for each item of the batch
  if (t.has(6)) {
    valid = make.Reshaped(make.CastTo(t.in(6), Type::kInt32), {keys[0], 1, 1, 1});
    offset = PlusInt(make, valid, -queries[2]);
  }
  TensorId bias = MaskBias(t, keys[2]);
  if (t.Flag("is_causal", false)) {
    bias = Plus(make, bias, WindowBias(make, {queries[2], keys[2], -1, 0}, offset));
  }
  const int most = std::numeric_limits<int>::max() / 2;
  const Window window = {queries[2], keys[2], t.IntWithin("left_window_size", -1, -1, most),
                         t.IntWithin("right_window_size", -1, -1, most)};
  if (!window.all()) bias = Plus(make, bias, WindowBias(make, window, offset));
  if (valid == kNoTensor) return bias;
  const TensorId places = Distances(make, {1, keys[2]});
  return Plus(make, bias, BiasOf(make, make.Add(Less{}, {places, valid}, Type::kBool)));
}

// Softmax whose rows are 0 where no key may be seen, instead of NaN.
TensorId GuardedSoftmax(LayerMaker& make, TensorId scores, TensorId bias) {
  const TensorId softmax = make.AddLike(Softmax{}, {scores});
  if (bias == kNoTensor) return softmax;
  const int last = make.RankOf(bias) - 1;
  if (last < 0) return softmax;
  const TensorId most = make.AddLike(IeeeReduction<ReduceMax>({last}, true), {bias});
  if (make.IsConstant(most)) {
    const std::vector<float> known = make.Floats(most, "the bias");
    if (std::none_of(known.begin(), known.end(), [](float x) { return x == kNever; })) {
      return softmax;
    }
  }
  const TensorId none = make.Add(Equal{}, {most, make.Scalar(kNever)}, Type::kBool);
  return make.Add(SelectV2{}, {none, make.Scalar(0.0f), softmax}, Type::kFloat32);
}

bool Fit(const Shape& queries, const Shape& keys, const Shape& values) {
  return queries.size() == 4 && keys.size() == 4 && values.size() == 4 && keys[1] > 0 &&
         queries[0] == keys[0] && keys[0] == values[0] && queries[1] % keys[1] == 0 &&
         keys[1] == values[1] && queries[3] == keys[3] && keys[2] == values[2];
}

// A product of each head of `a` by the one of `b` that it shares with its neighbours.
TensorId HeadProduct(LayerMaker& make, TensorId a, TensorId b, bool transposed) {
  const Shape many = make.ShapeOf(a);
  const Shape few = make.ShapeOf(b);
  const int shared = many[1] / few[1];
  const TensorId lines = make.Reshaped(a, {many[0], few[1], shared * many[2], many[3]});
  BatchMatMul op;
  op.adjoint_b = transposed;
  const TensorId product = make.AddLike(op, {lines, b});
  return make.Reshaped(product, {many[0], many[1], many[2], few[transposed ? 2 : 3]});
}

enum Stage { kProduct, kCapped, kBiased, kSoftmax };  // qk_matmul_output_mode

void ReadAttention(Translation& t) {
  LayerMaker& make = t.make;
  if (t.Int("softmax_precision", TensorProto::FLOAT) != TensorProto::FLOAT) {
    return t.Refuse("softmax_precision other than float32");
  }
  const TensorId q = ByHeads(t, 0, "q_num_heads");
  const TensorId k = WithPast(t, ByHeads(t, 1, "kv_num_heads"), 4);
  const TensorId v = WithPast(t, ByHeads(t, 2, "kv_num_heads"), 5);
  const Shape queries = make.ShapeOf(q);
  const Shape keys = make.ShapeOf(k);
  if (!Fit(queries, keys, make.ShapeOf(v))) {
    return t.Invalid("queries, keys and values of " + ToString(queries) + ", " + ToString(keys) +
                     " and " + ToString(make.ShapeOf(v)) + " do not fit");
  }
  // Each factor has the root of the scale, so that no product is larger than it must be.
  const float scale = std::sqrt(
      t.Float("scale", static_cast<float>(1 / std::sqrt(static_cast<double>(queries[3])))));
  TensorId stages[4] = {};
  stages[kProduct] = HeadProduct(make, Times(make, q, scale), Times(make, k, scale), true);
  const float cap = t.Float("softcap", 0);
  stages[kCapped] = stages[kProduct];
  if (cap > 0) {
    const TensorId bounded =
        make.AddLike(Tanh{}, {make.AddLike(Ieee<Div>(), {stages[kProduct], make.Scalar(cap)})});
    stages[kCapped] = Times(make, bounded, cap);
  }
  const TensorId bias = Bias(t, queries, keys);
  stages[kBiased] = Plus(make, stages[kCapped], bias);
  stages[kSoftmax] = GuardedSoftmax(make, stages[kBiased], bias);
  TensorId y = HeadProduct(make, stages[kSoftmax], v, false);
  if (t.rank(0) == 3) {
    const Shape heads = make.ShapeOf(y);
    y = make.Reshaped(make.Transposed(y, {0, 2, 1, 3}), {heads[0], heads[2], heads[1] * heads[3]});
  }
  t.Set(0, y);
  t.Set(1, k);
  t.Set(2, v);
  if (t.wants(3)) t.Set(3, stages[t.IntWithin("qk_matmul_output_mode", 0, 0, 3)]);
}

constexpr OnnxRow kRows[] = {
    {"Attention", ReadAttention, "float32", 23},
};

}  // namespace

std::span<const OnnxRow> AttentionRows() { return kRows; }

}  // namespace intaglio::nn::onnx
