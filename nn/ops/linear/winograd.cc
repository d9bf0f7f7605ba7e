#include "intaglio/nn/ops/linear/winograd.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "intaglio/gemm/winograd.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/routine/routine_name.h"

namespace intaglio::nn {
namespace {

class WinogradRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    Im2col source = view;
    source.data = arguments.inputs[0];
    const auto size = static_cast<ptrdiff_t>(SizeOf(linear.output_type));
    return Winograd(arguments.context, source, filters, arguments.outputs[0], pipeline,
                    {.dst_stride = arguments.output_stride / size, .most_tiles = most_tiles});
  }

  LinearLayer linear;
  Multipliers multipliers;
  PackedWinograd filters;
  BoundPipeline pipeline;
  Im2col view;
  int most_tiles = 0;
};

ConstMatrix FiltersOf(const LayerView& layer) {
  const Tensor& weights = layer.input(1);
  const Shape& shape = weights.shape;
  const int depth = shape[1] * shape[2] * shape[3];
  const std::vector<int32_t>& zeros = weights.quantization.zero_points;
  return {weights.data,
          weights.type,
          depth,
          shape[0],
          depth,
          Order::kColMajor,
          zeros.empty() ? 0 : zeros[0]};
}

PackOptions OptionsOf(const LayerView& layer, const LayerOptions& options) {
  LinearLayer linear;
  linear.weight_zero_points = layer.input(1).quantization.zero_points;
  const int outputs = layer.input(1).shape[0];
  // Other numbers of zero points are an error, which is found later.
  if (linear.weight_zero_points.size() != static_cast<size_t>(outputs)) {
    linear.weight_zero_points.resize(std::min<size_t>(1, linear.weight_zero_points.size()));
  }
  return MakePackOptions(linear, options, 0, outputs);
}

WinogradWeights WeightsOf(const LayerOptions& options) {
  const std::optional<int> kept = ParameterIn(options.routine, kWinogradParameters[1].name);
  if (!kept) return options.winograd_weights;
  return *kept == 0 ? WinogradWeights::kPerCall : WinogradWeights::kKept;
}

int64_t MostBytes(const LayerView& layer, WinogradWeights weights) {
  const Shape& shape = layer.input(1).shape;
  const bool may_be = shape.size() == 4 &&
                      (layer.input(0).type == Type::kInt8 || layer.input(0).type == Type::kUInt8);
  if (!may_be) return 0;
  return static_cast<int64_t>(MostWinogradBytes({shape[1], shape[2], weights}, shape[3], shape[0]));
}

Result<PackedOf<PackedWinograd>> PackFilters(const LayerView& layer, const LayerOptions& options,
                                             const LinearLayer& linear) {
  using Form = std::shared_ptr<const PackedWinograd>;
  const ConstMatrix filters = FiltersOf(layer);
  const Shape& shape = layer.input(1).shape;
  const WinogradFilters form{shape[1], shape[2], WeightsOf(options)};
  const auto pack = [&]() -> Result<Form> {
    Result<PackedWinograd> packed =
        PackedWinograd::Pack(filters, MakePackOptions(linear, options, 0, filters.cols), form);
    if (!packed.ok()) return layer.Wrap(packed.status());
    return Form(std::make_shared<PackedWinograd>(std::move(*packed)));
  };
  PackedOnce::Key key = {KeyOf(filters.data),
                         static_cast<int64_t>(filters.type),
                         filters.rows,
                         filters.cols,
                         form.kernel_height,
                         form.kernel_width,
                         static_cast<int64_t>(form.weights)};
  key.insert(key.end(), linear.weight_zero_points.begin(), linear.weight_zero_points.end());
  bool is_new = false;
  const Result<Form> packed = PackOnce<PackedWinograd>(options, key, pack, is_new);
  if (!packed.ok()) return packed.status();
  return PackedOf<PackedWinograd>{**packed, is_new ? (*packed)->bytes() : 0};
}

}  // namespace

const char* WhyNotWinogradLayer(const LayerView& layer, const LayerOptions& options) {
  const Result<ConvShape> shape = ShapeOfConv2D(layer);
  if (!shape.ok()) return "the layer has an error";
  if (layer.output().type == Type::kFloat32) return "the output is float32";
  const char* const why_not =
      WhyNotWinograd(shape->view, FiltersOf(layer), OptionsOf(layer, options));
  if (why_not != nullptr) return why_not;
  const bool is_named = !options.routine.empty();
  if (is_named || WinogradPays(shape->view, shape->outputs, options.kernel, WeightsOf(options))) {
    return nullptr;
  }
  return "it is not known to be faster there; its name is asked for";
}

Result<PreparedLayer> PrepareWinograd(const LayerView& layer, const LayerOptions& options,
                                      const ConvShape& shape) {
  auto routine = std::make_shared<WinogradRoutine>();
  Result<LinearLayer> linear =
      CheckLinear(layer, shape.activation, 0, shape.outputs, shape.depth());
  if (!linear.ok()) return linear.status();
  routine->linear = std::move(*linear);
  Result<Multipliers> multipliers = MakeMultipliers(layer, routine->linear);
  if (!multipliers.ok()) return multipliers.status();
  routine->multipliers = std::move(*multipliers);
  routine->most_tiles =
      ParameterIn(options.routine, kWinogradParameters[0].name).value_or(routine->most_tiles);
  routine->view = shape.view;
  routine->view.type = routine->linear.type;
  routine->view.zero_point = routine->linear.input.zero_point;
  auto filters = PackFilters(layer, options, routine->linear);
  if (!filters.ok()) return filters.status();
  routine->filters = std::move(filters->form);
  Result<BoundPipeline> bound = BoundPipeline::Bind(
      routine->filters, MakePipeline(routine->linear, routine->multipliers, 0), routine->view.type,
      routine->view.zero_point, {.fit = options.fit, .rows = Rows(routine->view)});
  if (!bound.ok()) return layer.Wrap(bound.status());
  routine->pipeline = std::move(*bound);

  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.output().shape, shape.depth());
  prepared.kernel = options.kernel;
  prepared.strides_output = true;
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.constant_bytes = filters->new_bytes + routine->pipeline.bytes();
  prepared.routine = std::move(routine);
  return prepared;
}

int64_t BoundWinograd(const LayerView& layer) { return MostBytes(layer, WinogradWeights::kBySize); }

int64_t BoundMoreWinograd(const LayerView& layer, const LayerOptions& options) {
  return std::max<int64_t>(0, MostBytes(layer, WeightsOf(options)) - BoundWinograd(layer));
}

}  // namespace intaglio::nn
