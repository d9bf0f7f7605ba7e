// Quantized operators of onnxruntime's own domain, com.microsoft, other than products. They follow
// its arithmetic on x86, in which many of them add the zero point before they round.
#include <limits>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/arithmetic.h"
#include "intaglio/nn/formats/onnx/pools.h"
#include "intaglio/nn/formats/onnx/quantization.h"
#include "intaglio/nn/formats/onnx/rows.h"

namespace intaglio::nn::onnx {
namespace {

TensorId Dequantized(Translation& t, size_t i) {
  return t.make.Add(Dequantize{}, {QuantizedInput(t, i)}, Type::kFloat32);
}

TensorId Quantized(Translation& t, TensorId x, const Sums& to) {
  return t.make.Add(Quantize{}, {x}, to.type, to.quantization, to.numerics);
}

// Numbers that are counted in steps of the output, zero point included.
TensorId RoundedTo(LayerMaker& make, TensorId x, const Sums& to) {
  Clip clip;
  clip.low = to.type == Type::kInt8 ? -128.0 : 0.0;
  clip.high = to.type == Type::kInt8 ? 127.0 : 255.0;
  x = make.AddLike(clip, {make.AddLike(Round{}, {x})});
  return make.Requantized(make.CastTo(x, to.type), to.quantization);
}

struct Parameters {
  float scale = 1;
  float zero_point = 0;
};

Parameters ParametersOf(const Quantization& quantization) {
  if (quantization.scales.size() != 1) return {};
  return {quantization.scales[0], static_cast<float>(quantization.zero_points[0])};
}

template <class Op>
void ReadPair(Translation& t) {
  const TensorId a = QuantizedInput(t, 0);
  const TensorId b = QuantizedInput(t, 3);
  const Sums to = QuantizedOutput(t, 6, t.input(0).type);
  t.Set(0, t.make.Add(Op{}, {a, b}, to.type, to.quantization, to.numerics));
}

// The images of input 0 in the order [N, C, ...], and an image in the order of the file, which may
// have the channels last.
TensorId ChannelsFirst(Translation& t, TensorId x) {
  if (!t.Flag("channels_last", false) || t.make.RankOf(x) < 3) return x;
  return t.make.Transposed(x, Inverse(AxisLast(1, t.make.RankOf(x))));
}
TensorId InOrder(Translation& t, TensorId x) {
  if (!t.Flag("channels_last", false) || t.make.RankOf(x) < 3) return x;
  return t.make.Transposed(x, AxisLast(1, t.make.RankOf(x)));
}

// The mean of real numbers, counted in steps of the output.
void ReadQLinearAveragePool(Translation& t) {
  LayerMaker& make = t.make;
  const Sums to = QuantizedOutput(t, 3, t.input(0).type);
  const TensorId x = ChannelsFirst(t, QuantizedInput(t, 0));
  if (const TensorId y = BytePool(t, x, to); y != kNoTensor) return t.Set(0, InOrder(t, y));
  const Parameters y = ParametersOf(to.quantization);
  const TensorId real = make.Add(Dequantize{}, {x}, Type::kFloat32);
  const TensorId mean = InOrder(t, AveragePool(t, real));
  const TensorId steps = make.AddLike(Ieee<Div>(), {mean, make.Scalar(y.scale)});
  t.Set(0, RoundedTo(make, make.AddLike(Ieee<Add>(), {steps, make.Scalar(y.zero_point)}), to));
}

// The exact sum of x - zero point, times the scales.
void ReadQLinearGlobalAveragePool(Translation& t) {
  const Sums to = QuantizedOutput(t, 3, t.input(0).type);
  const int first = t.Flag("channels_last", false) ? 1 : 2;
  QLinearMean mean;
  mean.keep_dims = true;
  for (int i = first; i < t.rank(0) - 2 + first; ++i) mean.axes.push_back(i);
  t.Set(0, t.make.Add(mean, {QuantizedInput(t, 0)}, to.type, to.quantization, to.numerics));
}

// Before opset 13 the dimensions from the axis on count as one.
void ReadQLinearSoftmax(Translation& t) {
  LayerMaker& make = t.make;
  const int axis = Axis(make, t.Int("axis", -1), t.rank(0));
  const Sums to = QuantizedOutput(t, 3, t.input(0).type);
  TensorId x = Dequantized(t, 0);
  const Shape shape = make.ShapeOf(x);
  std::vector<int> last = AxisLast(axis, t.rank(0));
  if (t.Int("opset", 13) < 13) {
    const Shape before(shape.begin(), shape.begin() + axis);
    const Shape behind(shape.begin() + axis, shape.end());
    x = make.Reshaped(x, ToInts(t, {Count(before), Count(behind)}, "a dimension"));
    last = {0, 1};
  }
  const TensorId y = make.AddLike(Softmax{}, {make.Transposed(x, last)});
  t.Set(0, Quantized(t, make.Reshaped(make.Transposed(y, Inverse(last)), shape), to));
}

void ReadQLinearSigmoid(Translation& t) {
  const TensorId y = t.make.AddLike(Logistic{}, {Dequantized(t, 0)});
  t.Set(0, Quantized(t, y, QuantizedOutput(t, 3, t.input(0).type)));
}

void ReadQLinearLeakyRelu(Translation& t) {
  const TensorId y = t.make.AddLike(LeakyRelu{t.Float("alpha", 0.01f)}, {Dequantized(t, 0)});
  t.Set(0, Quantized(t, y, QuantizedOutput(t, 3, t.input(0).type)));
}

// The output's scale and zero point, then three inputs for each part.
void ReadQLinearConcat(Translation& t) {
  LayerMaker& make = t.make;
  if (t.input_count() < 4) return t.Invalid("has too few inputs");
  const Sums to = QuantizedOutput(t, 0, Type::kUInt8);
  std::vector<TensorId> parts;
  for (size_t i = 2; i < t.input_count(); i += 3) {
    const TensorId part = QuantizedInput(t, i);
    const Quantization& own = make.At(part).quantization;
    const bool same =
        own.scales == to.quantization.scales && own.zero_points == to.quantization.zero_points;
    parts.push_back(same ? part : Quantized(t, make.Add(Dequantize{}, {part}, Type::kFloat32), to));
  }
  const int axis = Axis(make, t.Int("axis", 0), make.RankOf(parts[0]));
  t.Set(0, make.AddLike(Concatenation{axis}, parts));
}

// condition, x, scale, zero point, y, scale, zero point, and the output's.
void ReadQLinearWhere(Translation& t) {
  const Sums to = QuantizedOutput(t, 7, Type::kUInt8);
  const TensorId x = Quantized(t, Dequantized(t, 1), to);
  const TensorId y = Quantized(t, Dequantized(t, 4), to);
  t.Set(0, t.make.Add(SelectV2{}, {t.in(0), x, y}, to.type, to.quantization));
}

constexpr int kAny = std::numeric_limits<int>::max();

constexpr OnnxRow QLinear(const char* name, void (*read)(Translation& t), const char* remark = "") {
  return {name, read, "int8, uint8", 1, kAny, remark, kMicrosoft};
}

constexpr OnnxRow kRows[] = {
    QLinear("QLinearAdd", ReadPair<QLinearAdd>),
    QLinear("QLinearAveragePool", ReadQLinearAveragePool),
    QLinear("QLinearConcat", ReadQLinearConcat),
    QLinear("QLinearGlobalAveragePool", ReadQLinearGlobalAveragePool),
    QLinear("QLinearLeakyRelu", ReadQLinearLeakyRelu),
    QLinear("QLinearMul", ReadPair<QLinearMul>),
    QLinear("QLinearSigmoid", ReadQLinearSigmoid),
    QLinear("QLinearSoftmax", ReadQLinearSoftmax, "1 / scale of the output is not cut off"),
    QLinear("QLinearWhere", ReadQLinearWhere),
};

}  // namespace

std::span<const OnnxRow> QLinearRows() { return kRows; }

}  // namespace intaglio::nn::onnx
