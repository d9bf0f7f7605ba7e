#include "intaglio/nn/ops/recurrent/float_product.h"

#include <string>

#include "intaglio/nn/ops/linear/hybrid.h"
#include "intaglio/nn/ops/recurrent/cell.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"

namespace intaglio::nn {

struct FloatProduct::Quantized {
  QuantizedItems rows;
  int32_t* sums;
  size_t bytes;
};

FloatProduct::Quantized FloatProduct::Divide(std::byte* scratch, int rows) const {
  ScratchDivider divider(scratch);
  Quantized parts{};
  const auto count = static_cast<size_t>(rows);
  parts.rows.values = divider.Take<int8_t>(count * static_cast<size_t>(depth_));
  parts.rows.scales = divider.Take<float>(count);
  parts.rows.zero_points = divider.Take<int32_t>(count);
  parts.sums = divider.Take<int32_t>(count * static_cast<size_t>(outputs_));
  parts.bytes = divider.bytes();
  return parts;
}

Result<FloatProduct> FloatProduct::Make(const LayerView& layer, const std::vector<size_t>& inputs,
                                        bool asymmetric, const LayerOptions& options) {
  FloatProduct product;
  product.asymmetric_ = asymmetric;
  product.floats_ = &FloatLoopsOf(options.kernel, options.float_sums);
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
  Result<PackedOf<PackedMatrix>> packed = PackCellWeights(layer, inputs, options);
  if (!packed.ok()) return packed.status();
  product.packed_ = std::move(packed->form);
  AppendSums(*product.packed_, product.sums_);
  product.new_bytes_ = packed->new_bytes;
  return product;
}

size_t FloatProduct::ScratchBytes(int rows) const {
  return quantized() ? Divide(nullptr, rows).bytes : 0;
}

Status FloatProduct::AddTo(Context& context, const float* x, int rows, float* y, ptrdiff_t stride,
                           std::byte* scratch) const {
  if (!quantized()) {
    const auto count = static_cast<ptrdiff_t>(rows_.size());
    for (int r = 0; r < rows; ++r) {
      floats_->add_dots(rows_.data(), count, x + ptrdiff_t{r} * depth_, depth_, y + r * stride);
    }
    return {};
  }
  const Quantized parts = Divide(scratch, rows);
  QuantizeItems(context, *floats_, x, rows, depth_, asymmetric_, parts.rows);
  const ConstMatrix lhs{parts.rows.values, Type::kInt8, rows, depth_, depth_, Order::kRowMajor, 0};
  const MutableMatrix dst{parts.sums, Type::kInt32, rows, outputs_, outputs_, Order::kRowMajor};
  INTAGLIO_RETURN_IF_ERROR(Gemm(context, lhs, *packed_, dst, StandardPipeline{}));
  for (int r = 0; r < rows; ++r) {
    const float scale = parts.rows.scales[r];
    const int32_t zero_point = parts.rows.zero_points[r];
    const int32_t* const sums = parts.sums + ptrdiff_t{r} * outputs_;
    float* const to = y + r * stride;
    for (int o = 0; o < outputs_; ++o) {
      const auto c = static_cast<size_t>(o);
      const int32_t sum = sums[o] - sums_[c] * zero_point;
      to[o] += static_cast<float>(sum) * (scale * scales_[c]);
    }
  }
  return {};
}

}  // namespace intaglio::nn
