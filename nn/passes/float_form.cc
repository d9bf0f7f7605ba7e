#include "intaglio/nn/passes/float_form.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "intaglio/nn/graph/alone.h"
#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/passes/quantized_groups.h"
#include "intaglio/nn/routine/prepare.h"

namespace intaglio::nn {
namespace {

constexpr size_t kBias = 2;

// Operators that compute the same function of real numbers whatever the quantizations of inputs and
// outputs are.
bool TakesAnyQuantization(const Layer& layer) {
  return IsAnyOf<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv, BatchMatMul, Add, Sub, Mul,
                 Div, QLinearAdd, QLinearMul, Concatenation, Logistic, Tanh, Relu, Relu6, ReluN1To1,
                 HardSwish, Elu, Gelu, LeakyRelu, Prelu, Softmax, LogSoftmax, L2Normalization, Mean,
                 QLinearAveragePool2D, QLinearMean, Sum, SquaredDifference, Exp, Log, Sqrt, Rsqrt,
                 ArgMax, ArgMin>(layer);
}

// Operators that take elements as they are, so that the function of real numbers is the same only
// if all quantizations are the same.
bool KeepsQuantization(const Layer& layer) {
  return IsAnyOf<AveragePool2D, MaxPool2D, Reshape, Squeeze, ExpandDims, Transpose, Split, SplitV,
                 Pack, Unpack, Slice, StridedSlice, Gather, GatherNd, GatherElements, Tile,
                 BroadcastTo, SpaceToDepth, DepthToSpace, SpaceToBatch, BatchToSpace, Reverse, Pad,
                 MirrorPad, ReduceMax, ReduceMin, Maximum, Minimum, ResizeBilinear,
                 ResizeNearestNeighbor, Select, SelectV2>(layer);
}

bool IsProduct(const Layer& layer) {
  return IsAnyOf<Conv2D, DepthwiseConv2D, FullyConnected, TransposeConv>(layer);
}

bool IsReal(const Tensor& tensor) { return tensor.type == Type::kFloat32; }

bool SameQuantization(const Quantization& a, const Quantization& b) {
  return a.scales == b.scales && a.zero_points == b.zero_points;
}

bool IsByteConstant(const Tensor& tensor) {
  return tensor.constant && IsByte(tensor.type) && tensor.quantization.quantized();
}

// The bounds of the output's integers that stand for bounds of real numbers.
struct Bounds {
  bool has_low = false;
  bool has_high = false;
  double low = 0;
  double high = 0;
};

Bounds BoundsOf(const LayerView& layer) {
  const Tensor& output = layer.output();
  const Range range = RangeOf(output.type);
  const Numerics numerics = layer.numerics();
  const double scale = static_cast<double>(output.quantization.scales[0]);
  const int32_t zero_point = output.quantization.zero_points[0];
  const int32_t low = std::max(range.min, numerics.clamp_min);
  Bounds bounds;
  bounds.has_low = low > range.min || low == zero_point;
  bounds.low = scale * (double{static_cast<double>(low)} - zero_point);
  bounds.has_high = numerics.clamp_max < range.max;
  bounds.high = scale * (static_cast<double>(numerics.clamp_max) - zero_point);
  return bounds;
}

std::optional<Activation> ActivationFor(const Bounds& bounds, double step) {
  const auto near = [&](double a, double b) { return std::abs(a - b) <= step / 2; };
  if (!bounds.has_low && !bounds.has_high) return Activation::kNone;
  if (!bounds.has_low) return {};
  if (!bounds.has_high)
    return near(bounds.low, 0) ? std::optional(Activation::kRelu) : std::nullopt;
  if (near(bounds.low, 0) && near(bounds.high, 6)) return Activation::kRelu6;
  if (near(bounds.low, -1) && near(bounds.high, 1)) return Activation::kReluN1To1;
  return {};
}

template <class Op>
bool SetActivation(Operator& op, Activation activation) {
  const Op* const old = op.As<Op>();
  if (old == nullptr) return false;
  Op changed = *old;
  if (changed.activation == Activation::kNone) changed.activation = activation;
  op = Operator(changed);
  return true;
}

// Gives the operator an activation unless it has one. Returns false if it can have none.
bool Activate(Operator& op, Activation activation) {
  return SetActivation<Conv2D>(op, activation) || SetActivation<DepthwiseConv2D>(op, activation) ||
         SetActivation<FullyConnected>(op, activation) ||
         SetActivation<TransposeConv>(op, activation) || SetActivation<Add>(op, activation) ||
         SetActivation<Sub>(op, activation) || SetActivation<Mul>(op, activation) ||
         SetActivation<Div>(op, activation);
}

bool Counts(const QLinearAveragePool2D& pool) {
  const Padding& c = pool.counted;
  return c.top != 0 || c.bottom != 0 || c.left != 0 || c.right != 0;
}

// The value that a PAD fills in is a quantized number.
Pad RealPad(const Pad& pad, const Quantization& q) {
  Pad real = pad;
  if (!pad.has_value) return real;
  const double stored = std::visit([](auto v) { return static_cast<double>(v); }, pad.value);
  real.value =
      double{static_cast<float>(static_cast<double>(q.scales[0]) * (stored - q.zero_points[0]))};
  return real;
}

// Why the tensors of a layer do not allow a float32 form.
std::string WhyNotTensors(const LayerView& layer) {
  bool has_activation = false;
  const Quantization* first = nullptr;
  const bool keeps = KeepsQuantization(layer.layer());
  const auto check = [&](const Tensor& tensor) -> std::string {
    if (tensor.variable) return "it reads a variable";
    if (tensor.type == Type::kInt16 || tensor.type == Type::kUInt16) {
      return std::string("it has a tensor of ") + NameOf(tensor.type);
    }
    if (!IsByte(tensor.type)) return {};
    if (!HasFloatForm(tensor) && !IsByteConstant(tensor)) {
      return "it has a tensor of 8 bits without one scale";
    }
    has_activation = has_activation || HasFloatForm(tensor);
    if (keeps && first != nullptr && !SameQuantization(*first, tensor.quantization)) {
      return "it takes elements as they are, and the quantizations of its tensors differ";
    }
    first = &tensor.quantization;
    return {};
  };
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (!layer.has_input(i)) continue;
    if (std::string why = check(layer.input(i)); !why.empty()) return why;
  }
  for (size_t i = 0; i < layer.layer().outputs.size(); ++i) {
    if (std::string why = check(layer.output(i)); !why.empty()) return why;
  }
  if (!has_activation) return "it has no quantized activations";
  if (IsProduct(layer.layer()) && layer.has_input(kBias) && !layer.input(kBias).constant &&
      !IsReal(layer.input(kBias))) {
    return "its bias is no constant";
  }
  return {};
}

// Why no routine takes the float32 form.
std::string WhyNotRoutine(const LayerView& layer, Operator op) {
  Graph alone = Alone(layer.graph(), layer.layer());
  Layer& only = alone.layers[0];
  for (size_t i = 0; i < layer.input_count(); ++i) {
    if (!layer.has_input(i) || ScalesOfConstant(layer, i).empty()) continue;
    Tensor& constant = alone.tensors[static_cast<size_t>(only.inputs[i])];
    constant.type = Type::kFloat32;
    constant.quantization = {};
  }
  for (Tensor& tensor : alone.tensors) {
    if (!HasFloatForm(tensor)) continue;
    tensor.type = Type::kFloat32;
    tensor.quantization = {};
  }
  only.op = std::move(op);
  only.numerics.reset();
  const LayerView view(alone, 0);
  if (only.op.row().candidates.list().empty() ||
      (only.inputs[0] != kNoTensor && (only.op.row().types & SetOf(view.input(0).type)) == 0)) {
    return "its operator has no float32 form";
  }
  LayerOptions options;
  options.kernel = BestKernel();
  const Result<const Candidate*> candidate =
      ChooseCandidate(only.op.row().candidates.list(), view, options);
  return candidate.ok() ? "" : "no routine takes it in float32";
}

// Elements that share a scale, in a loop that compilers turn into vectors. Differences of integers
// of 32 bits are exact in float64.
template <class T>
void DequantizeRun(const uint8_t* from, double scale, int32_t zero_point, std::span<float> to) {
  for (size_t i = 0; i < to.size(); ++i) {
    T stored;
    std::memcpy(&stored, from + i * sizeof(T), sizeof(T));
    to[i] =
        static_cast<float>(scale * (static_cast<double>(stored) - static_cast<double>(zero_point)));
  }
}

}  // namespace

