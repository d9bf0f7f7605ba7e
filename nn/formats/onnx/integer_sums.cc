#include "intaglio/nn/formats/onnx/integer_sums.h"

#include "intaglio/nn/formats/onnx/products.h"
#include "intaglio/nn/formats/onnx/quantization.h"

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

}  // namespace

TensorId IntegerProduct(Translation& t, TensorId a, TensorId b, TensorId a_zero_point,
                        TensorId b_zero_point) {
  const Weights right = {t.make.Unquantized(b), ZeroPointsOf(t, b_zero_point)};
  return SumsLess(t, a, a_zero_point, [&](TensorId left) {
    return MatrixProduct(t.make, left, right, kNoTensor, PlainSums());
  });
}

TensorId IntegerConvolution(Translation& t, TensorId x, TensorId filter, TensorId x_zero_point,
                            TensorId filter_zero_point) {
  const Weights weights = {t.make.Unquantized(filter), ZeroPointsOf(t, filter_zero_point)};
  return SumsLess(t, x, x_zero_point, [&](TensorId image) {
    return Convolution(t, image, weights, kNoTensor, PlainSums());
  });
}

DynamicallyQuantized QuantizeDynamically(Translation& t, TensorId x) {
  LayerMaker& make = t.make;
  if (!make.ok()) return {};
  const TensorId line = make.Reshaped(x, {static_cast<int>(Count(make.ShapeOf(x)))});
  const TensorId zero = make.Scalar(0.0f);
  const TensorId top = make.Scalar(255.0f);
  const auto clamped = [&](TensorId id) {
    return make.AddLike(Minimum{}, {make.AddLike(Maximum{}, {id, zero}), top});
  };
  const TensorId most = make.AddLike(Maximum{}, {make.AddLike(ReduceMax{{0}}, {line}), zero});
  const TensorId least = make.AddLike(Minimum{}, {make.AddLike(ReduceMin{{0}}, {line}), zero});
  const TensorId width = make.AddLike(Sub{}, {most, least});
  const TensorId computed = make.AddLike(Div{}, {width, top});
  // Where all of x is 0, any scale is right.
  const TensorId is_zero = make.Add(Equal{}, {computed, zero}, Type::kBool);
  const TensorId scale =
      make.Add(SelectV2{}, {is_zero, make.Scalar(1.0f), computed}, Type::kFloat32);
  const TensorId places = make.AddLike(Div{}, {make.AddLike(Sub{}, {zero, least}), scale});
  const TensorId point = clamped(make.AddLike(Round{}, {places}));
  const TensorId rounded = make.AddLike(Round{}, {make.AddLike(Div{}, {x, scale})});
  const TensorId y = clamped(make.AddLike(Add{}, {rounded, point}));
  return {make.CastTo(y, Type::kUInt8), scale, make.CastTo(point, Type::kUInt8)};
}

}  // namespace intaglio::nn::onnx
