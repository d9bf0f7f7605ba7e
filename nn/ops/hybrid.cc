#include "intaglio/nn/ops/hybrid.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "intaglio/nn/ops/checks.h"

namespace intaglio::nn {
namespace {

constexpr int64_t kMaxDepth = 1 << 16;  // (255 + 1) 128 times that fits int32

struct ItemScale {
  float scale = 1;
  float inverse = 0;
  int32_t zero_point = 0;
  float low = -127;
  float high = 127;
};

// [-m, m] to [-127, 127], m the largest magnitude. An item of zeros keeps the scale 1.
ItemScale Symmetric(float min, float max) {
  const float range = std::max(std::fabs(min), std::fabs(max));
  if (range == 0) return {};
  return {range / 127, 127 / range, 0, -127, 127};
}

// [min, max] with 0 in it to [-128, 127]; the zero point from the end that is nearer to 0, in
// float64.
ItemScale Asymmetric(float min, float max) {
  const double low = std::fmin(0, static_cast<double>(min));
  const double high = std::fmax(0, static_cast<double>(max));
  if (low == high) return {};
  const double scale = (high - low) / 255;
  const double from_low = -128 - low / scale;
  const double from_high = 127 - high / scale;
  const bool low_is_nearer = 128 + std::fabs(low / scale) < 127 + std::fabs(high / scale);
  const double zero_point = std::fmin(std::fmax(low_is_nearer ? from_low : from_high, -128), 127);
  const auto narrow = static_cast<float>(scale);
  return {narrow, static_cast<float>(1.0 / static_cast<double>(narrow)),
          static_cast<int32_t>(std::round(zero_point)), -128, 127};
}

ItemScale ScaleOf(const float* x, int64_t size, bool asymmetric) {
  if (size == 0) return {};
  const auto [min, max] = std::minmax_element(x, x + size);
  return asymmetric ? Asymmetric(*min, *max) : Symmetric(*min, *max);
}

void QuantizeItem(const float* x, int64_t size, const ItemScale& q, int8_t* to) {
  const auto zero_point = static_cast<float>(q.zero_point);
  for (int64_t i = 0; i < size; ++i) {
    const float rounded = std::round(zero_point + x[i] * q.inverse);
    to[i] = static_cast<int8_t>(std::fmin(std::fmax(rounded, q.low), q.high));
  }
}

}  // namespace

Result<HybridLayer> CheckHybrid(const LayerView& layer, Activation activation, int axis,
                                int channels, int64_t depth, bool asymmetric) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kFloat32));
  HybridLayer hybrid;
  hybrid.asymmetric = asymmetric;
  INTAGLIO_RETURN_IF_ERROR(CheckWeights(layer, Type::kInt8, axis, channels, hybrid.linear));
  for (const int32_t zero_point : hybrid.linear.weight_zero_points) {
    if (zero_point != 0) return layer.Unsupported("weights with other zero points than 0");
  }
  if (depth > kMaxDepth) {
    return layer.Unsupported("sums " + std::to_string(depth) + " products; at most 2^16");
  }
  if (layer.has_input(2)) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(2), Type::kFloat32));
  }
  Result<FloatFinish> finish = MakeFloatFinish(layer, activation, channels);
  if (!finish.ok()) return finish.status();
  hybrid.finish = std::move(*finish);
  return hybrid;
}

Result<size_t> QuantizedItemsBytes(const LayerView& layer, int64_t items, int64_t size) {
  constexpr int64_t kNumbers = sizeof(float) + sizeof(int32_t);
  int64_t bytes = 0;
  if (__builtin_mul_overflow(items, size + kNumbers, &bytes) || !std::in_range<size_t>(bytes)) {
    return layer.Unsupported("scratch beyond the address space");
  }
  return static_cast<size_t>(bytes);
}

QuantizedItems QuantizeItems(const float* x, int64_t items, int64_t size, bool asymmetric,
                             void* scratch) {
  QuantizedItems to;
  to.scales = static_cast<float*>(scratch);
  to.zero_points = reinterpret_cast<int32_t*>(to.scales + items);
  to.values = reinterpret_cast<int8_t*>(to.zero_points + items);
  QuantizeItems(x, items, size, asymmetric, to);
  return to;
}

void QuantizeItems(const float* x, int64_t items, int64_t size, bool asymmetric,
                   const QuantizedItems& to) {
  for (int64_t item = 0; item < items; ++item) {
    const float* const begin = x + item * size;
    const ItemScale q = ScaleOf(begin, size, asymmetric);
    to.scales[item] = q.scale;
    to.zero_points[item] = q.zero_point;
    QuantizeItem(begin, size, q, to.values + item * size);
  }
}

void AppendSums(const ConstMatrix& weights, std::vector<int32_t>& sums) {
  const auto* const numbers = static_cast<const int8_t*>(weights.data);
  const bool by_columns = weights.order == Order::kColMajor;
  for (ptrdiff_t c = 0; c < weights.cols; ++c) {
    int32_t sum = 0;
    for (ptrdiff_t k = 0; k < weights.rows; ++k) {
      sum += numbers[by_columns ? c * weights.stride + k : k * weights.stride + c];
    }
    sums.push_back(sum);
  }
}

float ToReal::operator()(int32_t acc, int row, int channel) const {
  const int item = row / rows_per_item;
  const auto c = static_cast<size_t>(first_channel + channel);
  if (zero_points != nullptr) acc -= zero_points[item] * weight_sums[c];
  const std::vector<float>& weight_scales = layer.linear.weight_scales;
  const float scale = scales[item] * weight_scales[weight_scales.size() > 1 ? c : 0];
  return layer.finish(static_cast<float>(acc) * scale, c);
}

void ToReal::Run(const void* self, const AccumulatorTile& tile) {
  const auto& real = *static_cast<const ToReal*>(self);
  const bool along_channels = tile.along == Axis::kCols;
  for (int l = 0; l < tile.lines; ++l) {
    const int32_t* const acc = tile.acc + l * tile.acc_stride;
    float* const out = static_cast<float*>(tile.dst) + l * tile.line_stride;
    for (int i = 0; i < tile.length; ++i) {
      const int line = tile.first_line + l;
      const int element = tile.first_element + i;
      out[i * tile.element_stride] =
          along_channels ? real(acc[i], line, element) : real(acc[i], element, line);
    }
  }
}

}  // namespace intaglio::nn
