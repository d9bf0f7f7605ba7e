// The operators of onnxruntime's own domain, com.microsoft.
#include <limits>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/integer_sums.h"
#include "intaglio/nn/formats/onnx/products.h"
#include "intaglio/nn/formats/onnx/quantization.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

Sums Dequantized() {
  Numerics numerics;
  numerics.scaling = Scaling::kToFloat;
  numerics.float32_scales = true;
  return {Type::kFloat32, {}, numerics};
}

// a, scale, zero point, b, scale, zero point, bias, and the output's scale and zero point. Without
// the last two the output is float32.
void ReadQGemm(Translation& t) {
  LayerMaker& make = t.make;
  if (t.Float("alpha", 1) != 1.0f) return t.Refuse("only alpha = 1 is supported");
  TensorId a = QuantizedInput(t, 0);
  Weights b = QuantizedWeights(t, 3);
  if (t.Flag("transA", false)) a = make.Transposed(a, {1, 0});
  if (t.Flag("transB", false)) b.id = make.Transposed(b.id, {1, 0});
  const Sums to = t.has(7) ? QuantizedOutput(t, 7, Type::kUInt8) : Dequantized();
  TensorId bias = t.optional(6);
  if (bias != kNoTensor) bias = make.Reshaped(bias, {static_cast<int>(Count(make.ShapeOf(bias)))});
  t.Set(0, MatrixProduct(make, a, b, bias, to));
}

// f32(sum) * f32(scale of a * scale of b), then the bias. Scales may be those of a run.
TensorId IntegerToFloat(Translation& t, TensorId sums, TensorId a_scale, TensorId b_scale,
                        TensorId bias) {
  LayerMaker& make = t.make;
  const TensorId scale = make.AddLike(Mul{}, {b_scale, make.Reshaped(a_scale, {})});
  TensorId y = make.AddLike(Mul{}, {make.CastTo(sums, Type::kFloat32), scale});
  if (bias != kNoTensor) y = make.AddLike(Add{}, {y, bias});
  return y;
}

// a, b, scale of a, scale of b, zero point of a, zero point of b, bias.
void ReadMatMulIntegerToFloat(Translation& t) {
  const TensorId sums = IntegerProduct(t, t.in(0), t.in(1), t.optional(4), t.optional(5));
  t.Set(0, IntegerToFloat(t, sums, t.in(2), t.in(3), t.optional(6)));
}

// a (float32, quantized on the fly), b, scale of b, zero point of b, bias.
void ReadDynamicQuantizeMatMul(Translation& t) {
  const DynamicallyQuantized a = QuantizeDynamically(t, t.in(0));
  const TensorId sums = IntegerProduct(t, a.values, t.in(1), a.zero_point, t.optional(3));
  t.Set(0, IntegerToFloat(t, sums, a.scale, t.in(2), t.optional(4)));
}

// Dequantized, computed in float32, quantized half to even: what a table of 256 entries holds.
TensorId DequantizedInput(Translation& t, size_t i) {
  return t.make.Add(Dequantize{}, {QuantizedInput(t, i)}, Type::kFloat32);
}

TensorId QuantizedTo(Translation& t, TensorId x, const Sums& to) {
  return t.make.Add(Quantize{}, {x}, to.type, to.quantization, to.numerics);
}

void ReadQLinearSigmoid(Translation& t) {
  const TensorId y = t.make.AddLike(Logistic{}, {DequantizedInput(t, 0)});
  t.Set(0, QuantizedTo(t, y, QuantizedOutput(t, 3, t.input(0).type)));
}

void ReadQLinearLeakyRelu(Translation& t) {
  const TensorId y = t.make.AddLike(LeakyRelu{t.Float("alpha", 0.01f)}, {DequantizedInput(t, 0)});
  t.Set(0, QuantizedTo(t, y, QuantizedOutput(t, 3, t.input(0).type)));
}

// The output's scale and zero point, then three inputs for each part.
void ReadQLinearConcat(Translation& t) {
  LayerMaker& make = t.make;
  if (t.input_count() < 5) return t.Invalid("has too few inputs");
  const Sums to = QuantizedOutput(t, 0, Type::kUInt8);
  std::vector<TensorId> parts;
  for (size_t i = 2; i < t.input_count() && make.ok(); i += 3) {
    const TensorId part = QuantizedInput(t, i);
    const Quantization& own = make.At(part).quantization;
    const bool same =
        own.scales == to.quantization.scales && own.zero_points == to.quantization.zero_points;
    parts.push_back(same ? part
                         : QuantizedTo(t, make.Add(Dequantize{}, {part}, Type::kFloat32), to));
  }
  if (!make.ok()) return;
  const int axis = Axis(make, t.Int("axis", 0), make.RankOf(parts[0]));
  t.Set(0, make.AddLike(Concatenation{axis}, parts));
}

// condition, x, scale, zero point, y, scale, zero point, and the output's.
void ReadQLinearWhere(Translation& t) {
  const Sums to = QuantizedOutput(t, 7, Type::kUInt8);
  const TensorId x = QuantizedTo(t, DequantizedInput(t, 1), to);
  const TensorId y = QuantizedTo(t, DequantizedInput(t, 4), to);
  t.Set(0, t.make.Add(SelectV2{}, {t.in(0), x, y}, to.type, to.quantization));
}

constexpr int kAny = std::numeric_limits<int>::max();

constexpr OnnxRow Microsoft(const char* name, void (*read)(Translation& t), const char* types,
                            const char* remark = "") {
  return {name, read, types, 1, kAny, remark, kMicrosoft};
}

constexpr OnnxRow kRows[] = {
    Microsoft("DynamicQuantizeMatMul", ReadDynamicQuantizeMatMul, "float32"),
    Microsoft("MatMulIntegerToFloat", ReadMatMulIntegerToFloat, "int8, uint8"),
    Microsoft("QGemm", ReadQGemm, "int8, uint8", "alpha = 1"),
    Microsoft("QLinearConcat", ReadQLinearConcat, "int8, uint8"),
    Microsoft("QLinearLeakyRelu", ReadQLinearLeakyRelu, "int8, uint8"),
    Microsoft("QLinearSigmoid", ReadQLinearSigmoid, "int8, uint8"),
    Microsoft("QLinearWhere", ReadQLinearWhere, "int8, uint8"),
};

}  // namespace

std::span<const OnnxRow> MicrosoftRows() { return kRows; }

}  // namespace intaglio::nn::onnx
