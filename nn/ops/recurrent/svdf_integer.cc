// SVDF of int8: with states of int16 in the bits of TFLite's kernel, with states of int8 in those
// of its kernel for microcontrollers.
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/gemm_plan.h"
#include "intaglio/nn/ops/recurrent/cell.h"
#include "intaglio/nn/ops/recurrent/operators.h"
#include "intaglio/nn/ops/recurrent/svdf.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/quantization.h"

namespace intaglio::nn {
namespace {

using namespace svdf;

// State: the type of the state and of the weights over time.
template <class State>
class IntegerSvdfRoutine final : public Routine {
 public:
  explicit IntegerSvdfRoutine(PackedMatrix packed) : feature(std::move(packed)) {}

  Status Run(const RunArguments& arguments) const override {
    auto* const newest = static_cast<State*>(arguments.scratch);
    auto* const state = static_cast<State*>(arguments.variables[kState]);
    INTAGLIO_RETURN_IF_ERROR(
        plan.Run(arguments.context, arguments.inputs[kX], newest, sizes.filters));
    // TFLite saturates before it adds the zero point, and what then leaves the type wraps.
    for (ptrdiff_t i = 0; i < sizes.results(); ++i) {
      newest[i] = static_cast<State>(newest[i] + state_zero_point);
    }
    Append(newest, sizes.results(), sizes.memory, state);
    auto* out = static_cast<int8_t*>(arguments.outputs[0]);
    for (int b = 0; b < sizes.batch; ++b) {
      const State* const of_batch = state + ptrdiff_t{b} * sizes.filters * sizes.memory;
      for (int unit = 0; unit < sizes.units(); ++unit) *out++ = Unit(of_batch, unit);
    }
    return {};
  }

  // Of the feature product.
  Status PlanProduct(const LayerView& layer) {
    pipeline.scaling = Scaling::kDoubleRounding;
    pipeline.mantissa = &of_feature.mantissa;
    pipeline.exponent = &of_feature.exponent;
    pipeline.output = TypeOf<State>;
    Result<BoundPipeline> made = BoundPipeline::Bind(
        feature, pipeline, Type::kInt8, input.zero_point, {.fit = false, .rows = sizes.batch});
    if (!made.ok()) return layer.Wrap(made.status());
    bound = std::move(*made);
    const ConstMatrix x{nullptr,      Type::kInt8,      sizes.batch,     sizes.inputs,
                        sizes.inputs, Order::kRowMajor, input.zero_point};
    const MutableMatrix dst{nullptr,       TypeOf<State>, sizes.batch,
                            sizes.filters, sizes.filters, Order::kRowMajor};
    Result<GemmPlan> planned = GemmPlan::Make(x, feature, dst, bound);
    if (!planned.ok()) return layer.Wrap(planned.status());
    plan = std::move(*planned);
    return {};
  }

  // What the sums over time, modulo 2^32, begin with: biases less the products of the state's zero
  // point.
  void SetStarts(const int32_t* bias) {
    for (int unit = 0; unit < sizes.units(); ++unit) {
      const State* const weights = time + unit * length();
      int32_t start = bias == nullptr ? 0 : bias[unit];
      for (ptrdiff_t i = 0; i < length(); ++i) {
        start = Scalar::Sub(start, weights[i] * state_zero_point);
      }
      starts.push_back(start);
    }
  }

  int8_t Unit(const State* state, int unit) const {
    const State* const weights = time + unit * length();
    const State* const results = state + unit * length();
    auto sum = static_cast<uint32_t>(starts[static_cast<size_t>(unit)]);
    for (ptrdiff_t i = 0; i < length(); ++i) {
      sum += static_cast<uint32_t>(weights[i] * results[i]);
    }
    return static_cast<int8_t>(AddAndClamp(Requantize(static_cast<int32_t>(sum), of_time),
                                           output.zero_point, RangeOf(Type::kInt8)));
  }

