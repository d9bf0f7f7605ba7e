#include "intaglio/nn/quantize/constants.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
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

// The elements of a constant of float32 where they lie, or a copy where no float32 can be read.
class Reals {
 public:
  explicit Reals(const Tensor& constant) {
    if (reinterpret_cast<uintptr_t>(constant.data) % alignof(float) == 0) {
      values_ = {static_cast<const float*>(constant.data), constant.data_bytes / sizeof(float)};
    } else {
      copy_ = RealsOf(constant);
      values_ = copy_;
    }
  }
  Reals(const Reals&) = delete;
  Reals& operator=(const Reals&) = delete;

  std::span<const float> values() const { return values_; }

 private:
  std::vector<float> copy_;
  std::span<const float> values_;
};

Status CheckFinite(const Tensor& constant, std::span<const float> values) {
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
  const Reals made(constant);
  const std::span<const float> reals = made.values();
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

// Elements of weights that share a scale.
struct Run {
  std::span<const float> reals;
  float scale;
};

// QuantizeNumber for many numbers, in a loop that compilers turn into vectors. What is cut after
// one half was added is rounded half away from zero, and float64 adds exactly enough: a quotient of
// two float32 that is not halfway between integers is 2^-28 away from it or more.
template <class T>
void QuantizeRun(const Run& run, int32_t highest, int32_t zero_point, T* to) {
  const double scale = run.scale;
  const double most = highest;
  for (size_t i = 0; i < run.reals.size(); ++i) {
    double q = double{run.reals[i]} / scale;
    q = q < -most ? -most : q;
    q = q > most ? most : q;
    to[i] = static_cast<T>(static_cast<int32_t>(q + std::copysign(0.5, q)) + zero_point);
  }
}

template <class T>
Tensor QuantizeRuns(const Tensor& weights, int axis, const std::vector<float>& scales, Type type,
                    int32_t highest) {
  const int32_t zero_point = type == Type::kUInt8 ? 128 : 0;
  const Reals reals(weights);
  const std::span<const float> all = reals.values();
  const size_t length = scales.size() > 1 ? InnerOf(weights.shape, axis) : all.size();
  std::vector<T> values(all.size());
  for (size_t i = 0, channel = 0; i < all.size(); i += length) {
    QuantizeRun<T>({all.subspan(i, length), scales[channel]}, highest, zero_point, &values[i]);
    channel = channel + 1 == scales.size() ? 0 : channel + 1;
  }
  return Make(weights, std::move(values), type, ScalesAlong(scales, axis, zero_point));
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
  const Reals reals(constant);
  INTAGLIO_RETURN_IF_ERROR(CheckFinite(constant, reals.values()));
  const auto channels = static_cast<size_t>(constant.shape[static_cast<size_t>(axis)]);
  return ChannelRanges(reals.values(), channels, InnerOf(constant.shape, axis));
}

Tensor QuantizeConstant(const Tensor& constant, const Parameters& parameters,
                        const Levels& levels) {
  return MapTo(constant, levels.type, QuantizationOf(parameters),
               [&](float x, size_t) { return QuantizeNumber(x, parameters, levels); });
}

Tensor QuantizeWeights(const Tensor& weights, int axis, const std::vector<float>& scales, Type type,
                       int bits) {
  const int32_t highest = HighestOf({Type::kInt8, bits, true});
  return type == Type::kUInt8 ? QuantizeRuns<uint8_t>(weights, axis, scales, type, highest)
                              : QuantizeRuns<int8_t>(weights, axis, scales, type, highest);
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
