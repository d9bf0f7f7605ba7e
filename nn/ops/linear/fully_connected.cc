// FULLY_CONNECTED: the product of x, one row per sample, and the weights.
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/gemm_plan.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/changing_weights.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/dense_as_conv.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/onednn.h"
#include "intaglio/nn/ops/linear/onnx.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/single_rounding.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/childnet.h"

namespace intaglio::nn {
namespace {

// x as a matrix: as many columns as the weights.
struct Sizes {
  int rows = 0;
  int depth = 0;
  int outputs = 0;
};

Result<Sizes> SizesOf(const LayerView& layer) {
  const Shape& shape = layer.input(0).shape;
  const Shape& weights = layer.input(1).shape;
  if (weights.size() != 2 || weights[1] < 1) {
    return layer.Invalid("the weights '" + layer.input(1).name + "' have the shape " +
                         ToString(weights) + "; [outputs, inputs] is needed");
  }
  const Result<int64_t> count = CountElements(shape);
  if (!count.ok()) return layer.Wrap(count.status());
  if (*count % weights[1] != 0 || *count / weights[1] > std::numeric_limits<int>::max()) {
    return layer.Invalid("an input of the shape " + ToString(shape) +
                         " does not fit weights of the shape " + ToString(weights));
  }
  return Sizes{static_cast<int>(*count / weights[1]), weights[1], weights[0]};
}

class FullyConnectedRoutine final : public Routine {
 public:
  explicit FullyConnectedRoutine(PackedMatrix packed) : weights(std::move(packed)) {}

  Status Run(const RunArguments& arguments) const override {
    const void* input = arguments.inputs[0];
    void* output = arguments.outputs[0];
    const auto size = static_cast<ptrdiff_t>(SizeOf(linear.output_type));
    return integers.has_value()
               ? plan.Run(arguments.context, input, output, arguments.output_stride / size)
               : Gemm(arguments.context, Input(input), weights,
                      Output(output, arguments.output_stride), pipeline);
  }

  // Finds the integer multipliers: those of the numerics or, if these want float64 multipliers,
  // others that give the same bits.
  Status FindIntegers(const LayerView& layer) {
    if (linear.numerics.scaling == Scaling::kReal64) {
      integers = SingleRoundingMultipliers(real, linear.output.zero_point, linear.clamp);
      return {};
    }
    Result<Multipliers> made = MakeMultipliers(layer, linear);
    if (!made.ok()) return made.status();
    integers = std::move(*made);
    return {};
  }

  // Plans the product by integer multipliers, where there are any.
  Status PlanProduct(const LayerView& layer, const LayerOptions& options) {
    INTAGLIO_RETURN_IF_ERROR(FindIntegers(layer));
    if (!integers.has_value()) return {};
    if (linear.output_type == Type::kFloat32) return PlanReal(layer, options);
    pipeline = MakePipeline(linear, *integers, 0);
    if (pipeline.scaling == Scaling::kReal64) pipeline.scaling = Scaling::kSingleRounding;
    // Such layers have too few rows for a fit to pay.
    Result<BoundPipeline> made =
        BoundPipeline::Bind(weights, pipeline, linear.type, linear.input.zero_point,
                            {.fit = false,
                             .rows = sizes.rows,
                             .weights_from_memory = options.cold,
                             .keep_rows_per_thread = true});
    if (!made.ok()) return layer.Wrap(made.status());
    bound = std::move(*made);
    return SetPlan(layer, bound);
  }

  // Plans the product whose output is float32.
  Status PlanReal(const LayerView& layer, const LayerOptions& options) {
    Result<RealOutput> made = MakeRealOutput(layer, options, linear,
                                             layer.op<FullyConnected>().activation, sizes.outputs);
    if (!made.ok()) return made.status();
    real_output = std::move(*made);
    real_tile = MakeRealTile(real_output, linear, 0);
    return SetPlan(layer, real_tile.pipeline());
  }

  template <class AnyPipeline>
  Status SetPlan(const LayerView& layer, const AnyPipeline& finish) {
    const auto size = static_cast<ptrdiff_t>(SizeOf(linear.output_type));
    Result<GemmPlan> planned =
        GemmPlan::Make(Input(nullptr), weights, Output(nullptr, sizes.outputs * size), finish);
    if (!planned.ok()) return layer.Wrap(planned.status());
    plan = std::move(*planned);
    return {};
  }

  ConstMatrix Input(const void* data) const {
    return {data,
            linear.type,
            sizes.rows,
            sizes.depth,
            sizes.depth,
            Order::kRowMajor,
            linear.input.zero_point};
  }
  MutableMatrix Output(void* data, ptrdiff_t stride) const {
    const auto size = static_cast<ptrdiff_t>(SizeOf(linear.output_type));
    return {data, linear.output_type, sizes.rows, sizes.outputs, stride / size, Order::kRowMajor};
  }

