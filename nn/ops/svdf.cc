// SVDF: a dense layer whose results pass through filters over time.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/ops/cell.h"
#include "intaglio/nn/ops/checks.h"
#include "intaglio/nn/ops/float_product.h"
#include "intaglio/nn/ops/linear.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

enum Input : size_t { kX, kFeature, kTime, kBias, kState };

struct SvdfSizes {
  int batch = 0;
  int inputs = 0;
  int filters = 0;
  int memory = 0;
  int rank = 1;

  int units() const { return filters / rank; }
};

Result<SvdfSizes> SizesOf(const LayerView& layer) {
  const Shape& x = layer.input(kX).shape;
  const Shape& feature = layer.input(kFeature).shape;
  const Shape& time = layer.input(kTime).shape;
  const int rank = layer.op<Svdf>().rank;
  if (x.size() != 2 || feature.size() != 2 || time.size() != 2 || x[1] < 1 || feature[0] < 1 ||
      time[1] < 1) {
    return layer.Invalid("an input of " + ToString(x) + ", weights of " + ToString(feature) +
                         " and over time of " + ToString(time) + " make no filters");
  }
  const SvdfSizes sizes{x[0], x[1], feature[0], time[1], rank};
  if (rank < 1 || sizes.filters % rank != 0) {
    return layer.Invalid("has " + std::to_string(sizes.filters) + " filters of rank " +
                         std::to_string(rank));
  }
  INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kFeature, {sizes.filters, sizes.inputs}));
  INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kTime, {sizes.filters, sizes.memory}));
  if (layer.has_input(kBias)) {
    INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kBias, {sizes.units()}));
  }
  INTAGLIO_RETURN_IF_ERROR(CheckSizes(layer, sizes.batch, sizes.filters));
  INTAGLIO_RETURN_IF_ERROR(
      CheckVariable(layer, kState, int64_t{sizes.batch} * sizes.filters * sizes.memory));
  return sizes;
}

// Drops the oldest result of every filter, and appends the newest.
template <class T>
void Append(const T* newest, ptrdiff_t filters, int memory, T* state) {
  for (ptrdiff_t f = 0; f < filters; ++f, state += memory) {
    std::memmove(state, state + 1, sizeof(T) * static_cast<size_t>(memory - 1));
    state[memory - 1] = newest[f];
  }
}

class IntegerSvdfRoutine final : public Routine {
 public:
  explicit IntegerSvdfRoutine(PackedMatrix packed) : feature(std::move(packed)) {}

  Status Run(const RunArguments& arguments) const override {
    auto* const newest = static_cast<int16_t*>(arguments.scratch);
    auto* const state = static_cast<int16_t*>(arguments.variables[kState]);
    const ConstMatrix x{arguments.inputs[kX], Type::kInt8,      sizes.batch,     sizes.inputs,
                        sizes.inputs,         Order::kRowMajor, input.zero_point};
    const MutableMatrix dst{newest,        Type::kInt16,  sizes.batch,
                            sizes.filters, sizes.filters, Order::kRowMajor};
    INTAGLIO_RETURN_IF_ERROR(Gemm(arguments.context, x, feature, dst, pipeline));
    Append(newest, ptrdiff_t{sizes.batch} * sizes.filters, sizes.memory, state);
    auto* out = static_cast<int8_t*>(arguments.outputs[0]);
    for (int b = 0; b < sizes.batch; ++b) {
      const int16_t* const of_batch = state + ptrdiff_t{b} * sizes.filters * sizes.memory;
      for (int unit = 0; unit < sizes.units(); ++unit) *out++ = Unit(of_batch, unit);
    }
    return {};
  }

  int8_t Unit(const int16_t* state, int unit) const {
    int32_t sum = bias == nullptr ? 0 : bias[unit];
    const ptrdiff_t length = ptrdiff_t{sizes.rank} * sizes.memory;  // its filters lie together
    const int16_t* const weights = time + unit * length;
    for (ptrdiff_t i = 0; i < length; ++i) {
      sum = Scalar::Add(sum, int32_t{weights[i]} * state[unit * length + i]);
    }
    return static_cast<int8_t>(
        AddAndClamp(Requantize(sum, of_time), output.zero_point, RangeOf(Type::kInt8)));
  }

