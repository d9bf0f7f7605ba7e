#include "intaglio/nn/ops/float_product.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "intaglio/nn/ops/cell.h"
#include "intaglio/nn/ops/checks.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

// The order of additions is fixed: eight interleaved sums.
float Dot(const float* a, const float* b, int count) {
  float sums[8] = {};
  int i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < count; ++i) sums[i % 8] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

struct RowScale {
  float scale = 1;
  int32_t zero_point = 0;
};

// Numbers that are not finite have no quantization; they become 0 here.
int32_t Rounded(float x) { return std::fabs(x) < 1e6f ? static_cast<int32_t>(std::round(x)) : 0; }

// To [-127, 127] by the largest magnitude.
RowScale QuantizeSymmetric(const float* x, int count, int8_t* q) {
  float range = 0;
  for (int i = 0; i < count; ++i) range = std::max(range, std::fabs(x[i]));
  if (range == 0) {
    std::fill_n(q, count, int8_t{0});
    return {};
  }
  const float inverse = 127 / range;
  for (int i = 0; i < count; ++i) {
    q[i] = static_cast<int8_t>(std::clamp(Rounded(x[i] * inverse), -127, 127));
  }
  return {range / 127, 0};
}

// To [-128, 127], with 0 exactly at the zero point.
RowScale QuantizeAsymmetric(const float* x, int count, int8_t* q) {
  const auto [low, high] = std::minmax_element(x, x + count);
  const auto min = static_cast<double>(std::min(0.0f, *low));
  const auto max = static_cast<double>(std::max(0.0f, *high));
  if (min == max || !std::isfinite(max - min)) {
    std::fill_n(q, count, int8_t{0});
    return {};
  }
  const double scale = (max - min) / 255;
  const double from_min = -128 - min / scale;
  const double from_max = 127 - max / scale;
  // The end that loses less to rounding.
  const bool min_is_better = 128 + std::fabs(min / scale) < 127 + std::fabs(max / scale);
  const double zero = std::clamp(std::round(min_is_better ? from_min : from_max), -128.0, 127.0);
  const RowScale row{static_cast<float>(scale), static_cast<int32_t>(zero)};
  const float inverse = 1 / row.scale;
  for (int i = 0; i < count; ++i) {
    const int32_t value = Rounded(static_cast<float>(row.zero_point) + x[i] * inverse);
    q[i] = static_cast<int8_t>(std::clamp(value, -128, 127));
  }
  return row;
}

// One matrix of all weights, output by output.
Result<std::vector<int8_t>> Stack(const LayerView& layer, const std::vector<size_t>& inputs) {
  std::vector<int8_t> stacked;
  for (const size_t i : inputs) {
    const Tensor& weights = layer.input(i);
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, weights, Type::kInt8));
    const auto* const data = static_cast<const int8_t*>(weights.data);
    stacked.insert(stacked.end(), data, data + weights.data_bytes);
  }
  return stacked;
}

}  // namespace

struct FloatProduct::Quantized {
  int8_t* rows;
  RowScale* scales;
  int32_t* sums;
  size_t bytes;
};

FloatProduct::Quantized FloatProduct::Divide(std::byte* scratch, int rows) const {
  ScratchDivider divider(scratch);
  Quantized parts{};
  parts.rows = divider.Take<int8_t>(static_cast<size_t>(rows) * static_cast<size_t>(depth_));
  parts.scales = divider.Take<RowScale>(static_cast<size_t>(rows));
  parts.sums = divider.Take<int32_t>(static_cast<size_t>(rows) * static_cast<size_t>(outputs_));
  parts.bytes = divider.bytes();
  return parts;
}

Result<FloatProduct> FloatProduct::Make(const LayerView& layer, const std::vector<size_t>& inputs,
                                        bool asymmetric, const LayerOptions& options) {
  FloatProduct product;
  product.asymmetric_ = asymmetric;
  product.depth_ = layer.input(inputs[0]).shape[1];
  const bool quantized = layer.input(inputs[0]).type == Type::kInt8;
  for (const size_t i : inputs) {
    const Tensor& weights = layer.input(i);
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, weights, quantized ? Type::kInt8 : Type::kFloat32));
    const int outputs = weights.shape[0];
    product.outputs_ += outputs;
    if (!quantized) {
      const auto* const data = static_cast<const float*>(weights.data);
      for (int o = 0; o < outputs; ++o) {
        product.rows_.push_back(data + static_cast<ptrdiff_t>(o) * product.depth_);
      }
      continue;
    }
    const Result<float> scale = SymmetricScale(layer, weights);
    if (!scale.ok()) return scale.status();
    product.scales_.insert(product.scales_.end(), static_cast<size_t>(outputs), *scale);
  }
  if (!quantized) return product;
  INTAGLIO_RETURN_IF_ERROR(CheckDepth(layer, product.depth_));
  const Result<std::vector<int8_t>> stacked = Stack(layer, inputs);
  if (!stacked.ok()) return stacked.status();
  for (int o = 0; o < product.outputs_; ++o) {
    const auto row = stacked->begin() + static_cast<ptrdiff_t>(o) * product.depth_;
    product.sums_.push_back(std::accumulate(row, row + product.depth_, 0));
  }
  Result<PackedMatrix> packed =
      PackCellWeights(layer, stacked->data(), product.outputs_, product.depth_, options);
  if (!packed.ok()) return packed.status();
  product.packed_ = std::move(*packed);
  return product;
}

size_t FloatProduct::ScratchBytes(int rows) const {
  return quantized() ? Divide(nullptr, rows).bytes : 0;
}

void FloatProduct::AddFloat(const float* x, float* y) const {
  for (size_t o = 0; o < rows_.size(); ++o) y[o] += Dot(rows_[o], x, depth_);
}

Status FloatProduct::AddTo(Context& context, const float* x, int rows, float* y, ptrdiff_t stride,
                           std::byte* scratch) const {
  if (!quantized()) {
    for (int r = 0; r < rows; ++r) AddFloat(x + ptrdiff_t{r} * depth_, y + r * stride);
    return {};
  }
  const Quantized parts = Divide(scratch, rows);
  const auto quantize = asymmetric_ ? QuantizeAsymmetric : QuantizeSymmetric;
  for (int r = 0; r < rows; ++r) {
    const ptrdiff_t at = ptrdiff_t{r} * depth_;
    parts.scales[r] = quantize(x + at, depth_, parts.rows + at);
  }
  const ConstMatrix lhs{parts.rows, Type::kInt8, rows, depth_, depth_, Order::kRowMajor, 0};
  const MutableMatrix dst{parts.sums, Type::kInt32, rows, outputs_, outputs_, Order::kRowMajor};
  INTAGLIO_RETURN_IF_ERROR(Gemm(context, lhs, *packed_, dst, StandardPipeline{}));
  for (int r = 0; r < rows; ++r) {
    const RowScale row = parts.scales[r];
    const int32_t* const sums = parts.sums + ptrdiff_t{r} * outputs_;
    float* const to = y + r * stride;
    for (int o = 0; o < outputs_; ++o) {
      const auto c = static_cast<size_t>(o);
      const int32_t sum = sums[o] - sums_[c] * row.zero_point;
      to[o] += static_cast<float>(sum) * (row.scale * scales_[c]);
    }
  }
  return {};
}

}  // namespace intaglio::nn
