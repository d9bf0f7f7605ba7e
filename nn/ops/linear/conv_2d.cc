// CONV_2D as one matrix product per group: the image as an im2col view, times the filters as a
// column-major matrix, which [O, KH, KW, C] filters are as they lie.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/gemm_plan.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/changing_weights.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/onednn.h"
#include "intaglio/nn/ops/linear/onnx.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/winograd.h"
#include "intaglio/nn/ops/linear/winograd_float.h"
#include "intaglio/nn/ops/linear/winograd_layers.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/window.h"
#include "intaglio/nn/routine/childnet.h"
#include "intaglio/nn/routine/routine_name.h"
#include "intaglio/pack/image_lines.h"

namespace intaglio::nn {
namespace {

Result<Window> WindowOf(const LayerView& layer, const Conv2D& op) {
  const Shape& filter = layer.input(1).shape;
  if (filter.size() != 4) {
    return layer.Invalid("the filter '" + layer.input(1).name + "' has the shape " +
                         ToString(filter) + "; [outputs, height, width, channels] is needed");
  }
  return PlaceWindow(layer, {filter[1], filter[2]}, op.stride, op.dilation, op.padding);
}

// Channels of the input / channels of the filter, which divides the outputs, too.
Result<int> GroupsOf(const LayerView& layer) {
  const int channels = layer.input(0).shape[3];
  const int filter_channels = layer.input(1).shape[3];
  const int outputs = layer.input(1).shape[0];
  if (filter_channels < 1 || channels % filter_channels != 0 || channels < 1 ||
      outputs % (channels / filter_channels) != 0) {
    return layer.Invalid("the filter " + ToString(layer.input(1).shape) +
                         " does not fit an input of " + std::to_string(channels) + " channels");
  }
  return channels / filter_channels;
}

class ConvRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* input = static_cast<const std::byte*>(arguments.inputs[0]);
    auto* output = static_cast<std::byte*>(arguments.outputs[0]);
    const auto size = static_cast<ptrdiff_t>(SizeOf(linear.output_type));
    for (const GemmPlan& plan : plans) {
      INTAGLIO_RETURN_IF_ERROR(
          plan.Run(arguments.context, input, output, arguments.output_stride / size));
      // A view knows its group's channels.
      if (shape.pointwise) input += shape.view.group_channels;
      output += shape.group_outputs() * size;
    }
    return {};
  }

  LinearLayer linear;
  Multipliers multipliers;
  std::vector<PackedMatrix> filters;  // per group, as all
  // Per group, one of them: integer outputs, or float32.
  std::vector<BoundPipeline> pipelines;
  std::vector<RealTile> real_tiles;
  RealOutput real;
  std::vector<GemmPlan> plans;
  ConvShape shape;
};

// The rows of a task, as a part of L2: a fourth and so on. By default the kernel's own choice.
constexpr int kPartsOfL2[] = {4, 16};
constexpr CandidateParameter kGemmParameters[] = {{"rows_part_of_l2", kPartsOfL2}};
constexpr const char* kGathered = "gemm-gathered";

Cutting CuttingIn(const std::string& routine) {
  const std::string_view name = CandidateIn(routine);
  return {.rows_part_of_l2 = ParameterIn(routine, kGemmParameters[0].name).value_or(0),
          .gathers_windows = name.substr(name.find('/') + 1) == kGathered};
}

bool IsPointwise(const WindowAxis& w) { return w.kernel == 1 && w.stride == 1 && w.in == w.out; }

// Plans the product of a group with any of its pipelines.
template <class AnyPipeline>
Result<GemmPlan> PlanProduct(const ConvRoutine& routine, size_t g, const AnyPipeline& pipeline) {
  const ConvShape& shape = routine.shape;
  const LinearLayer& linear = routine.linear;
  const int group =
      shape.pointwise ? 0 : static_cast<int>(g);  // where groups differ in their data alone
  const auto size = static_cast<ptrdiff_t>(SizeOf(linear.output_type));
  return GemmPlan::Make(
      shape.Input(nullptr, linear.type, linear.input.zero_point, group), routine.filters[g],
      shape.Output(nullptr, linear.output_type, shape.outputs * size, 0), pipeline);
}

Result<GemmPlan> PlanGroup(const LayerOptions& options, ConvRoutine& routine, size_t g) {
  const int first = static_cast<int>(g) * routine.shape.group_outputs();
  if (routine.linear.output_type == Type::kFloat32) {
    routine.real_tiles.push_back(MakeRealTile(routine.real, routine.linear, first));
    return PlanProduct(routine, g, routine.real_tiles.back().pipeline());
  }
  Result<BoundPipeline> bound = BoundPipeline::Bind(
      routine.filters[g], MakePipeline(routine.linear, routine.multipliers, first),
      routine.linear.type, routine.linear.input.zero_point,
      {.fit = options.fit,
       .rows = Rows(routine.shape.view),
       .weights_from_memory = options.cold,
       .keep_rows_per_thread = true,
       .cutting = CuttingIn(options.routine)});
  if (!bound.ok()) return bound.status();
  routine.pipelines.push_back(std::move(*bound));
  return PlanProduct(routine, g, routine.pipelines.back());
}

