// RNN and UNIDIRECTIONAL_SEQUENCE_RNN.
#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/recurrent/cell.h"
#include "intaglio/nn/ops/recurrent/float_product.h"
#include "intaglio/nn/ops/recurrent/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

enum Input : size_t { kX, kWeights, kRecurrent, kBias, kState };

struct RnnSizes {
  SequenceRows rows;
  int inputs = 0;
  int units = 0;
};

Result<RnnSizes> SizesOf(const LayerView& layer) {
  const auto* const sequence = layer.layer().op.As<UnidirectionalSequenceRnn>();
  const Result<SequenceRows> rows =
      RowsOf(layer, sequence != nullptr, sequence != nullptr && sequence->time_major);
  if (!rows.ok()) return rows.status();
  const Shape& weights = layer.input(kWeights).shape;
  RnnSizes sizes{*rows, layer.input(kX).shape.back(), weights.empty() ? 0 : weights[0]};
  if (sizes.inputs < 1 || sizes.units < 1) {
    return layer.Invalid("an input of " + ToString(layer.input(kX).shape) + " and weights of " +
                         ToString(weights) + " make no cell");
  }
  INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kWeights, {sizes.units, sizes.inputs}));
  INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kRecurrent, {sizes.units, sizes.units}));
  INTAGLIO_RETURN_IF_ERROR(CheckConstant(layer, kBias, {sizes.units}));
  INTAGLIO_RETURN_IF_ERROR(CheckVariable(layer, kState, int64_t{sizes.rows.batch} * sizes.units));
  INTAGLIO_RETURN_IF_ERROR(CheckSizes(layer, sizes.rows.count(), sizes.units));
  return sizes;
}

class RnnRoutine final : public Routine {
 public:
  RnnRoutine(RnnSizes s, CellActivation a, const float* b, FloatProduct x, FloatProduct h)
      : sizes(s), activation(a), bias(b), of_x(std::move(x)), of_h(std::move(h)) {}

  Status Run(const RunArguments& arguments) const override {
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    auto* const state = static_cast<float*>(arguments.variables[kState]);
    auto* const scratch = static_cast<std::byte*>(arguments.scratch);
    const SequenceRows& rows = sizes.rows;
    for (ptrdiff_t row = 0; row < rows.count(); ++row) {
      std::copy_n(bias, sizes.units, out + row * sizes.units);
    }
    INTAGLIO_RETURN_IF_ERROR(of_x.AddTo(arguments.context,
                                        static_cast<const float*>(arguments.inputs[kX]),
                                        rows.count(), out, sizes.units, scratch));
    const ptrdiff_t stride = rows.stride() * sizes.units;
    for (int step = 0; step < rows.steps; ++step) {
      float* const first = out + rows.row(step, 0) * sizes.units;
      INTAGLIO_RETURN_IF_ERROR(
          of_h.AddTo(arguments.context, state, rows.batch, first, stride, scratch));
      for (int b = 0; b < rows.batch; ++b) {
        Apply(of_h.floats(), activation, first + b * stride, sizes.units);
        std::copy_n(first + b * stride, sizes.units, state + ptrdiff_t{b} * sizes.units);
      }
    }
    return {};
  }

  size_t ScratchBytes() const {
    return std::max(of_x.ScratchBytes(sizes.rows.count()), of_h.ScratchBytes(sizes.rows.batch));
  }

  const RnnSizes sizes;
  const CellActivation activation;
  const float* const bias;
  const FloatProduct of_x;
  const FloatProduct of_h;
};

Result<PreparedLayer> PrepareCell(const LayerView& layer, CellActivation activation,
                                  bool asymmetric, const LayerOptions& options) {
  const Result<RnnSizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  for (const size_t i : {size_t{kBias}, size_t{kState}}) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(i), Type::kFloat32));
  }
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kFloat32));
  Result<FloatProduct> of_x = FloatProduct::Make(layer, {kWeights}, asymmetric, options);
  if (!of_x.ok()) return of_x.status();
  Result<FloatProduct> of_h = FloatProduct::Make(layer, {kRecurrent}, asymmetric, options);
  if (!of_h.ok()) return of_h.status();
  if (of_x->quantized() != of_h->quantized()) return layer.Unsupported("weights of two types");
  const auto routine = std::make_shared<RnnRoutine>(
      *sizes, activation, static_cast<const float*>(layer.input(kBias).data), std::move(*of_x),
      std::move(*of_h));
  const bool quantized = routine->of_x.quantized();
  PreparedLayer prepared;
  if (quantized) prepared.kernel = options.kernel;
  prepared.macs =
      CountMacs({sizes->rows.count(), sizes->units}, int64_t{sizes->inputs} + sizes->units);
  prepared.constant_bytes = routine->of_x.constant_bytes() + routine->of_h.constant_bytes();
  prepared.scratch_bytes = routine->ScratchBytes();
  prepared.routine = routine;
  return prepared;
}

ShapesResult InferRnn(const LayerView& layer) {
  const Result<RnnSizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  Shape shape = layer.input(kX).shape;
  shape.back() = sizes->units;
  return std::vector<Shape>{shape};
}

template <auto kPrepare>
constexpr Candidate kWays[] = {{"rnn-int8", kPrepare, kFloat, NeedsInt8Weights<kWeights>},
                               {"rnn", kPrepare, kFloat, RefusesInt8Weights<kWeights>}};

Result<PreparedLayer> PrepareRnn(const LayerView& layer, const LayerOptions& options) {
  const Rnn& op = layer.op<Rnn>();
  return PrepareCell(layer, op.activation, op.asymmetric_quantize_inputs, options);
}

Result<PreparedLayer> PrepareUnidirectionalSequenceRnn(const LayerView& layer,
                                                       const LayerOptions& options) {
  const UnidirectionalSequenceRnn& op = layer.op<UnidirectionalSequenceRnn>();
  return PrepareCell(layer, op.activation, op.asymmetric_quantize_inputs, options);
}

}  // namespace

constinit const OperatorRow Rnn::kRow = {.name = "RNN",
                                         .min_inputs = 5,
                                         .max_inputs = 5,
                                         .types = kFloat,
                                         .infer = InferRnn,
                                         .candidates = kWays<PrepareRnn>,
                                         .remark = "also with int8 weights",
                                         .parameters = kAllButFirst,
                                         .packing = {.matrices = RowsAsChannels}};

constinit const OperatorRow UnidirectionalSequenceRnn::kRow = {
    .name = "UNIDIRECTIONAL_SEQUENCE_RNN",
    .min_inputs = 5,
    .max_inputs = 5,
    .types = kFloat,
    .infer = InferRnn,
    .candidates = kWays<PrepareUnidirectionalSequenceRnn>,
    .remark = "also with int8 weights",
    .parameters = kAllButFirst,
    .packing = {.matrices = RowsAsChannels}};

}  // namespace intaglio::nn