  Sizes sizes;
  LinearLayer linear;
  std::vector<double> real;             // the multipliers, in float64
  std::optional<Multipliers> integers;  // in their place, or those of ONNX's rules
  RealOutput real_output;               // of float32 outputs
  RealTile real_tile;
  StandardPipeline pipeline;
  BoundPipeline bound;  // where there are any
  GemmPlan plan;        // by them
  PackedMatrix weights;
};

ShapesResult InferFullyConnected(const LayerView& layer) {
  const Result<Sizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  if (!layer.op<FullyConnected>().keep_num_dims) {
    return std::vector<Shape>{{sizes->rows, sizes->outputs}};
  }
  Shape shape = layer.input(0).shape;
  if (shape.empty() || shape.back() != sizes->depth) {
    return layer.Invalid("an input of the shape " + ToString(shape) + " cannot keep it: weights " +
                         ToString(layer.input(1).shape) + " need " + std::to_string(sizes->depth) +
                         " as its last dimension");
  }
  shape.back() = sizes->outputs;
  return std::vector<Shape>{shape};
}

}  // namespace

Result<ConvShape> ShapeOfFullyConnected(const LayerView& layer) {
  const Result<Sizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  ConvShape shape;
  shape.view.batch = sizes->rows;
  shape.view.channels = shape.view.group_channels = sizes->depth;
  shape.view.height = shape.view.width = 1;
  shape.view.out_height = shape.view.out_width = 1;
  shape.pointwise = true;
  shape.outputs = sizes->outputs;
  shape.activation = layer.op<FullyConnected>().activation;
  return shape;
}

namespace {

// TFLite's reference kernel requantizes by a float64 multiplier, unlike in convolutions.
Numerics NumericsOfFullyConnected(const LayerView& layer) {
  return {.scaling = Scaling::kReal64,
          .checks_bias_scale = true,
          .accumulator = AccumulatorByBias(layer)};
}

const char* NeedsReal64(const LayerView& layer, const LayerOptions&) {
  return layer.numerics().scaling == Scaling::kReal64 ? nullptr : "the scaling is by integers";
}

template <bool kByIntegers>
Result<PreparedLayer> PrepareBytes(const LayerView& layer, const LayerOptions& options) {
  const Result<Sizes> sizes = SizesOf(layer);
  if (!sizes.ok()) return sizes.status();
  Result<LinearLayer> linear =
      CheckLinear(layer, layer.op<FullyConnected>().activation, 0, sizes->outputs, sizes->depth);
  if (!linear.ok()) return linear.status();
  auto packed = PackWeights(layer, *linear, options, 1, sizes->depth);
  if (!packed.ok()) return packed.status();

  auto routine = std::make_shared<FullyConnectedRoutine>(std::move(packed->form.front()));
  routine->sizes = *sizes;
  routine->linear = std::move(*linear);
  routine->real = RealMultipliers(routine->linear);
  routine->pipeline = MakePipeline(routine->linear, routine->real);
  if constexpr (kByIntegers) {
    INTAGLIO_RETURN_IF_ERROR(routine->PlanProduct(layer, options));
  }

  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.strides_output = true;
  prepared.macs = CountMacs({sizes->rows, sizes->outputs}, sizes->depth);
  prepared.constant_bytes = packed->new_bytes + routine->bound.bytes();
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.routine = std::move(routine);
  return prepared;
}

Result<PreparedLayer> PrepareHybrid(const LayerView& layer, const LayerOptions& options,
                                    const ConvShape& shape) {
  return PrepareProductHybrid(layer, options, shape, layer.op<FullyConnected>().asymmetric_inputs);
}

template <auto kPrepare>
constexpr auto kShaped = PrepareShaped<ShapeOfFullyConnected, kPrepare>;

constexpr Candidate kFullyConnectedWays[] = {
    {"gemm", PrepareBytes<true>, kEightBit, NeedsConstants},
    {"gemm-real64", PrepareBytes<false>, kEightBit, FirstReason<NeedsConstants, NeedsReal64>},
    {"gemm-unpacked", kShaped<PrepareChangingProduct>, kEightBit},
    ChildnetCandidate<DenseAsConv>("conv", kEightBit, NeedsConstants),
    {"gemm", kShaped<PrepareProduct16x8>, kInt16, NeedsConstants},
    {"gemm-unpacked", kShaped<PrepareChangingProduct16x8>, kInt16},
    HybridCandidate<NeedsConstants>("gemm", kShaped<PrepareHybrid>),
    HybridCandidate<>("gemm-unpacked", PrepareUnpacked<kShaped<PrepareHybrid>>),
    {.algorithm = "gemm",
     .prepare = kShaped<PrepareProductFloat>,
     .types = kFloat,
     .why_not = FirstReason<RefusesInt8Weights<1>, NeedsConstants>,
     .parameters = kFloatProductParameters},
    ChildnetCandidate<DenseAsConv>("conv", kFloat,
                                   FirstReason<RefusesInt8Weights<1>, NeedsConstants>),
    {.algorithm = "onednn",
     .prepare = kShaped<PrepareOneDnn>,
     .types = kFloat,
     .why_not = FirstReason<RefusesInt8Weights<1>, NeedsConstants,
                            WhyNotOneDnnLayer<ShapeOfFullyConnected>>,
     .extra_bytes = BoundOneDnn},
    FloatCandidate<>("gemm-unpacked", PrepareUnpacked<kShaped<PrepareProductFloat>>)};

}  // namespace

constinit const OperatorRow FullyConnected::kRow = {
    .name = "FULLY_CONNECTED",
    .min_inputs = 2,
    .max_inputs = 3,
    .types = kQuantized | kFloat,
    .infer = InferFullyConnected,
    .candidates = kFullyConnectedWays,
    .remark = "weights int8 with int16, also int8 with float32",
    .parameters = kWeightsAndBias,
    .numerics = NumericsOfFullyConnected,
    .packing = {.matrices = RowsAsChannels, .packs_activations = true}};

}  // namespace intaglio::nn