Status PlanProducts(const LayerView& layer, const LayerOptions& options, ConvRoutine& routine) {
  routine.real_tiles.reserve(routine.filters.size());  // plans point to them
  for (size_t g = 0; g < routine.filters.size(); ++g) {
    Result<GemmPlan> plan = PlanGroup(options, routine, g);
    if (!plan.ok()) return layer.Wrap(plan.status());
    routine.plans.push_back(std::move(*plan));
  }
  return {};
}

}  // namespace

ShapesResult InferConv2D(const LayerView& layer, const Conv2D& op) {
  const Result<Window> window = WindowOf(layer, op);
  if (!window.ok()) return window.status();
  const Result<int> groups = GroupsOf(layer);
  if (!groups.ok()) return groups.status();
  return std::vector<Shape>{
      {layer.input(0).shape[0], window->y.out, window->x.out, layer.input(1).shape[0]}};
}

Result<ConvShape> ShapeOfConv2D(const LayerView& layer, const Conv2D& op) {
  const Result<Window> window = WindowOf(layer, op);
  if (!window.ok()) return window.status();
  const Result<int> groups = GroupsOf(layer);
  if (!groups.ok()) return groups.status();
  const Result<Im2col> view = MakeView(layer, Type::kInt8, 0, *window);
  if (!view.ok()) return view.status();
  ConvShape shape;
  shape.view = *view;
  shape.view.group_channels = layer.input(1).shape[3];
  shape.pointwise = IsPointwise(window->y) && IsPointwise(window->x);
  shape.groups = *groups;
  shape.outputs = layer.input(1).shape[0];
  shape.activation = op.activation;
  return shape;
}

Result<ConvShape> ShapeOfConv2D(const LayerView& layer) {
  return ShapeOfConv2D(layer, layer.op<Conv2D>());
}

Operand ConvShape::Input(const void* data, Type type, int32_t zero_point, int group) const {
  const int first = group * view.group_channels;
  if (pointwise) {
    return ConstMatrix{static_cast<const std::byte*>(data) + first,
                       type,
                       rows(),
                       view.group_channels,
                       view.channels,
                       Order::kRowMajor,
                       zero_point};
  }
  Im2col source = view;
  source.data = data;
  source.type = type;
  source.zero_point = zero_point;
  source.first_channel = first;
  return source;
}

MutableMatrix ConvShape::Output(void* data, Type type, ptrdiff_t stride, int group) const {
  const auto size = static_cast<ptrdiff_t>(SizeOf(type));
  return {static_cast<std::byte*>(data) + group * group_outputs() * size,
          type,
          rows(),
          group_outputs(),
          stride / size,
          Order::kRowMajor};
}

namespace {

Result<PreparedLayer> PrepareBytes(const LayerView& layer, const LayerOptions& options,
                                   const ConvShape& shape) {
  auto routine = std::make_shared<ConvRoutine>();
  routine->shape = shape;
  Result<LinearLayer> linear =
      CheckLinear(layer, shape.activation, 0, shape.outputs, shape.depth());
  if (!linear.ok()) return linear.status();
  routine->linear = std::move(*linear);
  Result<Multipliers> multipliers = MakeMultipliers(layer, routine->linear);
  if (!multipliers.ok()) return multipliers.status();
  routine->multipliers = std::move(*multipliers);
  if (routine->linear.output_type == Type::kFloat32) {
    Result<RealOutput> real =
        MakeRealOutput(layer, options, routine->linear, shape.activation, shape.outputs);
    if (!real.ok()) return real.status();
    routine->real = std::move(*real);
  }
  const bool reads_windows = WindowsPay(shape.view) && !CuttingIn(options.routine).gathers_windows;
  const int kernel_height = reads_windows ? shape.view.kernel_height : 1;
  auto filters =
      PackWeights(layer, routine->linear, options, shape.groups, shape.depth(), kernel_height);
  if (!filters.ok()) return filters.status();
  routine->filters = std::move(filters->form);
  INTAGLIO_RETURN_IF_ERROR(PlanProducts(layer, options, *routine));

  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.output().shape, shape.depth());
  prepared.kernel = options.kernel;
  prepared.strides_output = true;
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.constant_bytes = filters->new_bytes;
  for (const BoundPipeline& bound : routine->pipelines) prepared.constant_bytes += bound.bytes();
  prepared.routine = std::move(routine);
  return prepared;
}

