// Matrix products and convolutions of float32. Convolutions work on channels that lie last.
#include <cmath>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/images.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

TensorId Scaled(LayerMaker& make, TensorId id, float factor) {
  if (factor == 1.0f) return id;
  return make.AddLike(Mul{}, {id, make.Scalar(factor)});
}

// Whether a bias has one number for each column, all lines the same.
bool IsRow(const Shape& shape, int columns) {
  if (shape.empty() || shape.back() != columns) return false;
  return Count(shape) == columns;
}

void ReadGemm(Translation& t) {
  LayerMaker& make = t.make;
  const float alpha = t.Float("alpha", 1);
  const float beta = t.Float("beta", 1);
  TensorId a = t.in(0);
  TensorId b = t.in(1);
  if (make.ok() && (make.RankOf(a) != 2 || make.RankOf(b) != 2)) return t.Invalid("needs matrices");
  if (t.Flag("transA", false)) a = make.Transposed(a, {1, 0});
  if (!t.Flag("transB", false)) b = make.Transposed(b, {1, 0});
  a = Scaled(make, a, alpha);
  if (!make.ok()) return;
  const int columns = make.ShapeOf(b)[0];
  const TensorId c = beta == 0 ? kNoTensor : Scaled(make, t.optional(2), beta);
  std::vector<TensorId> inputs = {a, b};
  const bool is_bias = c != kNoTensor && IsRow(make.ShapeOf(c), columns);
  if (is_bias) inputs.push_back(make.Reshaped(c, {columns}));
  TensorId product = make.Add(FullyConnected{}, inputs, make.At(a).type);
  if (c != kNoTensor && !is_bias) product = make.AddLike(Add{}, {product, c});
  t.Set(0, product);
}

// A right side that is one constant matrix is packed once.
TensorId ProductByConstant(LayerMaker& make, TensorId a, TensorId b) {
  const TensorId weights = make.Transposed(b, {1, 0});
  return make.Add(FullyConnected{.keep_num_dims = true}, {a, weights}, Type::kFloat32);
}

void ReadMatMul(Translation& t) {
  LayerMaker& make = t.make;
  TensorId a = t.in(0);
  TensorId b = t.in(1);
  if (!make.ok()) return;
  const bool row = make.RankOf(a) == 1;
  const bool column = make.RankOf(b) == 1;
  if (make.RankOf(a) == 0 || make.RankOf(b) == 0) return t.Invalid("needs matrices");
  if (row) a = make.Reshaped(a, {1, make.ShapeOf(a)[0]});
  if (column) b = make.Reshaped(b, {make.ShapeOf(b)[0], 1});
  if (!make.ok()) return;
  const bool packed = make.RankOf(b) == 2 && make.IsConstant(b);
  TensorId product =
      packed ? ProductByConstant(make, a, b) : make.Add(BatchMatMul{}, {a, b}, Type::kFloat32);
  Shape shape = make.ShapeOf(product);
  if (row && make.ok()) shape.erase(shape.end() - 2);
  if (column && make.ok()) shape.pop_back();
  t.Set(0, make.Reshaped(product, shape));
}

// Filters [O, C / groups, KH, KW] become [O, KH, KW, C / groups] or, where each channel is a group
// of its own, [1, KH, KW, O].
void ReadConv(Translation& t) {
  LayerMaker& make = t.make;
  const int groups = t.IntWithin("group", 1, 1, std::numeric_limits<int>::max());
  const Images images = Images::Of(t, t.in(0));
  const TensorId filter = images.Spatial2D(make, t.in(1));
  if (!make.ok()) return;
  const Shape& shape = make.ShapeOf(filter);
  const Shape& x = make.ShapeOf(images.nhwc);
  if (int64_t{shape[1]} * groups != x[3] || shape[0] % groups != 0) {
    return t.Invalid("filters of " + ToString(shape) + " do not fit " + std::to_string(groups) +
                     " groups of " + std::to_string(x[3]) + " channels");
  }
  const Window2D window = Window2D::Of(t, {shape[2], shape[3]}, {x[1], x[2]});
  const bool depthwise = groups == x[3] && groups > 1;
  const std::vector<int> order =
      depthwise ? std::vector<int>{1, 2, 3, 0} : std::vector<int>{0, 2, 3, 1};
  std::vector<TensorId> inputs = {images.nhwc, make.Transposed(filter, order)};
  if (t.has(2)) inputs.push_back(t.in(2));
  const Operator op =
      depthwise ? Operator(DepthwiseConv2D{window.stride, window.dilation, window.padding})
                : Operator(Conv2D{window.stride, window.dilation, window.padding});
  t.Set(0, images.Back(make, make.Add(op, inputs, Type::kFloat32)));
}

constexpr OnnxRow kRows[] = {
    {"Conv", ReadConv, "float32", 1, std::numeric_limits<int>::max(), "1 or 2 spatial dimensions"},
    {"Gemm", ReadGemm, "float32"},
    {"MatMul", ReadMatMul, "float32"},
};

}  // namespace

std::span<const OnnxRow> LinearRows() { return kRows; }

}  // namespace intaglio::nn::onnx
