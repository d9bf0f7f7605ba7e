#include "intaglio/nn/quantize/constants.h"

#include <cstring>
#include <memory>
#include <utility>

#include "intaglio/nn/quantize/observer.h"

namespace intaglio::nn::quantize {
namespace {

// Elements behind one index of an axis.
size_t InnerOf(const Shape& shape, int axis) {
  size_t inner = 1;
  for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) {
    inner *= static_cast<size_t>(shape[i]);
  }
  return inner;
}

Status CheckFinite(const Tensor& constant, const std::vector<float>& values) {
  const std::optional<size_t> i = FindNotFinite(values);
  return i.has_value() ? NotFinite(constant.name, *i, values[*i]) : Status();
}

// The constant with other elements.
template <class T>
Tensor Make(const Tensor& like, std::vector<T> values, Type type, Quantization quantization) {
  Tensor tensor;
  tensor.name = like.name;
  tensor.type = type;
  tensor.shape = like.shape;
  tensor.quantization = std::move(quantization);
  tensor.constant = true;
  return WithValues(tensor, std::move(values));
}

template <class T, class Function>
Tensor Map(const Tensor& constant, Type type, Quantization quantization, const Function& f) {
  const std::vector<float> reals = RealsOf(constant);
  std::vector<T> values(reals.size());
  for (size_t i = 0; i < reals.size(); ++i) values[i] = static_cast<T>(f(reals[i], i));
  return Make(constant, std::move(values), type, std::move(quantization));
}

template <class Function>
Tensor MapTo(const Tensor& constant, Type type, Quantization quantization, const Function& f) {
  switch (type) {
    case Type::kUInt8:
      return Map<uint8_t>(constant, type, std::move(quantization), f);
    case Type::kInt16:
      return Map<int16_t>(constant, type, std::move(quantization), f);
    case Type::kInt32:
      return Map<int32_t>(constant, type, std::move(quantization), f);
    case Type::kInt64:
      return Map<int64_t>(constant, type, std::move(quantization), f);
    default:
      return Map<int8_t>(constant, type, std::move(quantization), f);
  }
}

Quantization ScalesAlong(const std::vector<float>& scales, int axis, int32_t zero_point) {
  return {scales, std::vector<int32_t>(scales.size(), zero_point), axis};
}

}  // namespace

std::vector<float> RealsOf(const Tensor& constant) {
  std::vector<float> values(constant.data_bytes / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), constant.data, constant.data_bytes);
  return values;
}

Result<RealRange> RangeOfConstant(const Tensor& constant) {
  Observer observer;
  INTAGLIO_RETURN_IF_ERROR(observer.Observe(RealsOf(constant), constant.name));
  return observer.Range();
}

Result<std::vector<RealRange>> RangesOfChannels(const Tensor& constant, int axis) {
  const std::vector<float> values = RealsOf(constant);
  INTAGLIO_RETURN_IF_ERROR(CheckFinite(constant, values));
  const auto channels = static_cast<size_t>(constant.shape[static_cast<size_t>(axis)]);
  return ChannelRanges(values, channels, InnerOf(constant.shape, axis));
}

Tensor QuantizeConstant(const Tensor& constant, const Parameters& parameters,
                        const Levels& levels) {
  return MapTo(constant, levels.type, QuantizationOf(parameters),
               [&](float x, size_t) { return QuantizeNumber(x, parameters, levels); });
}

Tensor QuantizeWeights(const Tensor& weights, int axis, const std::vector<float>& scales, Type type,
                       int bits) {
  const int32_t zero_point = type == Type::kUInt8 ? 128 : 0;
  const Levels levels = {Type::kInt8, bits, true};
  const size_t inner = InnerOf(weights.shape, axis);
  return MapTo(weights, type, ScalesAlong(scales, axis, zero_point), [&](float x, size_t i) {
    const float scale = scales[scales.size() > 1 ? i / inner % scales.size() : 0];
    return QuantizeNumber(x, {scale, 0}, levels) + zero_point;
  });
}

Tensor QuantizeBiases(const Tensor& bias, float input_scale, const std::vector<float>& scales,
                      Type type) {
  std::vector<float> products;
  for (const float scale : scales) products.push_back(input_scale * scale);
  return MapTo(bias, type, ScalesAlong(products, 0, 0), [&](float x, size_t i) {
    const float scale = scales[scales.size() > 1 ? i : 0];
    return QuantizeBias(x, double{input_scale} * double{scale}, type);
  });
}

}  // namespace intaglio::nn::quantize
