#include "intaglio/nn/formats/onnx/integer_sums.h"

#include "intaglio/nn/formats/onnx/products.h"
#include "intaglio/nn/formats/onnx/quantization.h"
#include "intaglio/nn/ops/elementwise/dynamic_quantize.h"
#include "intaglio/nn/ops/linear/integer_products.h"

namespace intaglio::nn::onnx {
namespace {

Sums PlainSums() {
  Numerics numerics;
  numerics.scaling = Scaling::kNone;
  return {Type::kInt32, {}, numerics};
}

// The sums of x - zero point are those of x, less the zero point times the sums of ones in the
// place of x. So padding adds nothing, as it must.
template <class SumsOf>
TensorId LessZeroPoint(LayerMaker& make, TensorId x, TensorId zero_point, const SumsOf& sums_of) {
  const TensorId plain = make.Unquantized(x);
  const TensorId one = make.CastTo(make.Scalar<int32_t>(1), make.At(plain).type);
  const TensorId ones = make.AddLike(Fill{make.ShapeOf(plain)}, {one});
  const TensorId zero = make.CastTo(make.Unquantized(zero_point), Type::kInt32);
  const TensorId excess = make.AddLike(Mul{}, {sums_of(ones), make.Reshaped(zero, {})});
  return make.AddLike(Sub{}, {sums_of(plain), excess});
}

template <class SumsOf>
TensorId SumsLess(Translation& t, TensorId x, TensorId zero_point, const SumsOf& sums_of) {
  LayerMaker& make = t.make;
  if (zero_point != kNoTensor && !make.IsConstant(zero_point)) {
    return LessZeroPoint(make, x, zero_point, sums_of);
  }
  const Quantization known = ZeroPointsOf(t, zero_point);
  if (known.per_axis()) t.Refuse("zero points per row are not supported");
  return sums_of(make.Requantized(x, known));
}

// A zero point that each run tells, one number.
bool ARunTells(LayerMaker& make, TensorId zero_point) {
  return zero_point != kNoTensor && !make.IsConstant(zero_point) &&
         Count(make.ShapeOf(zero_point)) == 1;
}

TensorId ProductByRun(Translation& t, TensorId a, TensorId b, TensorId a_zero_point,
                      TensorId b_zero_point) {
  LayerMaker& make = t.make;
  const Quantization known = ZeroPointsOf(t, b_zero_point, make.RankOf(b) - 1);
  return make.Add(IntegerMatMul{},
                  {make.Unquantized(a), make.Requantized(b, known), make.Unquantized(a_zero_point)},
                  Type::kInt32);
}

}  // namespace

TensorId IntegerProduct(Translation& t, TensorId a, TensorId b, TensorId a_zero_point,
                        TensorId b_zero_point) {
  LayerMaker& make = t.make;
  if (ARunTells(make, a_zero_point) && make.RankOf(a) > 1 && make.RankOf(b) > 1) {
    return ProductByRun(t, a, b, a_zero_point, b_zero_point);
  }
  const Weights right = {t.make.Unquantized(b), ZeroPointsOf(t, b_zero_point)};
  return SumsLess(t, a, a_zero_point, [&](TensorId left) {
    return MatrixProduct(t.make, left, right, kNoTensor, PlainSums());
  });
}

TensorId IntegerConvolution(Translation& t, TensorId x, TensorId filter, TensorId x_zero_point,
                            TensorId filter_zero_point) {
  const Weights weights = {t.make.Unquantized(filter), ZeroPointsOf(t, filter_zero_point)};
  // Depthwise products are fast only by kernels of their own, which need the zero point before.
  const bool has_depth = t.make.RankOf(filter) < 2 || t.make.ShapeOf(filter)[1] > 1;
  if (has_depth && ARunTells(t.make, x_zero_point)) {
    return ConvolutionByRun(t, t.make.Unquantized(x), weights, t.make.Unquantized(x_zero_point));
  }
  return SumsLess(t, x, x_zero_point, [&](TensorId image) {
    return Convolution(t, image, weights, kNoTensor, PlainSums());
  });
}

DynamicallyQuantized QuantizeDynamically(Translation& t, TensorId x) {
  LayerMaker& make = t.make;
  const std::vector<TensorId> y =
      make.AddMany(DynamicQuantize{}, {x}, {Type::kUInt8, Type::kFloat32, Type::kUInt8});
  return {y[0], y[1], y[2]};
}

}  // namespace intaglio::nn::onnx