bool HasFloatForm(const Tensor& tensor) {
  return !tensor.constant && !tensor.variable && IsByte(tensor.type) &&
         tensor.quantization.scales.size() == 1 && std::isfinite(tensor.quantization.scales[0]) &&
         tensor.quantization.scales[0] > 0;
}

bool QuantizesReals(const Graph& graph, const Layer& layer) {
  return layer.op.Is<Quantize>() && IsReal(graph.tensors[static_cast<size_t>(layer.inputs[0])]) &&
         HasFloatForm(graph.tensors[static_cast<size_t>(layer.outputs[0])]);
}

bool DequantizesToReals(const Graph& graph, const Layer& layer) {
  return layer.op.Is<Dequantize>() &&
         HasFloatForm(graph.tensors[static_cast<size_t>(layer.inputs[0])]);
}

bool Requantizes(const Graph& graph, const Layer& layer) {
  return layer.op.Is<Quantize>() &&
         HasFloatForm(graph.tensors[static_cast<size_t>(layer.inputs[0])]) &&
         HasFloatForm(graph.tensors[static_cast<size_t>(layer.outputs[0])]);
}

std::string WhyNotFloat(const Graph& graph, size_t index) {
  const LayerView layer(graph, index);
  if (QuantizesReals(graph, layer.layer()) || DequantizesToReals(graph, layer.layer())) {
    return "it only changes the form of its tensor";
  }
  if (Requantizes(graph, layer.layer())) return {};
  if (!TakesAnyQuantization(layer.layer()) && !KeepsQuantization(layer.layer())) {
    return "its operator means something else for integers, or has no float32 form";
  }
  if (std::string why = WhyNotTensors(layer); !why.empty()) return why;
  std::optional<Operator> op = FloatOperator(layer);
  if (!op.has_value()) return "its bounds are those of no activation";
  return WhyNotRoutine(layer, std::move(*op));
}