  // Of a unit's filters, which lie together.
  ptrdiff_t length() const { return ptrdiff_t{sizes.rank} * sizes.memory; }

  SvdfSizes sizes;
  PackedMatrix feature;
  QuantizedMultiplier of_feature;
  QuantizedMultiplier of_time;
  StandardPipeline pipeline;
  BoundPipeline bound;
  GemmPlan plan;
  Affine input;
  Affine output;
  int32_t state_zero_point = 0;
  const State* time = nullptr;
  std::vector<int32_t> starts;  // per unit
};

Status CheckTypes(const LayerView& layer, Type state) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kFeature), Type::kInt8));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kTime), state));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), Type::kInt8));
  if (layer.has_input(kBias)) {
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(kBias), Type::kInt32));
  }
  if (layer.op<Svdf>().activation == CellActivation::kRelu) return {};
  return layer.Unsupported("an activation other than RELU for int8");
}

// The quantizations, and the multipliers that follow from them.
template <class State>
Status SetArithmetic(const LayerView& layer, IntegerSvdfRoutine<State>& routine) {
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Result<float> feature = SymmetricScale(layer, layer.input(kFeature));
  if (!feature.ok()) return feature.status();
  const Result<float> time = SymmetricScale(layer, layer.input(kTime));
  if (!time.ok()) return time.status();
  const Result<Affine> state = AffineOf(layer, layer.input(kState));
  if (!state.ok()) return state.status();
  if (TypeOf<State> != Type::kInt8 && state->zero_point != 0) {
    return layer.Unsupported("the state has the zero point " + std::to_string(state->zero_point));
  }
  // Products and quotients of float32, as in TFLite.
  const Result<QuantizedMultiplier> of_feature =
      MakeMultiplier(layer, static_cast<double>(q->input.scale * *feature / state->scale));
  if (!of_feature.ok()) return of_feature.status();
  const Result<QuantizedMultiplier> of_time =
      MakeMultiplier(layer, static_cast<double>(state->scale * *time / q->output.scale));
  if (!of_time.ok()) return of_time.status();
  routine.of_feature = *of_feature;
  routine.of_time = *of_time;
  routine.input = q->input;
  routine.output = q->output;
  routine.state_zero_point = state->zero_point;
  return {};
}

template <class State>
Result<PreparedLayer> PrepareWithState(const LayerView& layer, const SvdfSizes& sizes,
                                       const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckTypes(layer, TypeOf<State>));
  INTAGLIO_RETURN_IF_ERROR(CheckDepth(layer, sizes.inputs));
  Result<PackedOf<PackedMatrix>> packed = PackCellWeights(layer, {kFeature}, options);
  if (!packed.ok()) return packed.status();
  auto routine = std::make_shared<IntegerSvdfRoutine<State>>(std::move(packed->form));
  INTAGLIO_RETURN_IF_ERROR(SetArithmetic(layer, *routine));
  routine->sizes = sizes;
  routine->time = static_cast<const State*>(layer.input(kTime).data);
  routine->SetStarts(layer.has_input(kBias) ? static_cast<const int32_t*>(layer.input(kBias).data)
                                            : nullptr);
  INTAGLIO_RETURN_IF_ERROR(routine->PlanProduct(layer));
  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.macs = sizes.macs();
  prepared.constant_bytes = packed->new_bytes + routine->bound.bytes();
  prepared.scratch_bytes = sizeof(State) * static_cast<size_t>(sizes.results());
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace

Result<PreparedLayer> PrepareIntegerSvdf(const LayerView& layer, const SvdfSizes& sizes,
                                         const LayerOptions& options) {
  const Tensor& state = layer.input(kState);
  if (state.type == Type::kInt8) return PrepareWithState<int8_t>(layer, sizes, options);
  if (state.type == Type::kInt16) return PrepareWithState<int16_t>(layer, sizes, options);
  return layer.Invalid("the state '" + state.name + "' is " + NameOf(state.type) +
                       ", not int8 or int16");
}

}  // namespace intaglio::nn
