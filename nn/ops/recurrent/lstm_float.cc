// The LSTM of float32, with weights of float32 or int8.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "intaglio/nn/ops/recurrent/float_product.h"
#include "intaglio/nn/ops/recurrent/lstm.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"

namespace intaglio::nn {
namespace {

// To mean 0 and variance 1.
void Normalize(float* x, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += x[i];
  const float mean = sum / static_cast<float>(count);
  float squares = 0;
  for (int i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const float inverse = 1.0f / std::sqrt(squares / static_cast<float>(count) + 1e-8f);
  for (int i = 0; i < count; ++i) x[i] = (x[i] - mean) * inverse;
}

void Clip(float* x, ptrdiff_t count, float bound) {
  if (bound <= 0) return;
  for (ptrdiff_t i = 0; i < count; ++i) x[i] = std::clamp(x[i], -bound, bound);
}

class FloatLstmRoutine final : public Routine {
 public:
  FloatLstmRoutine(LstmSizes s, LstmCell c, FloatProduct x, FloatProduct h)
      : sizes(std::move(s)), cell(std::move(c)), of_x(std::move(x)), of_h(std::move(h)) {}

  Status Run(const RunArguments& arguments) const override {
    const Buffers b = Divide(arguments);
    StartGates(b);
    INTAGLIO_RETURN_IF_ERROR(of_x.AddTo(arguments.context,
                                        static_cast<const float*>(arguments.inputs[0]),
                                        sizes.rows.count(), b.gates, width(), b.product));
    for (int step = 0; step < sizes.rows.steps; ++step) {
      INTAGLIO_RETURN_IF_ERROR(Step(arguments.context, b, step));
    }
    return {};
  }

  size_t ScratchBytes() const { return DivideScratch(nullptr).bytes; }

  const LstmSizes sizes;
  const LstmCell cell;
  const FloatProduct of_x;
  const FloatProduct of_h;
  std::optional<FloatProduct> projection;
  const float* projection_bias = nullptr;
  const float* biases[kGates] = {};
  const float* norms[kGates] = {};
  std::vector<float> peepholes[kGates];

 private:
  struct Buffers {
    float* gates;   // [rows, gates, cells]
    float* hidden;  // [batch, cells]
    std::byte* product;
    size_t bytes;
    float* h;
    float* c;
    float* out;
  };

  Buffers DivideScratch(std::byte* scratch) const {
    const auto rows = static_cast<size_t>(sizes.rows.count());
    const auto batch = static_cast<size_t>(sizes.rows.batch);
    size_t product =
        std::max(of_x.ScratchBytes(sizes.rows.count()), of_h.ScratchBytes(sizes.rows.batch));
    if (projection) product = std::max(product, projection->ScratchBytes(sizes.rows.batch));
    ScratchDivider divider(scratch);
    Buffers b{};
    b.gates = divider.Take<float>(rows * static_cast<size_t>(width()));
    b.hidden = divider.Take<float>(batch * static_cast<size_t>(sizes.cells));
    b.product = divider.Take<std::byte>(product);
    b.bytes = divider.bytes();
    return b;
  }

  Buffers Divide(const RunArguments& arguments) const {
    Buffers b = DivideScratch(static_cast<std::byte*>(arguments.scratch));
    b.h = static_cast<float*>(arguments.variables[lstm::kOutputState]);
    b.c = static_cast<float*>(arguments.variables[lstm::kCellState]);
    b.out = static_cast<float*>(arguments.outputs[0]);
    return b;
  }

  ptrdiff_t width() const { return ptrdiff_t{sizes.gate_count()} * sizes.cells; }

  // The biases, which with normalization come after it.
  void StartGates(const Buffers& b) const {
    for (ptrdiff_t row = 0; row < sizes.rows.count(); ++row) {
      for (const Gate gate : kAllGates) {
        if (gate == kInputGate && sizes.coupled) continue;
        float* const to = b.gates + row * width() + sizes.offset(gate);
        if (sizes.norm) {
          std::fill_n(to, sizes.cells, 0.0f);
        } else {
          std::copy_n(biases[gate], sizes.cells, to);
        }
      }
    }
  }

  Status Step(Context& context, const Buffers& b, int step) const {
    float* const gates = b.gates + sizes.rows.row(step, 0) * width();
    INTAGLIO_RETURN_IF_ERROR(of_h.AddTo(context, b.h, sizes.rows.batch, gates,
                                        sizes.rows.stride() * width(), b.product));
    float* const hidden = sizes.projection ? b.hidden : b.h;
    for (int row = 0; row < sizes.rows.batch; ++row) {
      UpdateRow(gates + row * sizes.rows.stride() * width(), b.c + ptrdiff_t{row} * sizes.cells,
                hidden + ptrdiff_t{row} * sizes.cells);
    }
    if (sizes.projection) INTAGLIO_RETURN_IF_ERROR(Project(context, b));
    for (int row = 0; row < sizes.rows.batch; ++row) {
      std::copy_n(b.h + ptrdiff_t{row} * sizes.outputs, sizes.outputs,
                  b.out + sizes.rows.row(step, row) * sizes.outputs);
    }
    return {};
  }

  // The gate itself, from its sums.
  const float* Activate(float* gates, const float* c, Gate gate) const {
    float* const x = gates + sizes.offset(gate);
    if (!peepholes[gate].empty()) {
      for (int i = 0; i < sizes.cells; ++i) x[i] += peepholes[gate][static_cast<size_t>(i)] * c[i];
    }
    if (norms[gate] != nullptr) {
      Normalize(x, sizes.cells);
      for (int i = 0; i < sizes.cells; ++i) x[i] = x[i] * norms[gate][i] + biases[gate][i];
    }
    if (gate == kCellGate) {
      Apply(of_h.floats(), cell.activation, x, sizes.cells);
    } else {
      of_h.floats().sigmoid(x, sizes.cells, x);
    }
    return x;
  }

  void UpdateRow(float* gates, float* c, float* hidden) const {
    const float* const input = sizes.coupled ? nullptr : Activate(gates, c, kInputGate);
    const float* const forget = Activate(gates, c, kForgetGate);
    const float* const candidate = Activate(gates, c, kCellGate);
    for (int i = 0; i < sizes.cells; ++i) {
      const float in = sizes.coupled ? 1.0f - forget[i] : input[i];
      c[i] = forget[i] * c[i] + in * candidate[i];
    }
    Clip(c, sizes.cells, cell.cell_clip);
    const float* const output = Activate(gates, c, kOutputGate);
    std::copy_n(c, sizes.cells, hidden);
    Apply(of_h.floats(), cell.activation, hidden, sizes.cells);
    for (int i = 0; i < sizes.cells; ++i) hidden[i] *= output[i];
  }

  Status Project(Context& context, const Buffers& b) const {
    for (int row = 0; row < sizes.rows.batch; ++row) {
      float* const to = b.h + ptrdiff_t{row} * sizes.outputs;
      if (projection_bias == nullptr) {
        std::fill_n(to, sizes.outputs, 0.0f);
      } else {
        std::copy_n(projection_bias, sizes.outputs, to);
      }
    }
    INTAGLIO_RETURN_IF_ERROR(
        projection->AddTo(context, b.hidden, sizes.rows.batch, b.h, sizes.outputs, b.product));
    Clip(b.h, ptrdiff_t{sizes.rows.batch} * sizes.outputs, cell.projection_clip);
    return {};
  }

  static constexpr Gate kAllGates[] = {kInputGate, kForgetGate, kCellGate, kOutputGate};
};

// The types of all but the weights, which their products check.
Status CheckTypes(const LayerView& layer, const LstmSizes& sizes) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kFloat32));
  std::vector<size_t> inputs = {lstm::kOutputState, lstm::kCellState};
  if (layer.has_input(lstm::kProjectionBias)) inputs.push_back(lstm::kProjectionBias);
  for (const Gate gate : sizes.gates()) {
    inputs.push_back(lstm::kBias + gate);
    if (sizes.norm) inputs.push_back(lstm::kNorm + gate);
  }
  for (const size_t i : inputs) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(i), Type::kFloat32));
  }
  return {};
}