Result<PreparedLayer> PrepareHybrid(const LayerView& layer, const LayerOptions& options,
                                    const ConvShape& shape) {
  // TFLite takes scales that are all the same for one.
  const std::vector<float>& scales = layer.input(1).quantization.scales;
  const bool per_channel =
      std::adjacent_find(scales.begin(), scales.end(), std::not_equal_to<>()) != scales.end();
  return PrepareProductHybrid(layer, options, shape, per_channel);
}

Result<ConvShape> ShapeOfLayer(const LayerView& layer) { return ShapeOfConv2D(layer); }

ShapesResult InferLayer(const LayerView& layer) { return InferConv2D(layer, layer.op<Conv2D>()); }

// Where windows are gathered anyway, this would be the same routine under another name.
const char* NeedsOverlaps(const LayerView& layer, const LayerOptions&) {
  const Result<ConvShape> shape = ShapeOfConv2D(layer);
  const bool overlap = shape.ok() && !shape->pointwise && WindowsPay(shape->view);
  return overlap ? nullptr : "its windows are gathered anyway";
}

template <auto kPrepare>
constexpr auto kShaped = PrepareShaped<ShapeOfLayer, kPrepare>;

constexpr Candidate kConv2DWays[] = {
    {.algorithm = "winograd",
     .prepare = kShaped<PrepareWinograd>,
     .types = kEightBit,
     .why_not = FirstReason<NeedsConstants, WhyNotWinogradLayer>,
     .parameters = kWinogradParameters,
     .extra_bytes = BoundMoreWinograd},
    {.algorithm = "gemm",
     .prepare = kShaped<PrepareBytes>,
     .types = kEightBit,
     .why_not = NeedsConstants,
     .parameters = kGemmParameters},
    {kGathered, kShaped<PrepareBytes>, kEightBit, FirstReason<NeedsConstants, NeedsOverlaps>},
    {"gemm-unpacked", kShaped<PrepareChangingProduct>, kEightBit},
    {"gemm", kShaped<PrepareProduct16x8>, kInt16, NeedsConstants},
    {"gemm-unpacked", kShaped<PrepareChangingProduct16x8>, kInt16},
    HybridCandidate<NeedsConstants>("gemm", kShaped<PrepareHybrid>),
    HybridCandidate<>("gemm-unpacked", PrepareUnpacked<kShaped<PrepareHybrid>>),
    {.algorithm = "gemm",
     .prepare = kShaped<PrepareProductFloat>,
     .types = kFloat,
     .why_not = FirstReason<RefusesInt8Weights<1>, NeedsConstants>,
     .parameters = kFloatProductParameters},
    {.algorithm = "winograd",
     .prepare = kShaped<PrepareWinogradFloat>,
     .types = kFloat,
     .why_not = FirstReason<RefusesInt8Weights<1>, NeedsConstants, WhyNotWinogradFloat>,
     .parameters = kWinogradFloatParameters,
     .extra_bytes = BoundWinogradFloat},
    ChildnetCandidate<WinogradLayers>(
        "winograd-layers", kFloat,
        FirstReason<RefusesInt8Weights<1>, NeedsConstants, WhyNotWinogradFloat>,
        BoundWinogradFloat),
    {.algorithm = "onednn",
     .prepare = kShaped<PrepareOneDnn>,
     .types = kFloat,
     .why_not = FirstReason<RefusesInt8Weights<1>, NeedsConstants, WhyNotOneDnnLayer<ShapeOfLayer>>,
     .extra_bytes = BoundOneDnn},
    FloatCandidate<>("gemm-unpacked", PrepareUnpacked<kShaped<PrepareProductFloat>>)};

MatrixCounts MatricesOf(const LayerView& layer, const Tensor& constant) {
  const Shape& shape = constant.shape;
  if (shape.size() != 4) return RowsAsChannels(layer, constant);
  const int64_t groups = std::clamp(layer.input(0).shape[3] / shape[3], 1, shape[0]);
  return {groups, shape[0] / groups + 1, CountOrMax(constant) / shape[0]};
}

}  // namespace

constinit const OperatorRow Conv2D::kRow = {
    .name = "CONV_2D",
    .min_inputs = 2,
    .max_inputs = 3,
    .types = kQuantized | kFloat,
    .infer = InferLayer,
    .candidates = kConv2DWays,
    .remark = "weights int8 with int16, also int8 with float32; grouped and dilated too",
    .parameters = kWeightsAndBias,
    .numerics = NumericsOfConvolution,
    .packing = {.matrices = MatricesOf, .packs_activations = true},
    .list_bytes = BoundWinograd};

}  // namespace intaglio::nn
