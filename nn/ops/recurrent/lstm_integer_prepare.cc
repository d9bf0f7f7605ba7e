// Prepares the LSTM of int8: types, multipliers, packed weights.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "intaglio/nn/ops/recurrent/lstm_integer.h"
#include "intaglio/nn/ops/support/checks.h"

namespace intaglio::nn {
namespace {

// The weights of `inputs`, one under the other, with the multiplier of each input's rows. A bias
// per row, and the zero point of what they are multiplied with, go into one bias: the product
// itself knows no zero point.
class ProductMaker {
 public:
  ProductMaker(const LayerView& layer, int32_t zero_point)
      : layer_(layer), zero_point_(zero_point) {}

  // real: the multiplier. bias: an input, or kNoBias.
  Status Add(size_t weights, double real, size_t bias) {
    const Tensor& tensor = layer_.input(weights);
    const Result<QuantizedMultiplier> multiplier = MakeMultiplier(layer_, real);
    if (!multiplier.ok()) return multiplier.status();
    const auto* const data = static_cast<const int8_t*>(tensor.data);
    const int depth = tensor.shape[1];
    for (int row = 0; row < tensor.shape[0]; ++row) {
      int32_t sum = bias == kNoBias ? 0 : static_cast<const int32_t*>(layer_.input(bias).data)[row];
      for (int i = 0; i < depth; ++i) {
        sum = Scalar::Sub(sum, zero_point_ * data[ptrdiff_t{row} * depth + i]);
      }
      product_.bias.push_back(sum);
      product_.multipliers.mantissa.push_back(multiplier->mantissa);
      product_.multipliers.exponent.push_back(multiplier->exponent);
    }
    inputs_.push_back(weights);
    return {};
  }

  // Packs into `to`, where the pipeline's parameters stay, for products of so many rows.
  Status Finish(Type output, int32_t zero_point, int rows, const LayerOptions& options,
                GateProduct& to) {
    Result<PackedOf<PackedMatrix>> packed = PackCellWeights(layer_, inputs_, options);
    if (!packed.ok()) return packed.status();
    to = std::move(product_);
    to.packed = std::move(packed->form);
    to.new_bytes = packed->new_bytes;
    StandardPipeline pipeline;
    pipeline.bias = to.bias.data();
    pipeline.scaling = Scaling::kDoubleRounding;
    pipeline.per_channel = true;
    pipeline.mantissa = to.multipliers.mantissa.data();
    pipeline.exponent = to.multipliers.exponent.data();
    pipeline.zero_point = zero_point;
    pipeline.output = output;
    Result<BoundPipeline> bound =
        BoundPipeline::Bind(*to.packed, pipeline, Type::kInt8, 0, {.fit = false, .rows = rows});
    if (!bound.ok()) return layer_.Wrap(bound.status());
    to.pipeline = std::move(*bound);
    return {};
  }

  static constexpr size_t kNoBias = std::numeric_limits<size_t>::max();

 private:
  const LayerView& layer_;
  int32_t zero_point_;
  std::vector<size_t> inputs_;
  GateProduct product_;
};

// Prepares a routine step by step. Real multipliers are float32 products, as in TFLite.
class IntegerLstmMaker {
 public:
  IntegerLstmMaker(const LayerView& layer, const LayerOptions& options, const LstmSizes& sizes)
      : layer_(layer), options_(options), cell_(CellOf(layer)) {
    routine_->sizes = sizes;
  }

  Result<std::shared_ptr<IntegerLstmRoutine>> Make() {
    INTAGLIO_RETURN_IF_ERROR(CheckTypes());
    for (const int depth : {sizes().inputs, sizes().outputs, sizes().cells}) {
      INTAGLIO_RETURN_IF_ERROR(CheckDepth(layer_, depth));
    }
    INTAGLIO_RETURN_IF_ERROR(ReadQuantizations());
    INTAGLIO_RETURN_IF_ERROR(MakeProduct(x_, lstm::kWeights, !sizes().norm, Type::kInt16,
                                         sizes().rows.count(), routine_->of_x));
    INTAGLIO_RETURN_IF_ERROR(
        MakeProduct(h_, lstm::kRecurrent, false, Type::kInt32, sizes().rows.batch, routine_->of_h));
    for (const Gate gate : sizes().gates()) {
      if (sizes().peephole && gate != kCellGate) INTAGLIO_RETURN_IF_ERROR(MakePeephole(gate));
      if (sizes().norm) INTAGLIO_RETURN_IF_ERROR(MakeNorm(gate));
    }
    INTAGLIO_RETURN_IF_ERROR(MakeHidden());
    MakeClips();
    routine_->logistic = &LogisticTable();
    routine_->tanh_of_gate = &TanhTable(3);
    routine_->tanh_of_cell = &TanhTable(15 + cell_exponent_);
    routine_->input_shift = 30 + cell_exponent_;
    return std::move(routine_);
  }

