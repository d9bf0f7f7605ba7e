// CONV_2D as one matrix product per group: the image as an im2col view, times the filters as a
// column-major matrix, which [O, KH, KW, C] filters are as they lie.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/ops/fitting.h"
#include "intaglio/nn/ops/linear.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/ops/window.h"

namespace intaglio::nn {
namespace {

Result<Window> WindowOf(const LayerView& layer) {
  const Conv2D& op = layer.op<Conv2D>();
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
    for (size_t g = 0; g < filters.size(); ++g) {
      const int first = static_cast<int>(g) * group_outputs;
      MutableMatrix dst{static_cast<std::byte*>(arguments.outputs[0]) + first,
                        linear.type,
                        Rows(view),
                        group_outputs,
                        outputs,
                        Order::kRowMajor};
      INTAGLIO_RETURN_IF_ERROR(
          Gemm(arguments.context, Source(arguments.inputs[0], g), filters[g], dst, pipelines[g]));
    }
    return {};
  }

  LinearLayer linear;
  Multipliers multipliers;
  std::vector<BoundPipeline> pipelines;  // per group, as the filters
  std::vector<PackedMatrix> filters;
  Im2col view;
  bool pointwise = false;  // 1x1, no stride: the image is the matrix
  int outputs = 0;
  int group_outputs = 0;

 private:
  Operand Source(const void* data, size_t group) const {
    const int first = static_cast<int>(group) * view.group_channels;
    if (pointwise) {
      return ConstMatrix{static_cast<const std::byte*>(data) + first,
                         linear.type,
                         Rows(view),
                         view.group_channels,
                         view.channels,
                         Order::kRowMajor,
                         view.zero_point};
    }
    Im2col source = view;
    source.data = data;
    source.first_channel = first;
    return source;
  }
};

bool IsPointwise(const WindowAxis& w) { return w.kernel == 1 && w.stride == 1 && w.in == w.out; }

Status PackFilters(const LayerView& layer, const LayerOptions& options, int depth,
                   ConvRoutine& routine) {
  const Tensor& filter = layer.input(1);
  const size_t groups = static_cast<size_t>(routine.outputs / std::max(1, routine.group_outputs));
  for (size_t g = 0; g < groups; ++g) {
    const int first = static_cast<int>(g) * routine.group_outputs;
    const ConstMatrix matrix{static_cast<const std::byte*>(filter.data) + ptrdiff_t{first} * depth,
                             filter.type,
                             depth,
                             routine.group_outputs,
                             depth,
                             Order::kColMajor,
                             routine.linear.weight_zero_points[0]};
    Result<PackedMatrix> packed = Prepack(
        Side::kRhs, matrix, MakePackOptions(routine.linear, options, first, routine.group_outputs));
    if (!packed.ok()) return layer.Wrap(packed.status());
    Result<BoundPipeline> bound = BoundPipeline::Bind(
        *packed, MakePipeline(routine.linear, routine.multipliers, first), routine.linear.type,
        routine.linear.input.zero_point, FitFor(routine.view));
    if (!bound.ok()) return layer.Wrap(bound.status());
    routine.filters.push_back(std::move(*packed));
    routine.pipelines.push_back(std::move(*bound));
  }
  return {};
}

}  // namespace

ShapesResult InferConv2D(const LayerView& layer) {
  const Result<Window> window = WindowOf(layer);
  if (!window.ok()) return window.status();
  const Result<int> groups = GroupsOf(layer);
  if (!groups.ok()) return groups.status();
  return std::vector<Shape>{
      {layer.input(0).shape[0], window->y.out, window->x.out, layer.input(1).shape[0]}};
}

Result<PreparedLayer> PrepareConv2D(const LayerView& layer, const LayerOptions& options) {
  const Result<Window> window = WindowOf(layer);
  if (!window.ok()) return window.status();
  const Result<int> groups = GroupsOf(layer);
  if (!groups.ok()) return groups.status();
  const Shape& filter = layer.input(1).shape;
  const int64_t depth = *CountElements({filter[1], filter[2], filter[3]});

  auto routine = std::make_shared<ConvRoutine>();
  Result<LinearLayer> linear =
      CheckLinear(layer, layer.op<Conv2D>().activation, 0, filter[0], depth);
  if (!linear.ok()) return linear.status();
  routine->linear = std::move(*linear);
  Result<Multipliers> multipliers = MakeMultipliers(
      layer, RealMultipliers(routine->linear, routine->linear.type == Type::kUInt8));
  if (!multipliers.ok()) return multipliers.status();
  routine->multipliers = std::move(*multipliers);

  Result<Im2col> view = MakeView(layer, routine->linear, *window);
  if (!view.ok()) return view.status();
  routine->view = *view;
  routine->view.group_channels = filter[3];
  routine->pointwise = IsPointwise(window->y) && IsPointwise(window->x);
  routine->outputs = filter[0];
  routine->group_outputs = filter[0] / *groups;
  INTAGLIO_RETURN_IF_ERROR(PackFilters(layer, options, static_cast<int>(depth), *routine));

  PreparedLayer prepared;
  prepared.name = RoutineName(routine->linear.type, "gemm");
  prepared.macs = CountMacs(layer.output().shape, depth);
  prepared.kernel = options.kernel;
  for (size_t g = 0; g < routine->filters.size(); ++g) {
    prepared.constant_bytes += routine->filters[g].bytes() + routine->pipelines[g].bytes();
  }
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
