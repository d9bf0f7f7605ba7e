#include "intaglio/nn/ops/linear/linear.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "intaglio/fixedpoint/quantize_multiplier.h"
#include "intaglio/nn/graph/input_advice.h"
#include "intaglio/nn/ops/linear/onnx.h"
#include "intaglio/nn/ops/linear/operators.h"

namespace intaglio::nn {
namespace {

// A bias has the scale input * weights. If weights have one scale, some rules refuse a bias that
// differs by more than a fiftieth of an output step.
Status CheckBiasScale(const LayerView& layer, const LinearLayer& linear) {
  const std::vector<float>& scales = layer.input(2).quantization.scales;
  if (scales.size() != 1 || linear.weight_scales.size() != 1) return {};
  if (!linear.numerics.checks_bias_scale) return {};
  const double product =
      static_cast<double>(linear.input.scale) * static_cast<double>(linear.weight_scales[0]);
  const double difference = std::fabs(product - static_cast<double>(scales[0]));
  if (difference / static_cast<double>(linear.output.scale) <= 0.02) return {};
  return layer.Invalid("bias '" + layer.input(2).name + "' has the scale " +
                       std::to_string(scales[0]) + "; input scale times weight scale is " +
                       std::to_string(product));
}

Status CheckBias(const LayerView& layer, int channels, LinearLayer& linear) {
  if (!layer.has_input(2)) return {};
  const Tensor& bias = layer.input(2);
  const std::string name = "bias '" + bias.name + "'";
  // A bias of float32 is added to the products when they are float32.
  if (bias.type == Type::kFloat32 && linear.numerics.scaling == Scaling::kToFloat) return {};
  if (bias.type != Type::kInt32) {
    return layer.Unsupported(name + " is " + NameOf(bias.type) + "; int32 is supported");
  }
  if (!bias.constant)
    return layer.Unsupported(name + " is not constant" + AdviceForInput(layer, 2));
  if (*CountElements(bias.shape) != channels) {
    return layer.Invalid(name + " has the shape " + ToString(bias.shape) + "; " +
                         std::to_string(channels) + " elements are needed");
  }
  INTAGLIO_RETURN_IF_ERROR(CheckBiasScale(layer, linear));
  linear.bias.resize(static_cast<size_t>(channels));
  if (channels > 0) std::memcpy(linear.bias.data(), bias.data, bias.data_bytes);
  return {};
}

int64_t Magnitude(Range range, int32_t zero_point) {
  return std::max(int64_t{range.max} - zero_point, int64_t{zero_point} - range.min);
}

// The largest sum over one channel of |weight - zero point|, of weights that lie channel by
// channel.
template <class T>
int64_t LargestSum(const T* weights, const LinearLayer& linear, int channels, int64_t depth) {
  int64_t largest = 0;
  for (int c = 0; c < channels; ++c) {
    const size_t i = linear.weight_zero_points.size() > 1 ? static_cast<size_t>(c) : 0;
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum += std::abs(*weights++ - linear.weight_zero_points[i]);
    largest = std::max(largest, sum);
  }
  return largest;
}

// Refuses sums that may overflow int32: for the weights' type first, then for the weights
// themselves.
Status CheckDepth(const LayerView& layer, int axis, int channels, int64_t depth,
                  const LinearLayer& linear) {
  const int64_t input = Magnitude(RangeOf(linear.type), linear.input.zero_point);
  int64_t weight = 0;
  for (const int32_t zero_point : linear.weight_zero_points) {
    weight = std::max(weight, Magnitude(RangeOf(linear.weight_type), zero_point));
  }
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (depth <= kMax / (weight * input)) return {};
  const void* const data = layer.input(1).data;
  if (axis == 0 && depth <= std::numeric_limits<int>::max()) {
    const int64_t sum =
        linear.weight_type == Type::kInt8
            ? LargestSum(static_cast<const int8_t*>(data), linear, channels, depth)
            : LargestSum(static_cast<const uint8_t*>(data), linear, channels, depth);
    if (sum <= kMax / input) return {};
  }
  return layer.Unsupported("sums " + std::to_string(depth) +
                           " products, which can overflow int32 with these weights");
}

// TFLite's rules: x, weights and output have one type.
Status CheckTflite(const LayerView& layer, Activation activation, LinearLayer& linear) {
  const Result<InOut> in_out = SameTypeInOut(layer);
  if (!in_out.ok()) return in_out.status();
  linear.type = linear.weight_type = linear.output_type = layer.output().type;
  linear.input = in_out->input;
  linear.output = in_out->output;
  const Result<Range> clamp = ActivationRange(layer, activation, linear.type, linear.output);
  if (!clamp.ok()) return clamp.status();
  linear.clamp = *clamp;
  return {};
}

}  // namespace

bool IsOnnx(Scaling scaling) {
  return scaling == Scaling::kFloatHalfEven || scaling == Scaling::kToFloat ||
         scaling == Scaling::kNone;
}

Status CheckWeights(const LayerView& layer, Type type, int axis, int channels,
                    LinearLayer& linear) {
  const Tensor& weights = layer.input(1);
  const std::string name = "weights '" + weights.name + "'";
  if (weights.type != type) {
    return layer.Unsupported(name + " are " + NameOf(weights.type) + ", but the input is " +
                             NameOf(layer.input(0).type));
  }
  if (!weights.constant) {
    return layer.Unsupported(name + " are not constant" + AdviceForInput(layer, 1));
  }
  return CheckWeightScales(layer, axis, channels, linear);
}

Status CheckWeightScales(const LayerView& layer, int axis, int channels, LinearLayer& linear) {
  const Tensor& weights = layer.input(1);
  const Type type = weights.type;
  const Quantization& q = weights.quantization;
  const std::string name = "weights '" + weights.name + "'";
  if (q.scales.empty() && linear.numerics.scaling == Scaling::kNone) {
    linear.weight_scales = {1};
    linear.weight_zero_points = {0};
    return {};
  }
  if (q.scales.empty()) return layer.Invalid(name + " have no quantization");
  if (q.per_axis()) {
    if (type == Type::kUInt8 && !IsOnnx(linear.numerics.scaling)) {
      return layer.Unsupported(name + " are quantized per axis; uint8 weights have one scale");
    }
    if (q.axis != axis || q.scales.size() != static_cast<size_t>(channels)) {
      return layer.Invalid(name + " have " + std::to_string(q.scales.size()) +
                           " scales along axis " + std::to_string(q.axis) + "; " +
                           std::to_string(channels) + " along axis " + std::to_string(axis) +
                           " are needed");
    }
  }
  const Range range = RangeOf(type);
  for (size_t i = 0; i < q.scales.size(); ++i) {
    if (!(q.scales[i] >= 0)) {
      return layer.Invalid(name + " have the scale " + std::to_string(q.scales[i]) +
                           " for channel " + std::to_string(i));
    }
    if (q.zero_points[i] < range.min || q.zero_points[i] > range.max) {
      return layer.Invalid(name + " have the zero point " + std::to_string(q.zero_points[i]) +
                           ", which " + NameOf(type) + " cannot hold");
    }
  }
  linear.weight_scales = q.scales;
  linear.weight_zero_points = q.zero_points;
  return {};
}

Result<LinearLayer> CheckLinear(const LayerView& layer, Activation activation, int axis,
                                int channels, int64_t depth) {
  LinearLayer linear;
  linear.numerics = layer.numerics();
  if (IsOnnx(linear.numerics.scaling)) {
    INTAGLIO_RETURN_IF_ERROR(CheckOnnx(layer, activation, linear));
  } else {
    INTAGLIO_RETURN_IF_ERROR(CheckTflite(layer, activation, linear));
  }
  INTAGLIO_RETURN_IF_ERROR(CheckWeights(layer, linear.weight_type, axis, channels, linear));
  INTAGLIO_RETURN_IF_ERROR(CheckBias(layer, channels, linear));
  INTAGLIO_RETURN_IF_ERROR(CheckDepth(layer, axis, channels, depth, linear));
  return linear;
}

Accumulator AccumulatorByBias(const LayerView& layer) {
  const bool is_int32 = layer.has_input(2) && layer.input(2).type == Type::kInt32;
  return is_int32 ? Accumulator::kInt32 : Accumulator::kInt64;
}

Numerics NumericsOfConvolution(const LayerView& layer) {
  const Type type = layer.input(0).type;
  return {.scaling = Scaling::kDoubleRounding,
          .float32_scales = type == Type::kUInt8,
          .checks_bias_scale = type != Type::kInt8,
          .accumulator = AccumulatorByBias(layer)};
}

Status CheckScaling(const LayerView& layer, std::initializer_list<Scaling> known) {
  if (std::find(known.begin(), known.end(), layer.numerics().scaling) != known.end()) return {};
  return layer.Unsupported("is to be rounded in a way that this operator does not have");
}

std::vector<double> RealMultipliers(const LinearLayer& linear) {
  std::vector<double> real;
  real.reserve(linear.weight_scales.size());
  for (const float scale : linear.weight_scales) {
    const double product =
        linear.numerics.float32_scales
            ? static_cast<double>(linear.input.scale * scale)
            : static_cast<double>(linear.input.scale) * static_cast<double>(scale);
    const double quotient = product / static_cast<double>(linear.output.scale);
    real.push_back(std::isfinite(quotient) ? quotient : 0);
  }
  return real;
}

Result<Multipliers> MakeMultipliers(const LayerView& layer, const LinearLayer& linear) {
  Multipliers multipliers;
  const Scaling scaling = linear.numerics.scaling;
  if (scaling == Scaling::kFloatHalfEven) {
    Result<std::vector<float>> scales = OnnxScales(layer, linear);
    if (!scales.ok()) return scales.status();
    multipliers.scale = std::move(*scales);
  }
  if (IsOnnx(scaling)) return multipliers;
  INTAGLIO_RETURN_IF_ERROR(
      CheckScaling(layer, {Scaling::kDoubleRounding, Scaling::kSingleRounding}));
  const std::vector<double> real = RealMultipliers(linear);
  multipliers.mantissa.reserve(real.size());
  multipliers.exponent.reserve(real.size());
  for (const double r : real) {
    const Result<QuantizedMultiplier> multiplier = QuantizeMultiplier(r);
    if (!multiplier.ok()) return layer.Wrap(multiplier.status());
    multipliers.mantissa.push_back(multiplier->mantissa);
    multipliers.exponent.push_back(multiplier->exponent);
  }
  return multipliers;
}

namespace {

StandardPipeline MakePipeline(const LinearLayer& linear, int first) {
  StandardPipeline pipeline;
  pipeline.axis = Axis::kCols;
  pipeline.bias = linear.bias.empty() ? nullptr : linear.bias.data() + first;
  pipeline.zero_point = linear.output.zero_point;
  pipeline.clamp_min = linear.clamp.min;
  pipeline.clamp_max = linear.clamp.max;
  pipeline.output = linear.output_type;
  return pipeline;
}

}  // namespace

StandardPipeline MakePipeline(const LinearLayer& linear, const Multipliers& multipliers,
                              int first) {
  StandardPipeline pipeline = MakePipeline(linear, first);
  pipeline.scaling = linear.numerics.scaling;
  pipeline.per_channel = multipliers.mantissa.size() > 1 || multipliers.scale.size() > 1;
  const int offset = pipeline.per_channel ? first : 0;
  if (!multipliers.scale.empty()) pipeline.scale = multipliers.scale.data() + offset;
  if (multipliers.mantissa.empty()) return pipeline;
  pipeline.mantissa = multipliers.mantissa.data() + offset;
  pipeline.exponent = multipliers.exponent.data() + offset;
  return pipeline;
}

StandardPipeline MakePipeline(const LinearLayer& linear, const std::vector<double>& real) {
  StandardPipeline pipeline = MakePipeline(linear, 0);
  pipeline.scaling = Scaling::kReal64;
  pipeline.per_channel = real.size() > 1;
  pipeline.real = real.data();
  return pipeline;
}

Result<Im2col> MakeView(const LayerView& layer, Type type, int32_t zero_point,
                        const Window& window) {
  const Shape& shape = layer.input(0).shape;
  const Result<int64_t> rows = CountElements({shape[0], window.y.out, window.x.out});
  if (!rows.ok()) return layer.Wrap(rows.status());
  if (*rows > std::numeric_limits<int>::max()) {
    return layer.Unsupported("the output has " + std::to_string(*rows) +
                             " pixels; at most 2^31 - 1 are supported");
  }
  Im2col view;
  view.type = type;
  view.zero_point = zero_point;
  view.batch = shape[0];
  view.height = shape[1];
  view.width = shape[2];
  view.channels = shape[3];
  view.group_channels = shape[3];
  view.kernel_height = window.y.kernel;
  view.kernel_width = window.x.kernel;
  view.stride_height = window.y.stride;
  view.stride_width = window.x.stride;
  view.dilation_height = window.y.dilation;
  view.dilation_width = window.x.dilation;
  view.pad_top = window.y.pad;
  view.pad_left = window.x.pad;
  view.out_height = window.y.out;
  view.out_width = window.x.out;
  // What the engine will check on every run, which includes images without elements whose other
  // dimensions are huge. The data comes with the run: any address stands for it here.
  Im2col with_data = view;
  with_data.data = &view;
  if (const Status s = intaglio::Validate(with_data); !s.ok()) return layer.Wrap(s);
  return view;
}

PackOptions MakePackOptions(const LinearLayer& linear, const LayerOptions& options, int first,
                            int count) {
  PackOptions pack;
  pack.kernel = options.kernel;
  const std::vector<int32_t>& zeros = linear.weight_zero_points;
  if (std::adjacent_find(zeros.begin(), zeros.end(), std::not_equal_to<>()) != zeros.end()) {
    pack.channel_zero_points.assign(zeros.begin() + first, zeros.begin() + first + count);
  }
  return pack;
}

namespace {

using Matrices = std::vector<PackedMatrix>;

Result<std::shared_ptr<const Matrices>> PackGroups(const LayerView& layer,
                                                   const LinearLayer& linear,
                                                   const LayerOptions& options, int groups,
                                                   int depth, int kernel_height) {
  const Tensor& weights = layer.input(1);
  const int channels = weights.shape[0] / std::max(1, groups);
  auto matrices = std::make_shared<Matrices>();
  for (int g = 0; g < groups; ++g) {
    const ptrdiff_t first = ptrdiff_t{g} * channels;
    const ConstMatrix matrix{static_cast<const std::byte*>(weights.data) + first * depth,
                             weights.type,
                             depth,
                             channels,
                             depth,
                             Order::kColMajor,
                             linear.weight_zero_points[0]};
    PackOptions pack = MakePackOptions(linear, options, static_cast<int>(first), channels);
    pack.kernel_height = kernel_height;
    Result<PackedMatrix> packed = Prepack(Side::kRhs, matrix, pack);
    if (!packed.ok()) return layer.Wrap(packed.status());
    matrices->push_back(std::move(*packed));
  }
  return std::shared_ptr<const Matrices>(std::move(matrices));
}

}  // namespace

Result<PackedOf<Matrices>> PackWeights(const LayerView& layer, const LinearLayer& linear,
                                       const LayerOptions& options, int groups, int depth,
                                       int kernel_height) {
  const Tensor& weights = layer.input(1);
  PackedOnce::Key key = {
      KeyOf(weights.data), static_cast<int64_t>(weights.type), weights.shape[0], groups, depth,
      kernel_height};
  key.insert(key.end(), linear.weight_zero_points.begin(), linear.weight_zero_points.end());
  bool is_new = false;
  const auto packed = PackOnce<Matrices>(
      options, key,
      [&] { return PackGroups(layer, linear, options, groups, depth, kernel_height); }, is_new);
  if (!packed.ok()) return packed.status();
  PackedOf<Matrices> result{**packed, 0};
  for (const PackedMatrix& matrix : result.form) {
    if (is_new) result.new_bytes += matrix.bytes();
  }
  return result;
}

Result<PackedOf<PackedDepthwise>> PackDepthwise(const LayerView& layer, const LayerOptions& options,
                                                int32_t zero_point, int kernel_width,
                                                int multiplier) {
  using Form = std::shared_ptr<const PackedDepthwise>;
  const Tensor& filter = layer.input(1);
  const int outputs = filter.shape[3];
  const int taps = filter.shape[1] * filter.shape[2];
  const auto pack = [&]() -> Result<Form> {
    const ConstMatrix matrix{filter.data, filter.type,      taps,      outputs,
                             outputs,     Order::kRowMajor, zero_point};
    Result<PackedDepthwise> packed =
        PackedDepthwise::Pack(matrix, kernel_width, multiplier, options.kernel);
    if (!packed.ok()) return layer.Wrap(packed.status());
    return Form(std::make_shared<PackedDepthwise>(std::move(*packed)));
  };
  bool is_new = false;
  const Result<Form> packed =
      PackOnce<PackedDepthwise>(options,
                                {KeyOf(filter.data), static_cast<int64_t>(filter.type), taps,
                                 outputs, zero_point, kernel_width, multiplier},
                                pack, is_new);
  if (!packed.ok()) return packed.status();
  return PackedOf<PackedDepthwise>{**packed, is_new ? (*packed)->bytes() : 0};
}

int64_t CountMacs(const Shape& output, int64_t depth) {
  const Result<int64_t> count = CountElements(output);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (!count.ok() || depth < 0) return kMax;
  if (*count == 0 || depth == 0) return 0;
  return *count > kMax / depth ? kMax : *count * depth;
}

}  // namespace intaglio::nn
