// Quantized operators of the standard.
#include <limits>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
#include "intaglio/nn/formats/onnx/integer_sums.h"
#include "intaglio/nn/formats/onnx/narrow.h"
#include "intaglio/nn/formats/onnx/products.h"
#include "intaglio/nn/formats/onnx/quantization.h"
#include "intaglio/nn/formats/onnx/rows.h"
#include "intaglio/nn/formats/onnx/tensors.h"

namespace intaglio::nn::onnx {
namespace {

// A scale per index of the axis, or per block of it, as a tensor that broadcasts to x.
struct Spread {
  Shape x;       // its shape, where blocks are apart
  Shape scales;  // that of the scales
};

Spread SpreadOver(Translation& t, int axis) {
  const Shape x = t.input(0).shape;
  const Shape scale = t.input(1).shape;
  if (Count(scale) == 1) return {x, {}};
  const auto place = static_cast<size_t>(axis);
  if (scale.size() == 1) {
    Shape line(x.size(), 1);
    if (place < x.size()) line[place] = scale[0];
    return {x, line};
  }
  const int block = t.IntWithin("block_size", 0, 0, std::numeric_limits<int>::max());
  if (scale.size() != x.size() || block < 1 || x[place] != int64_t{block} * scale[place]) {
    t.Refuse("scales of " + ToString(scale) + " in blocks of " + std::to_string(block) +
             " do not fit " + ToString(x));
    return {x, scale};
  }
  Spread spread = {x, scale};
  spread.x[place] = scale[place];
  spread.x.insert(spread.x.begin() + axis + 1, block);
  spread.scales.insert(spread.scales.begin() + axis + 1, 1);
  return spread;
}

int QuantizationAxis(Translation& t) {
  if (Count(t.input(1).shape) == 1) return 0;
  return Axis(t.make, t.Int("axis", 1), t.rank(0));
}

bool IsSimple(Translation& t) {
  return t.make.RankOf(t.in(1)) <= 1 && t.make.IsConstant(t.in(1)) &&
         (!t.has(2) || t.make.IsConstant(t.in(2)));
}

// (x - zero point) * scale, for scales that a run computes or that belong to blocks.
TensorId DequantizedBySteps(Translation& t, const Spread& spread) {
  LayerMaker& make = t.make;
  const Shape shape = make.ShapeOf(t.in(0));
  TensorId x = make.CastTo(make.Unquantized(t.in(0)), Type::kInt32);
  x = make.Reshaped(x, spread.x);
  if (t.has(2)) {
    const TensorId zero = make.CastTo(make.Unquantized(t.in(2)), Type::kInt32);
    x = make.AddLike(Sub{}, {x, make.Reshaped(zero, spread.scales)});
  }
  x = make.CastTo(x, Type::kFloat32);
  x = make.AddLike(Ieee<Mul>(), {x, make.Reshaped(t.in(1), spread.scales)});
  return make.Reshaped(x, shape);
}

void ReadDequantizeLinear(Translation& t) {
  const int axis = QuantizationAxis(t);
  if (t.input(1).type != Type::kFloat32) return t.Refuse("scales must be float32");
  if (!IsSimple(t)) return t.Set(0, DequantizedBySteps(t, SpreadOver(t, axis)));
  const Quantization quantization = QuantizationOf(t, t.in(1), t.optional(2), axis);
  const TensorId x = t.make.Requantized(t.in(0), quantization);
  t.Set(0, t.make.Add(Dequantize{}, {x}, Type::kFloat32, {}, HalfEven()));
}

ElementType QuantizedType(Translation& t) {
  if (t.has(2)) return ElementTypeOf(t, t.in(2));
  const auto code = static_cast<int>(t.IntWithin("output_dtype", 0, 0, 1000));
  return code == 0 ? ElementType{} : ElementTypeFrom(t, code);
}

std::pair<float, float> RangeOf(Type type) {
  switch (type) {
    case Type::kInt8:
      return {-128.0f, 127.0f};
    case Type::kInt16:
      return {-32768.0f, 32767.0f};
    case Type::kUInt16:
      return {0.0f, 65535.0f};
    default:
      return {0.0f, 255.0f};
  }
}

// saturate(round(x / scale) + zero point), for scales that a run computes or that belong to blocks.
TensorId QuantizedBySteps(Translation& t, const Spread& spread, Type type) {
  LayerMaker& make = t.make;
  const Shape shape = make.ShapeOf(t.in(0));
  TensorId x = make.CastTo(t.in(0), Type::kFloat32);
  x = make.Reshaped(x, spread.x);
  x = make.AddLike(Ieee<Div>(), {x, make.Reshaped(t.in(1), spread.scales)});
  x = make.AddLike(Round{}, {x});
  if (t.has(2)) {
    const TensorId zero = make.CastTo(make.Unquantized(t.in(2)), Type::kFloat32);
    x = make.AddLike(Ieee<Add>(), {x, make.Reshaped(zero, spread.scales)});
  }
  const auto [least, most] = RangeOf(type);
  x = make.AddLike(Maximum{}, {x, make.Scalar(least)});
  x = make.AddLike(Minimum{}, {x, make.Scalar(most)});
  return make.Reshaped(make.CastTo(x, type), shape);
}

TensorId QuantizedTo(Translation& t, Type type) {
  const int axis = QuantizationAxis(t);
  if (!IsSimple(t)) return QuantizedBySteps(t, SpreadOver(t, axis), type);
  const Quantization quantization = QuantizationOf(t, t.in(1), t.optional(2), axis);
  const TensorId x = t.make.CastTo(t.in(0), Type::kFloat32);
  return t.make.Add(Quantize{}, {x}, type, quantization, HalfEven());
}

void ReadQuantizeLinear(Translation& t) {
  const ElementType to = QuantizedType(t);
  if (t.input(1).type != Type::kFloat32) return t.Refuse("scales must be float32");
  TensorId y = QuantizedTo(t, to.type);
  if (to.bits < 8) y = Narrowed(t.make, y, to.bits, Narrowing::kSaturate);
  t.SetWithBits(0, y, to.bits);
}

void ReadDynamicQuantizeLinear(Translation& t) {
  const DynamicallyQuantized y = QuantizeDynamically(t, t.in(0));
  t.Set(0, y.values);
  t.Set(1, y.scale);
  t.Set(2, y.zero_point);
}

void ReadQLinearConv(Translation& t) {
  const TensorId x = QuantizedInput(t, 0);
  const Weights filter = QuantizedWeights(t, 3);
  const Sums to = QuantizedOutput(t, 6, Type::kUInt8);
  t.Set(0, Convolution(t, x, filter, t.optional(8), to));
}

void ReadQLinearMatMul(Translation& t) {
  const TensorId a = QuantizedInput(t, 0);
  const Weights b = QuantizedWeights(t, 3);
  t.Set(0, MatrixProduct(t.make, a, b, kNoTensor, QuantizedOutput(t, 6, Type::kUInt8)));
}

void ReadConvInteger(Translation& t) {
  t.Set(0, IntegerConvolution(t, t.in(0), t.in(1), t.optional(2), t.optional(3)));
}

void ReadMatMulInteger(Translation& t) {
  t.Set(0, IntegerProduct(t, t.in(0), t.in(1), t.optional(2), t.optional(3)));
}

constexpr int kAny = std::numeric_limits<int>::max();

constexpr OnnxRow kRows[] = {
    {"ConvInteger", ReadConvInteger, "int8, uint8", 10, kAny, "weights may be of the other type"},
    {"DequantizeLinear", ReadDequantizeLinear,
     "int8, uint8, int16, uint16, int32, int4, uint4, int2, uint2", 10, kAny,
     "per tensor, axis or block"},
    {"DynamicQuantizeLinear", ReadDynamicQuantizeLinear, "float32", 11},
    {"MatMulInteger", ReadMatMulInteger, "int8, uint8", 10, kAny,
     "weights may be of the other type"},
    {"QLinearConv", ReadQLinearConv, "int8, uint8", 10, kAny, "weights may be of the other type"},
    {"QLinearMatMul", ReadQLinearMatMul, "int8, uint8", 10, kAny,
     "weights may be of the other type"},
    {"QuantizeLinear", ReadQuantizeLinear, "float32, int32", 10, kAny,
     "to int8, uint8, int16, uint16, int4, uint4, int2, uint2; per tensor, axis or block"},
    {"DequantizeLinear", ReadDequantizeLinear,
     "int8, uint8, int16, uint16, int32, int4, uint4, int2, uint2", 1, kAny,
     "per tensor, axis or block", kMicrosoft},
    {"QuantizeLinear", ReadQuantizeLinear, "float32, int32", 1, kAny,
     "to int8, uint8, int16, uint16, int4, uint4, int2, uint2; per tensor, axis or block",
     kMicrosoft},
};

}  // namespace

std::span<const OnnxRow> QuantizedRows() { return kRows; }

}  // namespace intaglio::nn::onnx