  SvdfSizes sizes;
  PackedMatrix feature;
  QuantizedMultiplier of_feature;
  QuantizedMultiplier of_time;
  StandardPipeline pipeline;
  Affine input;
  Affine output;
  const int16_t* time = nullptr;
  const int32_t* bias = nullptr;
};

Status CheckIntegerTypes(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kFeature), Type::kInt8));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kTime), Type::kInt16));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kState), Type::kInt16));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kInt8));
  if (layer.has_input(kBias)) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kBias), Type::kInt32));
  }
  if (layer.op<Svdf>().activation == CellActivation::kRelu) return {};
  return layer.Unsupported("an activation other than RELU for int8");
}

Result<PreparedLayer> PrepareInteger(const LayerView& layer, const SvdfSizes& sizes,
                                     const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckIntegerTypes(layer));
  INTAGLIO_RETURN_IF_ERROR(CheckDepth(layer, sizes.inputs));
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Result<float> feature = SymmetricScale(layer, layer.input(kFeature));
  if (!feature.ok()) return feature.status();
  const Result<float> time = SymmetricScale(layer, layer.input(kTime));
  if (!time.ok()) return time.status();
  const Result<float> state = SymmetricScale(layer, layer.input(kState));
  if (!state.ok()) return state.status();
  // Products and quotients of float32, as in TFLite.
  const Result<QuantizedMultiplier> of_feature =
      MakeMultiplier(layer, static_cast<double>(q->input.scale * *feature / *state));
  if (!of_feature.ok()) return of_feature.status();
  const Result<QuantizedMultiplier> of_time =
      MakeMultiplier(layer, static_cast<double>(*state * *time / q->output.scale));
  if (!of_time.ok()) return of_time.status();

  const ConstMatrix matrix{layer.input(kFeature).data,
                           Type::kInt8,
                           sizes.inputs,
                           sizes.filters,
                           sizes.inputs,
                           Order::kColMajor,
                           0};
  PackOptions pack;
  pack.kernel = options.kernel;
  Result<PackedMatrix> packed = Prepack(Side::kRhs, matrix, pack);
  if (!packed.ok()) return layer.Wrap(packed.status());
  auto routine = std::make_shared<IntegerSvdfRoutine>(std::move(*packed));
  routine->sizes = sizes;
  routine->of_feature = *of_feature;
  routine->of_time = *of_time;
  routine->pipeline.scaling = Scaling::kDoubleRounding;
  routine->pipeline.mantissa = &routine->of_feature.mantissa;
  routine->pipeline.exponent = &routine->of_feature.exponent;
  routine->pipeline.output = Type::kInt16;
  routine->input = q->input;
  routine->output = q->output;
  routine->time = static_cast<const int16_t*>(layer.input(kTime).data);
  if (layer.has_input(kBias)) {
    routine->bias = static_cast<const int32_t*>(layer.input(kBias).data);
  }
  PreparedLayer prepared;
  prepared.name = RoutineName(Type::kInt8, "svdf");
  prepared.kernel = options.kernel;
  prepared.macs = CountMacs({sizes.batch, sizes.filters}, int64_t{sizes.inputs} + sizes.memory);
  prepared.constant_bytes = routine->feature.bytes();
  prepared.scratch_bytes =
      sizeof(int16_t) * static_cast<size_t>(sizes.batch) * static_cast<size_t>(sizes.filters);
  prepared.routine = std::move(routine);
  return prepared;
}

class FloatSvdfRoutine final : public Routine {
 public:
  explicit FloatSvdfRoutine(FloatProduct product) : feature(std::move(product)) {}

