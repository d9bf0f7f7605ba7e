#include "intaglio/nn/passes/sensor_input.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "intaglio/nn/ops/operators.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {
namespace {

constexpr int kMaxFractionBits = 16;  // of a mean

Tensor& At(Graph& graph, TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }

std::string NameOfInput(const Graph& graph, size_t index) {
  return "the sensor of input " + std::to_string(index) + " '" +
         graph.tensors[static_cast<size_t>(graph.inputs[index])].name + "'";
}

Status Check(const Sensor& sensor) {
  if (sensor.type != Type::kInt8 && sensor.type != Type::kUInt8 && sensor.type != Type::kInt16 &&
      sensor.type != Type::kInt32) {
    return Unsupported(std::string("gives ") + NameOf(sensor.type) +
                       "; int8, uint8, int16 and int32 are supported");
  }
  const auto scale = static_cast<float>(sensor.scale);
  if (!std::isfinite(scale) || !(scale > 0)) {
    return InvalidArgument("has the scale " + std::to_string(sensor.scale) +
                           "; scales are positive and finite");
  }
  if (!std::isfinite(sensor.mean)) {
    return InvalidArgument("has the mean " + std::to_string(sensor.mean));
  }
  return {};
}

// Real numbers must come to QUANTIZE only, which takes integers as well.
Status CheckReaders(const Graph& graph, TensorId input) {
  const Tensor& tensor = graph.tensors[static_cast<size_t>(input)];
  if (tensor.quantization.quantized()) return {};
  if (tensor.type != Type::kFloat32) {
    return Unsupported(std::string("feeds ") + NameOf(tensor.type) +
                       " without quantization; float32 or quantized inputs are supported");
  }
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const bool reads =
        std::find(layer.inputs.begin(), layer.inputs.end(), input) != layer.inputs.end();
    if (!reads || layer.op.Is<Quantize>()) continue;
    return Unsupported("feeds " + LabelOf(graph, i) +
                       " with real numbers; only QUANTIZE can take a "
                       "sensor's");
  }
  return {};
}

bool HoldsMean(const Sensor& sensor) {
  const Range range = RangeOf(sensor.type);
  return sensor.mean == std::nearbyint(sensor.mean) && sensor.mean >= range.min &&
         sensor.mean <= range.max;
}

// raw 2^bits - mean 2^bits fits int32 for every raw number; negative where nothing does.
int FractionBits(const Sensor& sensor) {
  const Range range = RangeOf(sensor.type);
  const double largest =
      std::max(std::fabs(range.min - sensor.mean), std::fabs(range.max - sensor.mean));
  const double widest = std::max({largest, std::fabs(sensor.mean), -1.0 * range.min});
  int exponent = 0;
  std::frexp(widest + 1, &exponent);  // widest + 1 < 2^exponent
  return std::min(31 - exponent, kMaxFractionBits);
}

TensorId AddTensor(Graph& graph, std::string name, Type type, Shape shape, Quantization q = {}) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.quantization = std::move(q);
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

TensorId AddNumber(Graph& graph, std::string name, int32_t value) {
  const TensorId id = AddTensor(graph, std::move(name), Type::kInt32, {1});
  const auto owned = std::make_shared<const int32_t>(value);
  Tensor& tensor = At(graph, id);
  tensor.constant = true;
  tensor.data = owned.get();
  tensor.data_bytes = sizeof(value);
  tensor.owner = owned;
  return id;
}

// Layers that bring raw numbers, in a tensor whose id this returns, to `centered`, an int32 tensor
// of 2^bits (raw - mean).
TensorId Center(Graph& graph, const Sensor& sensor, int bits, TensorId centered,
                std::vector<Layer>& layers) {
  const std::string name = At(graph, centered).name;
  const Shape shape = At(graph, centered).shape;
  const TensorId raw = AddTensor(graph, name + "/raw", sensor.type, shape);
  const TensorId wide = AddTensor(graph, name + "/wide", Type::kInt32, shape);
  const TensorId scaled = AddTensor(graph, name + "/scaled", Type::kInt32, shape);
  const auto mean = static_cast<int32_t>(std::llround(std::ldexp(sensor.mean, bits)));
  const TensorId unit = AddNumber(graph, name + "/unit", int32_t{1} << bits);
  const TensorId shift = AddNumber(graph, name + "/mean", mean);
  layers.push_back({Cast{}, {raw}, {wide}, {}});
  layers.push_back({Mul{}, {wide, unit}, {scaled}, {}});
  layers.push_back({Sub{}, {scaled, shift}, {centered}, {}});
  return raw;
}

// Makes `real`, which stands for the sensor's real numbers, a quantized tensor of them; returns the
// input that the graph gets.
Result<TensorId> Feed(Graph& graph, const Sensor& sensor, TensorId real,
                      std::vector<Layer>& layers) {
  Tensor& tensor = At(graph, real);
  if (HoldsMean(sensor)) {
    tensor.type = sensor.type;
    tensor.quantization =
        PerTensor(static_cast<float>(sensor.scale), static_cast<int32_t>(sensor.mean));
    return real;
  }
  const int bits = FractionBits(sensor);
  const auto scale = static_cast<float>(std::ldexp(sensor.scale, -bits));
  if (bits < 0 || !(scale > 0)) {
    return Unsupported("has the mean " + std::to_string(sensor.mean) +
                       ", which int32 does not hold beside its " + NameOf(sensor.type));
  }
  tensor.type = Type::kInt32;
  tensor.quantization = PerTensor(scale, 0);
  return Center(graph, sensor, bits, real, layers);
}

Status Fold(Graph& graph, size_t index, const Sensor& sensor) {
  INTAGLIO_RETURN_IF_ERROR(Check(sensor));
  const TensorId input = graph.inputs[index];
  INTAGLIO_RETURN_IF_ERROR(CheckReaders(graph, input));
  const bool is_quantized = At(graph, input).quantization.quantized();
  TensorId real = input;
  if (is_quantized) {
    const std::string name = At(graph, input).name + "/sensor";
    const Shape shape = At(graph, input).shape;
    real = AddTensor(graph, name, sensor.type, shape);
  }
  std::vector<Layer> layers;
  const Result<TensorId> raw = Feed(graph, sensor, real, layers);
  if (!raw.ok()) return raw.status();
  if (is_quantized) layers.push_back({Quantize{}, {real}, {input}, {}});
  graph.inputs[index] = *raw;
  graph.layers.insert(graph.layers.begin(), std::make_move_iterator(layers.begin()),
                      std::make_move_iterator(layers.end()));
  return {};
}

}  // namespace

Status FoldSensor(Graph& graph, size_t index, const Sensor& sensor) {
  const std::string name = NameOfInput(graph, index);
  const Status status = Fold(graph, index, sensor);
  return status.ok() ? status : Status(status.code(), name + " " + status.message());
}

}  // namespace intaglio::nn
