// The LSTM of int8 with cells of int16, in the bits of TFLite's kernel "8x8_16". All products of x
// are one GEMM before the first step; a step adds one of h for all gates.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "intaglio/fixedpoint/inverse_sqrt.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/ops/checks.h"
#include "intaglio/nn/ops/linear.h"
#include "intaglio/nn/ops/lstm.h"
#include "intaglio/nn/ops/table16.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

int16_t Saturate16(int64_t x) {
  return static_cast<int16_t>(std::clamp<int64_t>(x, -32768, 32767));
}
int8_t Saturate8(int64_t x) { return static_cast<int8_t>(std::clamp<int64_t>(x, -128, 127)); }

// A packed matrix and the pipeline of its products, whose parameters it owns.
struct GateProduct {
  std::optional<PackedMatrix> packed;
  std::vector<int32_t> bias;
  Multipliers multipliers;
  StandardPipeline pipeline;

  Status Run(Context& context, const int8_t* x, int rows, void* to, Type type) const {
    const int depth = packed->rows();
    const int outputs = packed->cols();
    const ConstMatrix lhs{x, Type::kInt8, rows, depth, depth, Order::kRowMajor, 0};
    const MutableMatrix dst{to, type, rows, outputs, outputs, Order::kRowMajor};
    return Gemm(context, lhs, *packed, dst, pipeline);
  }
};

// Layer normalization with 10 extra bits.
struct Normalization {
  const int16_t* weights = nullptr;
  const int32_t* bias = nullptr;
  QuantizedMultiplier multiplier;
  int32_t variance_guard = 1;

  void Apply(int16_t* x, int count) const {
    int64_t sum = 0;
    int64_t squares = 0;
    for (int i = 0; i < count; ++i) {
      sum += x[i];
      squares += int32_t{x[i]} * x[i];
    }
    const auto mean = static_cast<int32_t>(sum * 1024 / count);
    const int64_t variance = squares * ((1 << 20) / count) - int64_t{mean} * mean;
    auto narrow = static_cast<int32_t>(variance / (1 << 20));
    if (narrow < 1) narrow = variance_guard;
    const InverseSqrtMultiplier inverse = TfliteInverseSqrt(narrow);
    const QuantizedMultiplier scale{inverse.multiplier, -inverse.right_shift};
    for (int i = 0; i < count; ++i) {
      const int32_t rescaled = Requantize(1024 * int32_t{x[i]} - mean, scale);
      const int64_t sum32 = Scalar::Add(Scalar::Mul(rescaled, weights[i]), bias[i]);
      const auto rounded = static_cast<int32_t>((sum32 > 0 ? sum32 + 512 : sum32 - 512) / 1024);
      x[i] = Saturate16(Requantize(rounded, multiplier));
    }
  }
};

struct Peephole {
  const int16_t* weights = nullptr;
  QuantizedMultiplier multiplier;
};

class IntegerLstmRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* const x = static_cast<const int8_t*>(arguments.inputs[0]);
    const Buffers b = Divide(arguments);
    INTAGLIO_RETURN_IF_ERROR(
        of_x.Run(arguments.context, x, sizes.rows.count(), b.gates, Type::kInt16));
    for (int step = 0; step < sizes.rows.steps; ++step) {
      INTAGLIO_RETURN_IF_ERROR(Step(arguments.context, b, step));
    }
    return {};
  }

  size_t ScratchBytes() const { return DivideScratch(nullptr).bytes; }

  LstmSizes sizes;
  GateProduct of_x;
  GateProduct of_h;
  GateProduct projection;
  Peephole peepholes[kGates];
  Normalization norms[kGates];
  const Table16* logistic = nullptr;
  const Table16* tanh_of_gate = nullptr;
  const Table16* tanh_of_cell = nullptr;
  int input_shift = 15;  // of input gate times cell gate, to cells
  QuantizedMultiplier hidden_multiplier;
  int32_t hidden_zero_point = 0;
  int16_t cell_clip = 0;
  int8_t projection_clip = 0;

 private:
  struct Buffers {
    int16_t* gates;      // [rows, gates, cells]
    int32_t* recurrent;  // [batch, gates, cells]
    int8_t* hidden;      // [batch, cells]
    size_t bytes;
    int8_t* h;
    int16_t* c;
    int8_t* out;
  };

  Buffers DivideScratch(std::byte* scratch) const {
    const auto width = static_cast<size_t>(sizes.gate_count()) * static_cast<size_t>(sizes.cells);
    const auto batch = static_cast<size_t>(sizes.rows.batch);
    ScratchDivider divider(scratch);
    Buffers b{};
    b.gates = divider.Take<int16_t>(static_cast<size_t>(sizes.rows.count()) * width);
    b.recurrent = divider.Take<int32_t>(batch * width);
    b.hidden = divider.Take<int8_t>(batch * static_cast<size_t>(sizes.cells));
    b.bytes = divider.bytes();
    return b;
  }

  Buffers Divide(const RunArguments& arguments) const {
    Buffers b = DivideScratch(static_cast<std::byte*>(arguments.scratch));
    b.h = static_cast<int8_t*>(arguments.variables[lstm::kOutputState]);
    b.c = static_cast<int16_t*>(arguments.variables[lstm::kCellState]);
    b.out = static_cast<int8_t*>(arguments.outputs[0]);
    return b;
  }

  ptrdiff_t width() const { return ptrdiff_t{sizes.gate_count()} * sizes.cells; }

  int16_t* GateAt(const Buffers& b, int step, int row, Gate gate) const {
    return b.gates + sizes.rows.row(step, row) * width() + sizes.offset(gate);
  }

  Status Step(Context& context, const Buffers& b, int step) const {
    INTAGLIO_RETURN_IF_ERROR(of_h.Run(context, b.h, sizes.rows.batch, b.recurrent, Type::kInt32));
    for (int row = 0; row < sizes.rows.batch; ++row) AddRecurrent(b, step, row);
    if (!sizes.coupled) AddPeephole(b, step, kInputGate);
    AddPeephole(b, step, kForgetGate);
    for (int row = 0; row < sizes.rows.batch; ++row) UpdateCells(b, step, row);
    AddPeephole(b, step, kOutputGate);
    int8_t* const hidden = sizes.projection ? b.hidden : b.h;
    for (int row = 0; row < sizes.rows.batch; ++row) {
      MakeHidden(b, step, row, hidden + ptrdiff_t{row} * sizes.cells);
    }
    if (sizes.projection) INTAGLIO_RETURN_IF_ERROR(Project(context, b));
    const auto outputs = static_cast<size_t>(sizes.outputs);
    for (int row = 0; row < sizes.rows.batch; ++row) {
      std::memcpy(b.out + sizes.rows.row(step, row) * sizes.outputs,
                  b.h + ptrdiff_t{row} * sizes.outputs, outputs);
    }
    return {};
  }

  void AddRecurrent(const Buffers& b, int step, int row) const {
    int16_t* const gates = b.gates + sizes.rows.row(step, row) * width();
    const int32_t* const recurrent = b.recurrent + row * width();
    for (ptrdiff_t i = 0; i < width(); ++i) {
      gates[i] = Saturate16(int64_t{gates[i]} + recurrent[i]);
    }
  }

  // TFLite's kernel walks over as many cells as there are outputs: with a projection not all cells
  // get their peephole, and, where time is the outer dimension, they do not even start where the
  // rows do. Without a projection this is w_c * c.
  void AddPeephole(const Buffers& b, int step, Gate gate) const {
    const Peephole& peephole = peepholes[gate];
    if (peephole.weights == nullptr) return;
    const ptrdiff_t stride = sizes.rows.time_major ? sizes.outputs : sizes.cells;
    for (int row = 0; row < sizes.rows.batch; ++row) {
      for (int i = 0; i < sizes.outputs; ++i) {
        const ptrdiff_t at = row * stride + i;
        int16_t& sum = GateAt(b, step, static_cast<int>(at / sizes.cells), gate)[at % sizes.cells];
        const int32_t product =
            Requantize(int32_t{peephole.weights[i]} * b.c[at], peephole.multiplier);
        sum = Saturate16(int64_t{sum} + product);
      }
    }
  }

  // The gate itself, from its sums.
  const int16_t* Activate(const Buffers& b, int step, int row, Gate gate) const {
    int16_t* const x = GateAt(b, step, row, gate);
    if (norms[gate].weights != nullptr) norms[gate].Apply(x, sizes.cells);
    const Table16& table = gate == kCellGate ? *tanh_of_gate : *logistic;
    for (int i = 0; i < sizes.cells; ++i) x[i] = table(x[i]);
    return x;
  }

  void UpdateCells(const Buffers& b, int step, int row) const {
    const int16_t* const input = sizes.coupled ? nullptr : Activate(b, step, row, kInputGate);
    const int16_t* const forget = Activate(b, step, row, kForgetGate);
    const int16_t* const gate = Activate(b, step, row, kCellGate);
    int16_t* const c = b.c + ptrdiff_t{row} * sizes.cells;
    for (int i = 0; i < sizes.cells; ++i) {
      const int32_t in = sizes.coupled ? 32767 - forget[i] : input[i];
      const auto kept =
          static_cast<int16_t>(RoundingDivideByPowerOfTwo<Scalar>(int32_t{forget[i]} * c[i], 15));
      const auto added =
          static_cast<int16_t>(RoundingDivideByPowerOfTwo<Scalar>(in * gate[i], input_shift));
      c[i] = Saturate16(int64_t{kept} + added);
      if (cell_clip > 0) {
        c[i] = std::clamp(c[i], static_cast<int16_t>(-cell_clip), cell_clip);
      }
    }
  }

  void MakeHidden(const Buffers& b, int step, int row, int8_t* hidden) const {
    const int16_t* const output = Activate(b, step, row, kOutputGate);
    const int16_t* const c = b.c + ptrdiff_t{row} * sizes.cells;
    for (int i = 0; i < sizes.cells; ++i) {
      const int32_t product = int32_t{output[i]} * (*tanh_of_cell)(c[i]);
      hidden[i] = Saturate8(int64_t{Requantize(product, hidden_multiplier)} + hidden_zero_point);
    }
  }

  Status Project(Context& context, const Buffers& b) const {
    INTAGLIO_RETURN_IF_ERROR(projection.Run(context, b.hidden, sizes.rows.batch, b.h, Type::kInt8));
    if (projection_clip <= 0) return {};
    for (ptrdiff_t i = 0; i < ptrdiff_t{sizes.rows.batch} * sizes.outputs; ++i) {
      b.h[i] = std::clamp(b.h[i], static_cast<int8_t>(-projection_clip), projection_clip);
    }
    return {};
  }
};

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
    depth_ = tensor.shape[1];
    for (int row = 0; row < tensor.shape[0]; ++row) {
      int32_t sum = bias == kNoBias ? 0 : static_cast<const int32_t*>(layer_.input(bias).data)[row];
      for (int i = 0; i < depth_; ++i) {
        sum = Scalar::Sub(sum, zero_point_ * data[ptrdiff_t{row} * depth_ + i]);
      }
      product_.bias.push_back(sum);
      product_.multipliers.mantissa.push_back(multiplier->mantissa);
      product_.multipliers.exponent.push_back(multiplier->exponent);
    }
    stacked_.insert(stacked_.end(), data, data + tensor.data_bytes);
    return {};
  }

  // Packs into `to`, where the pipeline's parameters stay.
  Status Finish(Type output, int32_t zero_point, const LayerOptions& options, GateProduct& to) {
    const auto outputs = static_cast<int>(product_.bias.size());
    const ConstMatrix matrix{stacked_.data(), Type::kInt8,      depth_, outputs,
                             depth_,          Order::kColMajor, 0};
    PackOptions pack;
    pack.kernel = options.kernel;
    Result<PackedMatrix> packed = Prepack(Side::kRhs, matrix, pack);
    if (!packed.ok()) return layer_.Wrap(packed.status());
    to = std::move(product_);
    to.packed = std::move(*packed);
    to.pipeline.bias = to.bias.data();
    to.pipeline.scaling = Scaling::kDoubleRounding;
    to.pipeline.per_channel = true;
    to.pipeline.mantissa = to.multipliers.mantissa.data();
    to.pipeline.exponent = to.multipliers.exponent.data();
    to.pipeline.zero_point = zero_point;
    to.pipeline.output = output;
    return {};
  }

  static constexpr size_t kNoBias = std::numeric_limits<size_t>::max();

 private:
  const LayerView& layer_;
  int32_t zero_point_;
  int depth_ = 0;
  std::vector<int8_t> stacked_;
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
    INTAGLIO_RETURN_IF_ERROR(
        MakeProduct(x_, lstm::kWeights, !sizes().norm, Type::kInt16, routine_->of_x));
    INTAGLIO_RETURN_IF_ERROR(
        MakeProduct(h_, lstm::kRecurrent, false, Type::kInt32, routine_->of_h));
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

  Status MakeProduct(const Affine& of, size_t first, bool bias, Type output, GateProduct& to) {
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
    return maker.Finish(output, 0, options_, to);
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
    return maker.Finish(Type::kInt8, h_.zero_point, options_, routine_->projection);
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
  prepared.name = RoutineName(Type::kInt8, "lstm");
  prepared.kernel = options.kernel;
  prepared.macs = CountLstmMacs(*sizes);
  for (const GateProduct* product :
       {&(*routine)->of_x, &(*routine)->of_h, &(*routine)->projection}) {
    if (product->packed) prepared.constant_bytes += product->packed->bytes();
  }
  prepared.scratch_bytes = (*routine)->ScratchBytes();
  prepared.routine = std::move(*routine);
  return prepared;
}

}  // namespace intaglio::nn