 private:
  const LstmSizes& sizes() const { return routine_->sizes; }

  Status CheckTypes() {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer_, layer_.output(), Type::kInt8));
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer_, layer_.input(lstm::kOutputState), Type::kInt8));
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer_, layer_.input(lstm::kCellState), Type::kInt16));
    for (size_t i = 1; i < layer_.input_count(); ++i) {
      if (!layer_.has_input(i) || i == lstm::kOutputState || i == lstm::kCellState) continue;
      const bool bias = (i >= lstm::kBias && i < lstm::kProjection) || i == lstm::kProjectionBias;
      const bool cells = (i >= lstm::kPeephole[0] && i < lstm::kBias) || i >= lstm::kNorm;
      INTAGLIO_RETURN_IF_ERROR(CheckType(layer_, layer_.input(i),
                                         bias    ? Type::kInt32
                                         : cells ? Type::kInt16
                                                 : Type::kInt8));
    }
    return {};
  }

  Status ReadQuantizations() {
    const Result<Affine> x = AffineOf(layer_, layer_.input(0));
    if (!x.ok()) return x.status();
    const Result<Affine> h = AffineOf(layer_, layer_.input(lstm::kOutputState));
    if (!h.ok()) return h.status();
    const Result<Affine> c = AffineOf(layer_, layer_.input(lstm::kCellState));
    if (!c.ok()) return c.status();
    x_ = *x;
    h_ = *h;
    cell_scale_ = c->scale;
    const float exponent = std::log2(cell_scale_);
    cell_exponent_ = static_cast<int>(std::round(exponent));
    if (std::fabs(exponent - std::round(exponent)) >= 1e-3f || cell_exponent_ < -15 ||
        cell_exponent_ > -9 || c->zero_point != 0) {
      return layer_.Unsupported("the cells' scale is " + std::to_string(cell_scale_) +
                                " and their zero point " + std::to_string(c->zero_point) +
                                "; 2^-15 to 2^-9 and 0 are supported");
    }
    if (cell_.hidden.scales.size() != 1 || !(cell_.hidden.scales[0] > 0)) {
      return layer_.Invalid("what is projected has no quantization");
    }
    hidden_ = {cell_.hidden.scales[0], cell_.hidden.zero_points[0]};
    if (hidden_.zero_point < -128 || hidden_.zero_point > 127) {
      return layer_.Invalid("what is projected has the zero point " +
                            std::to_string(hidden_.zero_point));
    }
    return {};
  }

  Result<float> GateScale(Gate gate) const {
    if (!sizes().norm) return 1.0f / 4096;
    const float scale = cell_.gate_scales[gate];
    if (scale > 0 && std::isfinite(scale)) return scale;
    return layer_.Invalid("the sums of gate " + std::to_string(gate) + " have the scale " +
                          std::to_string(scale));
  }

  Status MakeProduct(const Affine& of, size_t first, bool bias, Type output, int rows,
                     GateProduct& to) {
    ProductMaker maker(layer_, of.zero_point);
    for (const Gate gate : sizes().gates()) {
      const Result<float> weights = SymmetricScale(layer_, layer_.input(first + gate));
      if (!weights.ok()) return weights.status();
      const Result<float> sum = GateScale(gate);
      if (!sum.ok()) return sum.status();
      const float real = *weights * of.scale / *sum;
      INTAGLIO_RETURN_IF_ERROR(maker.Add(first + gate, static_cast<double>(real),
                                         bias ? lstm::kBias + gate : ProductMaker::kNoBias));
    }
    return maker.Finish(output, 0, rows, options_, to);
  }

  Status MakePeephole(Gate gate) {
    const Tensor& tensor = layer_.input(lstm::kPeephole[gate]);
    const Result<float> weights = SymmetricScale(layer_, tensor);
    if (!weights.ok()) return weights.status();
    const Result<float> sum = GateScale(gate);
    if (!sum.ok()) return sum.status();
    if (sizes().outputs > sizes().cells) {
      return layer_.Unsupported("peepholes where there are more outputs than cells");
    }
    const auto real = static_cast<float>(std::ldexp(1.0, cell_exponent_) *
                                         static_cast<double>(*weights) / static_cast<double>(*sum));
    const Result<QuantizedMultiplier> multiplier =
        MakeMultiplier(layer_, static_cast<double>(real));
    if (!multiplier.ok()) return multiplier.status();
    routine_->peepholes[gate] = {static_cast<const int16_t*>(tensor.data), *multiplier};
    return {};
  }

  Status MakeNorm(Gate gate) {
    const Tensor& tensor = layer_.input(lstm::kNorm + gate);
    const Result<float> scale = SymmetricScale(layer_, tensor);
    if (!scale.ok()) return scale.status();
    // Twelve fraction bits more: the sums are in units of 2^-12 from here on.
    Result<QuantizedMultiplier> multiplier = MakeMultiplier(layer_, static_cast<double>(*scale));
    if (!multiplier.ok()) return multiplier.status();
    if (multiplier->exponent > 18) {
      return layer_.Unsupported("weights '" + tensor.name + "' have the scale " +
                                std::to_string(*scale));
    }
    multiplier->exponent += 12;
    Normalization& norm = routine_->norms[gate];
    norm.weights = static_cast<const int16_t*>(tensor.data);
    norm.bias = static_cast<const int32_t*>(layer_.input(lstm::kBias + gate).data);
    norm.multiplier = *multiplier;
    norm.variance_guard = std::max(1, static_cast<int32_t>(10000 * *scale));
    return {};
  }

  Status MakeHidden() {
    const auto real = static_cast<float>(std::ldexp(1.0, -30) / static_cast<double>(hidden_.scale));
    const Result<QuantizedMultiplier> multiplier =
        MakeMultiplier(layer_, static_cast<double>(real));
    if (!multiplier.ok()) return multiplier.status();
    routine_->hidden_multiplier = *multiplier;
    routine_->hidden_zero_point = sizes().projection ? -hidden_.zero_point : hidden_.zero_point;
    if (!sizes().projection) return {};
    const Result<float> weights = SymmetricScale(layer_, layer_.input(lstm::kProjection));
    if (!weights.ok()) return weights.status();
    ProductMaker maker(layer_, -hidden_.zero_point);
    const bool bias = layer_.has_input(lstm::kProjectionBias);
    INTAGLIO_RETURN_IF_ERROR(maker.Add(lstm::kProjection,
                                       static_cast<double>(*weights * hidden_.scale / h_.scale),
                                       bias ? lstm::kProjectionBias : ProductMaker::kNoBias));
    return maker.Finish(Type::kInt8, h_.zero_point, sizes().rows.batch, options_,
                        routine_->projection);
  }

  void MakeClips() {
    const Quantization& out = layer_.output().quantization;
    routine_->cell_clip =
        static_cast<int16_t>(std::clamp(cell_.cell_clip / cell_scale_, 0.0f, 32767.0f));
    if (!out.quantized() || !(out.scales[0] > 0)) return;
    routine_->projection_clip =
        static_cast<int8_t>(std::clamp(cell_.projection_clip / out.scales[0], 0.0f, 127.0f));
  }

  const LayerView& layer_;
  const LayerOptions& options_;
  const LstmCell& cell_;
  std::shared_ptr<IntegerLstmRoutine> routine_ = std::make_shared<IntegerLstmRoutine>();
  Affine x_;
  Affine h_;
  Affine hidden_;
  float cell_scale_ = 1;
  int cell_exponent_ = 0;
};

}  // namespace

Result<PreparedLayer> PrepareIntegerLstm(const LayerView& layer, const LayerOptions& options) {
  const Result<LstmSizes> sizes = LstmSizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  Result<std::shared_ptr<IntegerLstmRoutine>> routine =
      IntegerLstmMaker(layer, options, *sizes).Make();
  if (!routine.ok()) return routine.status();
  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.macs = CountLstmMacs(*sizes);
  for (const GateProduct* product :
       {&(*routine)->of_x, &(*routine)->of_h, &(*routine)->projection}) {
    if (!product->packed) continue;
    prepared.constant_bytes += product->new_bytes + product->pipeline.bytes();
  }
  prepared.scratch_bytes = (*routine)->ScratchBytes();
  prepared.routine = std::move(*routine);
  return prepared;
}

}  // namespace intaglio::nn
