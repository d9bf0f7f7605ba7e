#include "intaglio/nn/quantize/similarity.h"

#include <cmath>
#include <cstring>

namespace intaglio::nn::quantize {
namespace {

template <class T>
std::vector<float> Dequantize(const Parameters& p, const void* data, size_t count) {
  const auto* const values = static_cast<const T*>(data);
  std::vector<float> reals(count);
  for (size_t i = 0; i < count; ++i) {
    reals[i] = p.scale * static_cast<float>(int32_t{values[i]} - p.zero_point);
  }
  return reals;
}

template <class T>
std::vector<std::byte> Quantize(const Parameters& p, const Levels& levels,
                                std::span<const float> reals) {
  std::vector<std::byte> bytes(reals.size() * sizeof(T));
  for (size_t i = 0; i < reals.size(); ++i) {
    const auto value = static_cast<T>(QuantizeNumber(reals[i], p, levels));
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

Parameters ParametersOf(const Tensor& tensor) {
  const Quantization& q = tensor.quantization;
  return q.quantized() ? Parameters{q.scales[0], q.zero_points[0]} : Parameters{1, 0};
}

}  // namespace

void Similarity::Add(std::span<const float> exact, std::span<const float> actual) {
  for (size_t i = 0; i < exact.size(); ++i) {
    const double x = exact[i];
    const double y = actual[i];
    exact_ += x * x;
    actual_ += y * y;
    both_ += x * y;
    noise_ += (x - y) * (x - y);
  }
  count_ += exact.size();
}

double Similarity::Sqnr() const {
  if (noise_ == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(exact_ / noise_);
}

double Similarity::Cosine() const {
  if (exact_ == 0 && actual_ == 0) return 1;
  if (exact_ == 0 || actual_ == 0) return 0;
  return both_ / std::sqrt(exact_ * actual_);
}

std::vector<float> RealsIn(const Tensor& tensor, const void* data, size_t count) {
  const Parameters p = ParametersOf(tensor);
  switch (tensor.type) {
    case Type::kInt8:
      return Dequantize<int8_t>(p, data, count);
    case Type::kUInt8:
      return Dequantize<uint8_t>(p, data, count);
    case Type::kInt16:
      return Dequantize<int16_t>(p, data, count);
    case Type::kUInt16:
      return Dequantize<uint16_t>(p, data, count);
    case Type::kFloat32: {
      const auto* const values = static_cast<const float*>(data);
      return {values, values + count};
    }
    default:
      return {};
  }
}

std::vector<std::byte> ElementsOf(const Tensor& tensor, std::span<const float> reals) {
  const Parameters p = ParametersOf(tensor);
  switch (tensor.type) {
    case Type::kInt8:
      return Quantize<int8_t>(p, {Type::kInt8, 8, false}, reals);
    case Type::kUInt8:
      return Quantize<uint8_t>(p, {Type::kUInt8, 8, false}, reals);
    case Type::kInt16:
      return Quantize<int16_t>(p, {Type::kInt16, 16, false}, reals);
    case Type::kUInt16:
      return Quantize<uint16_t>(p, {Type::kUInt16, 16, false}, reals);
    case Type::kFloat32: {
      const auto bytes = std::as_bytes(reals);
      return {bytes.begin(), bytes.end()};
    }
    default:
      return {};
  }
}

}  // namespace intaglio::nn::quantize
