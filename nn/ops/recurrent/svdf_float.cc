// SVDF of float32, also with int8 weights.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/recurrent/cell.h"
#include "intaglio/nn/ops/recurrent/float_product.h"
#include "intaglio/nn/ops/recurrent/operators.h"
#include "intaglio/nn/ops/recurrent/svdf.h"
#include "intaglio/nn/ops/support/checks.h"

namespace intaglio::nn {
namespace {

using namespace svdf;

class FloatSvdfRoutine final : public Routine {
 public:
  explicit FloatSvdfRoutine(FloatProduct product) : feature(std::move(product)) {}

  Status Run(const RunArguments& arguments) const override {
    ScratchDivider divider(static_cast<std::byte*>(arguments.scratch));
    auto* const newest = divider.Take<float>(static_cast<size_t>(sizes.results()));
    auto* const rest = divider.Take<std::byte>(0);
    auto* const state = static_cast<float*>(arguments.variables[kState]);
    std::fill_n(newest, sizes.results(), 0.0f);
    INTAGLIO_RETURN_IF_ERROR(feature.AddTo(arguments.context,
                                           static_cast<const float*>(arguments.inputs[kX]),
                                           sizes.batch, newest, sizes.filters, rest));
    Append(newest, sizes.results(), sizes.memory, state);
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    for (int b = 0; b < sizes.batch; ++b) {
      const float* const of_batch = state + ptrdiff_t{b} * sizes.filters * sizes.memory;
      float* const to = out + ptrdiff_t{b} * sizes.units();
      for (int unit = 0; unit < sizes.units(); ++unit) to[unit] = Unit(of_batch, unit);
      Apply(feature.floats(), activation, to, sizes.units());
    }
    return {};
  }

  float Unit(const float* state, int unit) const {
    float sum = 0;
    for (int r = 0; r < sizes.rank; ++r) {
      const ptrdiff_t at = (ptrdiff_t{unit} * sizes.rank + r) * sizes.memory;
      float dot = 0;
      for (int i = 0; i < sizes.memory; ++i) {
        dot += time[static_cast<size_t>(at + i)] * state[at + i];
      }
      sum += dot;
    }
    return bias == nullptr ? sum : sum + bias[unit];
  }

  size_t ScratchBytes() const {
    ScratchDivider divider(nullptr);
    divider.Take<float>(static_cast<size_t>(sizes.results()));
    return divider.bytes() + feature.ScratchBytes(sizes.batch);
  }

  SvdfSizes sizes;
  FloatProduct feature;
  CellActivation activation = CellActivation::kNone;
  std::vector<float> time;
  const float* bias = nullptr;
};

}  // namespace

Result<PreparedLayer> PrepareFloatSvdf(const LayerView& layer, const SvdfSizes& sizes,
                                       const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kState), Type::kFloat32));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kFloat32));
  const Svdf& op = layer.op<Svdf>();
  Result<FloatProduct> feature =
      FloatProduct::Make(layer, {kFeature}, op.asymmetric_quantize_inputs, options);
  if (!feature.ok()) return feature.status();
  const bool quantized = feature->quantized();
  Result<std::vector<float>> time =
      RealNumbersOf(layer, kTime, quantized ? Type::kInt8 : Type::kFloat32);
  if (!time.ok()) return time.status();
  auto routine = std::make_shared<FloatSvdfRoutine>(std::move(*feature));
  routine->sizes = sizes;
  routine->activation = op.activation;
  routine->time = std::move(*time);
  if (layer.has_input(kBias)) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kBias), Type::kFloat32));
    routine->bias = static_cast<const float*>(layer.input(kBias).data);
  }
  PreparedLayer prepared;
  if (quantized) prepared.kernel = options.kernel;
  prepared.macs = sizes.macs();
  prepared.constant_bytes =
      routine->feature.constant_bytes() + routine->time.size() * sizeof(float);
  prepared.scratch_bytes = routine->ScratchBytes();
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
