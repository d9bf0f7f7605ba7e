// Products of onnxruntime's own domain, com.microsoft.
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

constexpr int kAny = std::numeric_limits<int>::max();

constexpr OnnxRow Microsoft(const char* name, void (*read)(Translation& t), const char* types,
                            const char* remark = "") {
  return {name, read, types, 1, kAny, remark, kMicrosoft};
}

constexpr OnnxRow kRows[] = {
    Microsoft("DynamicQuantizeMatMul", ReadDynamicQuantizeMatMul, "float32"),
    Microsoft("MatMulIntegerToFloat", ReadMatMulIntegerToFloat, "int8, uint8"),
    Microsoft("QGemm", ReadQGemm, "int8, uint8", "alpha = 1"),
};

}  // namespace

std::span<const OnnxRow> MicrosoftRows() { return kRows; }

}  // namespace intaglio::nn::onnx
