#include "intaglio/nn/tune/difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace intaglio::nn::tune {
namespace {

template <class T>
double At(const std::vector<uint8_t>& bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

double Stored(Type type, const std::vector<uint8_t>& bytes, size_t i) {
  switch (type) {
    case Type::kInt8:
      return At<int8_t>(bytes, i);
    case Type::kUInt8:
    case Type::kBool:
      return At<uint8_t>(bytes, i);
    case Type::kInt16:
      return At<int16_t>(bytes, i);
    case Type::kUInt16:
      return At<uint16_t>(bytes, i);
    case Type::kInt32:
      return At<int32_t>(bytes, i);
    case Type::kInt64:
      return At<int64_t>(bytes, i);
    case Type::kFloat32:
      return At<float>(bytes, i);
  }
  return 0;
}

}  // namespace

Difference DifferenceOf(const Graph& graph, std::span<const std::vector<uint8_t>> expected,
                        std::span<const std::vector<uint8_t>> outputs) {
  Difference difference;
  difference.measured = true;
  double signal = 0;
  double noise = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& tensor = graph.tensors[static_cast<size_t>(graph.outputs[i])];
    const Quantization& q = tensor.quantization;
    const bool quantized = tensor.type != Type::kFloat32 && q.scales.size() == 1;
    const double scale = quantized ? static_cast<double>(q.scales[0]) : 1;
    const double zero_point = quantized ? q.zero_points[0] : 0;
    for (size_t k = 0; k < outputs[i].size() / SizeOf(tensor.type); ++k) {
      const double wanted = Stored(tensor.type, expected[i], k) - zero_point;
      if (!std::isfinite(wanted)) continue;
      double steps = std::abs(Stored(tensor.type, outputs[i], k) - zero_point - wanted);
      if (!std::isfinite(steps)) steps = std::max(1.0, std::abs(wanted));
      if (quantized) difference.steps = std::max(difference.steps, steps);
      signal += scale * wanted * scale * wanted;
      noise += scale * steps * scale * steps;
    }
  }
  difference.relative = noise == 0 ? 0 : signal == 0 ? 1 : std::sqrt(noise / signal);
  return difference;
}

}  // namespace intaglio::nn::tune