const float* FloatsOf(const LayerView& layer, size_t i) {
  return layer.has_input(i) ? static_cast<const float*>(layer.input(i).data) : nullptr;
}

}  // namespace

Result<PreparedLayer> PrepareFloatLstm(const LayerView& layer, const LayerOptions& options) {
  const Result<LstmSizes> sizes = LstmSizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  INTAGLIO_RETURN_IF_ERROR(CheckTypes(layer, *sizes));
  const LstmCell& cell = CellOf(layer);
  const bool asymmetric = cell.asymmetric_quantize_inputs;
  Result<FloatProduct> of_x =
      FloatProduct::Make(layer, sizes->inputs_from(lstm::kWeights), asymmetric, options);
  if (!of_x.ok()) return of_x.status();
  Result<FloatProduct> of_h =
      FloatProduct::Make(layer, sizes->inputs_from(lstm::kRecurrent), asymmetric, options);
  if (!of_h.ok()) return of_h.status();
  const Type weights = layer.input(lstm::kWeights + kOutputGate).type;
  if (of_x->quantized() != of_h->quantized()) {
    return layer.Unsupported("weights of two types");
  }
  auto routine =
      std::make_shared<FloatLstmRoutine>(*sizes, cell, std::move(*of_x), std::move(*of_h));
  for (const Gate gate : sizes->gates()) {
    routine->biases[gate] = FloatsOf(layer, lstm::kBias + gate);
    routine->norms[gate] = FloatsOf(layer, lstm::kNorm + gate);
    if (!sizes->peephole || gate == kCellGate) continue;
    Result<std::vector<float>> peephole = RealNumbersOf(layer, lstm::kPeephole[gate], weights);
    if (!peephole.ok()) return peephole.status();
    routine->peepholes[gate] = std::move(*peephole);
  }
  if (sizes->projection) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(lstm::kProjection), weights));
    Result<FloatProduct> projection =
        FloatProduct::Make(layer, {lstm::kProjection}, asymmetric, options);
    if (!projection.ok()) return projection.status();
    routine->projection = std::move(*projection);
    routine->projection_bias = FloatsOf(layer, lstm::kProjectionBias);
  }
  PreparedLayer prepared;
  if (weights == Type::kInt8) prepared.kernel = options.kernel;
  prepared.macs = CountLstmMacs(*sizes);
  prepared.constant_bytes = routine->of_x.constant_bytes() + routine->of_h.constant_bytes() +
                            (routine->projection ? routine->projection->constant_bytes() : 0);
  prepared.scratch_bytes = routine->ScratchBytes();
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
