// RotaryEmbedding: turns pairs of numbers by angles that depend on the place in a sequence.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

TensorId Times(LayerMaker& make, TensorId a, TensorId b) {
  return make.AddLike(Ieee<Mul>(), {a, b});
}

// x as [batch, sequence, heads, size]. Files have [batch, heads, sequence, size], or three
// dimensions and the attribute num_heads.
TensorId ByPlace(Translation& t) {
  const Shape x = t.input(0).shape;
  if (x.size() == 4) return t.make.Transposed(t.in(0), {0, 2, 1, 3});
  if (x.size() != 3) {
    t.Invalid("needs 3 or 4 dimensions");
    return kNoTensor;
  }
  const int heads = t.IntWithin("num_heads", 0, 1, std::max(x[2], 1));
  if (x[2] % heads != 0) t.Invalid("num_heads does not divide the last dimension");
  return t.make.Reshaped(t.in(0), {x[0], x[1], heads, x[2] / heads});
}

// Cosines or sines as [batch, sequence, 1, pairs]: those at the places of input 3, or all.
TensorId Table(Translation& t, size_t i, int pairs) {
  LayerMaker& make = t.make;
  const TensorId table = t.has(3) ? make.AddLike(Gather{0}, {t.in(i), t.in(3)}) : t.in(i);
  Shape shape = make.ShapeOf(table);
  if (shape.size() != 3 || shape[2] != pairs) {
    t.Invalid("a table of " + ToString(shape) + " does not fit " + std::to_string(pairs) +
              " pairs");
    return kNoTensor;
  }
  shape.insert(shape.begin() + 2, 1);
  return make.Reshaped(table, shape);
}

struct Pairs {
  TensorId first = kNoTensor;
  TensorId second = kNoTensor;
};

// (first cos - second sin, first sin + second cos)
Pairs Turned(LayerMaker& make, const Pairs& x, TensorId cosines, TensorId sines) {
  return {make.AddLike(Ieee<Sub>(), {Times(make, x.first, cosines), Times(make, x.second, sines)}),
          make.AddLike(Ieee<Add>(), {Times(make, x.first, sines), Times(make, x.second, cosines)})};
}

// The two halves along the last axis, each of which becomes `shape`.
Pairs Halves(LayerMaker& make, TensorId id, int half, const Shape& shape) {
  const int last = make.RankOf(id) - 1;
  const std::vector<TensorId> parts =
      make.AddMany(SplitV{last, {half, half}}, {id}, {Type::kFloat32, Type::kFloat32});
  return {make.Reshaped(parts[0], shape), make.Reshaped(parts[1], shape)};
}

// The numbers of a pair lie beside each other, or half of all apart.
TensorId Turned(Translation& t, TensorId x) {
  LayerMaker& make = t.make;
  const Shape shape = make.ShapeOf(x);
  const int pairs = shape[3] / 2;
  const TensorId cosines = Table(t, 1, pairs);
  const TensorId sines = Table(t, 2, pairs);
  const Shape halved = {shape[0], shape[1], shape[2], pairs};
  if (!t.Flag("interleaved", false)) {
    const Pairs turned = Turned(make, Halves(make, x, pairs, halved), cosines, sines);
    return make.AddLike(Concatenation{3}, {turned.first, turned.second});
  }
  const Shape single = {shape[0], shape[1], shape[2], pairs, 1};
  const Shape beside = {shape[0], shape[1], shape[2], pairs, 2};
  const Pairs turned =
      Turned(make, Halves(make, make.Reshaped(x, beside), 1, halved), cosines, sines);
  const TensorId both = make.AddLike(Concatenation{4}, {make.Reshaped(turned.first, single),
                                                        make.Reshaped(turned.second, single)});
  return make.Reshaped(both, shape);
}

void ReadRotaryEmbedding(Translation& t) {
  LayerMaker& make = t.make;
  const TensorId x = ByPlace(t);
  const int size = make.ShapeOf(x)[3];
  int turned = t.IntWithin("rotary_embedding_dim", 0, 0, size);
  if (turned == 0) turned = size;
  if (turned % 2 != 0) return t.Invalid("numbers of an odd dimension make no pairs");
  TensorId result = kNoTensor;
  if (turned == size) {
    result = Turned(t, x);
  } else {
    const std::vector<TensorId> parts =
        make.AddMany(SplitV{3, {turned, size - turned}}, {x}, {Type::kFloat32, Type::kFloat32});
    result = make.AddLike(Concatenation{3}, {Turned(t, parts[0]), parts[1]});
  }
  if (t.rank(0) == 4) return t.Set(0, make.Transposed(result, {0, 2, 1, 3}));
  t.Set(0, make.Reshaped(result, t.input(0).shape));
}

constexpr OnnxRow kRows[] = {
    {"RotaryEmbedding", ReadRotaryEmbedding, "float32", 23},
};

}  // namespace

std::span<const OnnxRow> RotaryRows() { return kRows; }

}  // namespace intaglio::nn::onnx
