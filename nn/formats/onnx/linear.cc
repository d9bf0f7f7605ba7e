// Matrix products and convolutions of float32.
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
#include "intaglio/nn/formats/onnx/conv_transpose.h"
#include "intaglio/nn/formats/onnx/einsum.h"
#include "intaglio/nn/formats/onnx/products.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

TensorId Scaled(LayerMaker& make, TensorId id, float factor) {
  if (factor == 1.0f) return id;
  return make.AddLike(Ieee<Mul>(), {id, make.Scalar(factor)});
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
  if (make.RankOf(a) != 2 || make.RankOf(b) != 2) return t.Invalid("needs matrices");
  if (t.Flag("transA", false)) a = make.Transposed(a, {1, 0});
  if (!t.Flag("transB", false)) b = make.Transposed(b, {1, 0});
  a = Scaled(make, a, alpha);
  const int columns = make.ShapeOf(b)[0];
  const TensorId c = beta == 0 ? kNoTensor : Scaled(make, t.optional(2), beta);
  std::vector<TensorId> inputs = {a, b};
  const bool is_bias = c != kNoTensor && IsRow(make.ShapeOf(c), columns);
  if (is_bias) inputs.push_back(make.Reshaped(c, {columns}));
  TensorId product = make.Add(FullyConnected{}, inputs, make.At(a).type);
  if (c != kNoTensor && !is_bias) product = make.AddLike(Ieee<Add>(), {product, c});
  t.Set(0, product);
}

void ReadMatMul(Translation& t) {
  t.Set(0, MatrixProduct(t.make, t.in(0), {t.in(1)}, kNoTensor, {}));
}

void ReadConv(Translation& t) { t.Set(0, Convolution(t, t.in(0), {t.in(1)}, t.optional(2), {})); }

constexpr OnnxRow kRows[] = {
    {"Conv", ReadConv, "float32", 1, kEver, "1 or 2 spatial dimensions"},
    {"ConvTranspose", ReadConvTranspose, "float32", 1, kEver, "1 to 3 spatial dimensions"},
    {"Einsum", ReadEinsum, "float32", 12},
    {"Gemm", ReadGemm, "float32"},
    {"MatMul", ReadMatMul, "float32"},
};

}  // namespace

std::span<const OnnxRow> LinearRows() { return kRows; }

}  // namespace intaglio::nn::onnx