Tensor DequantizeConstant(const Tensor& constant, const std::vector<double>& scales) {
  Tensor real = constant;
  real.type = Type::kFloat32;
  real.quantization = {};
  const auto count = static_cast<size_t>(*CountElements(constant.shape));
  // Large constants would be written twice if they were zeros first. Not every libc++ for C++20 has
  // make_shared_for_overwrite.
  std::shared_ptr<float[]> elements(new float[count]);
  const Quantization& q = constant.quantization;
  const size_t channels = std::max(scales.size(), q.zero_points.size());
  size_t inner = channels > 1 ? 1 : count;
  for (size_t d = static_cast<size_t>(q.axis) + 1; channels > 1 && d < constant.shape.size(); ++d) {
    inner *= static_cast<size_t>(constant.shape[d]);
  }
  const auto* const bytes = static_cast<const uint8_t*>(constant.data);
  const size_t element_bytes = SizeOf(constant.type);
  for (size_t i = 0, channel = 0; i < count; i += inner) {
    const double scale = scales[scales.size() > 1 ? channel : 0];
    const int32_t zero_point =
        q.zero_points.empty() ? 0 : q.zero_points[q.zero_points.size() > 1 ? channel : 0];
    const std::span<float> run(elements.get() + i, inner);
    const uint8_t* const from = bytes + i * element_bytes;
    if (constant.type == Type::kInt8) {
      DequantizeRun<int8_t>(from, scale, zero_point, run);
    } else if (constant.type == Type::kUInt8) {
      DequantizeRun<uint8_t>(from, scale, zero_point, run);
    } else if (constant.type == Type::kInt32) {
      DequantizeRun<int32_t>(from, scale, zero_point, run);
    } else {
      std::fill(run.begin(), run.end(),
                static_cast<float>(scale * static_cast<double>(0 - int64_t{zero_point})));
    }
    channel = channel + 1 >= channels ? 0 : channel + 1;
  }
  real.data = elements.get();
  real.data_bytes = count * sizeof(float);
  real.owner = std::move(elements);
  return real;
}

std::vector<double> ScalesOfConstant(const LayerView& layer, size_t input) {
  const Tensor& tensor = layer.input(input);
  std::vector<double> scales;
  if (IsByteConstant(tensor)) {
    scales.assign(tensor.quantization.scales.begin(), tensor.quantization.scales.end());
  } else if (IsProduct(layer.layer()) && input == kBias && tensor.constant &&
             tensor.type == Type::kInt32 && layer.input(0).quantization.quantized()) {
    const double x = static_cast<double>(layer.input(0).quantization.scales[0]);
    for (const float w : layer.input(1).quantization.scales) {
      scales.push_back(x * static_cast<double>(w));
    }
  }
  return scales;
}

std::optional<Operator> FloatOperator(const LayerView& layer) {
  Operator op = layer.layer().op;
  if (op.Is<QLinearAdd>()) op = Operator(Add{});
  if (op.Is<QLinearMul>()) op = Operator(Mul{});
  if (const auto* const mean = op.As<QLinearMean>()) {
    op = Operator(Mean{mean->axes, mean->keep_dims});
  }
  if (const auto* const pool = op.As<QLinearAveragePool2D>(); pool != nullptr && !Counts(*pool)) {
    op = Operator(AveragePool2D{pool->filter, pool->stride, pool->padding});
  }
  if (const Pad* const pad = op.As<Pad>()) return RealPad(*pad, layer.output().quantization);
  if (!HasFloatForm(layer.output())) return op;
  const std::optional<Activation> activation =
      ActivationFor(BoundsOf(layer), static_cast<double>(layer.output().quantization.scales[0]));
  Operator activated = op;
  if (Activate(activated, activation.value_or(Activation::kNone))) {
    return activation.has_value() ? std::optional(std::move(activated)) : std::nullopt;
  }
  const Numerics numerics = layer.numerics();
  const Range range = RangeOf(layer.output().type);
  const bool bounded = numerics.clamp_min > range.min || numerics.clamp_max < range.max;
  return bounded ? std::nullopt : std::optional(std::move(op));
}

}  // namespace intaglio::nn