  Status Run(const RunArguments& arguments) const override {
    const ptrdiff_t filters = ptrdiff_t{sizes.batch} * sizes.filters;
    ScratchDivider divider(static_cast<std::byte*>(arguments.scratch));
    auto* const newest = divider.Take<float>(static_cast<size_t>(filters));
    auto* const rest = divider.Take<std::byte>(0);
    auto* const state = static_cast<float*>(arguments.variables[kState]);
    std::fill_n(newest, filters, 0.0f);
    INTAGLIO_RETURN_IF_ERROR(feature.AddTo(arguments.context,
                                           static_cast<const float*>(arguments.inputs[kX]),
                                           sizes.batch, newest, sizes.filters, rest));
    Append(newest, filters, sizes.memory, state);
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    for (int b = 0; b < sizes.batch; ++b) {
      const float* const of_batch = state + ptrdiff_t{b} * sizes.filters * sizes.memory;
      float* const to = out + ptrdiff_t{b} * sizes.units();
      for (int unit = 0; unit < sizes.units(); ++unit) to[unit] = Unit(of_batch, unit);
      Apply(activation, to, sizes.units());
    }
    return {};
  }

  float Unit(const float* state, int unit) const {
    float sum = 0;
    for (int r = 0; r < sizes.rank; ++r) {
      const ptrdiff_t at = (ptrdiff_t{unit} * sizes.rank + r) * sizes.memory;
      float dot = 0;
      for (int i = 0; i < sizes.memory; ++i) {
        dot += time[static_cast<size_t>(at + i)] * state[at + i];
      }
      sum += dot;
    }
    return bias == nullptr ? sum : sum + bias[unit];
  }

  size_t ScratchBytes() const {
    ScratchDivider divider(nullptr);
    divider.Take<float>(static_cast<size_t>(sizes.batch) * static_cast<size_t>(sizes.filters));
    return divider.bytes() + feature.ScratchBytes(sizes.batch);
  }

  SvdfSizes sizes;
  FloatProduct feature;
  CellActivation activation = CellActivation::kNone;
  std::vector<float> time;
  const float* bias = nullptr;
};

// The weights over time as real numbers.
Result<std::vector<float>> TimeOf(const LayerView& layer, Type type) {
  const Tensor& tensor = layer.input(kTime);
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, tensor, type));
  if (type == Type::kFloat32) {
    const auto* const data = static_cast<const float*>(tensor.data);
    return std::vector<float>(data, data + tensor.data_bytes / sizeof(float));
  }
  const Result<float> scale = SymmetricScale(layer, tensor);
  if (!scale.ok()) return scale.status();
  const auto* const data = static_cast<const int8_t*>(tensor.data);
  std::vector<float> real(data, data + tensor.data_bytes);
  for (float& v : real) v *= *scale;
  return real;
}

Result<PreparedLayer> PrepareFloat(const LayerView& layer, const SvdfSizes& sizes,
                                   const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kState), Type::kFloat32));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kFloat32));
  const Svdf& op = layer.op<Svdf>();
  Result<FloatProduct> feature =
      FloatProduct::Make(layer, {kFeature}, op.asymmetric_quantize_inputs, options);
  if (!feature.ok()) return feature.status();
  const bool quantized = feature->quantized();
  Result<std::vector<float>> time = TimeOf(layer, quantized ? Type::kInt8 : Type::kFloat32);
  if (!time.ok()) return time.status();
  auto routine = std::make_shared<FloatSvdfRoutine>(std::move(*feature));
  routine->sizes = sizes;
  routine->activation = op.activation;
  routine->time = std::move(*time);
  if (layer.has_input(kBias)) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kBias), Type::kFloat32));
    routine->bias = static_cast<const float*>(layer.input(kBias).data);
  }
  PreparedLayer prepared;
  prepared.name = RoutineName(Type::kFloat32, quantized ? "svdf-int8" : "svdf");
  if (quantized) prepared.kernel = options.kernel;
  prepared.macs = CountMacs({sizes.batch, sizes.filters}, int64_t{sizes.inputs} + sizes.memory);
  prepared.constant_bytes =
      routine->feature.constant_bytes() + routine->time.size() * sizeof(float);
  prepared.scratch_bytes = routine->ScratchBytes();
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace

ShapesResult InferSvdf(const LayerView& layer) {
  const Result<SvdfSizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  return std::vector<Shape>{{sizes->batch, sizes->units()}};
}

Result<PreparedLayer> PrepareSvdf(const LayerView& layer, const LayerOptions& options) {
  const Result<SvdfSizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  if (layer.input(kX).type == Type::kInt8) return PrepareInteger(layer, *sizes, options);
  return PrepareFloat(layer, *sizes, options);
}

}  // namespace intaglio::nn
