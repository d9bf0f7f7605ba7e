// CONV_2D and FULLY_CONNECTED of 8 bits whose weights change: the engine packs them on the way.
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "intaglio/nn/ops/changing_weights.h"
#include "intaglio/nn/ops/products.h"
#include "intaglio/nn/ops/single_rounding.h"

namespace intaglio::nn {
namespace {

class ProductRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* const weights = static_cast<const std::byte*>(arguments.inputs[1]);
    const auto* const bias =
        arguments.inputs.size() < 3 ? nullptr : static_cast<const int32_t*>(arguments.inputs[2]);
    for (int g = 0; g < shape.groups; ++g) {
      const int first = g * shape.group_outputs();
      StandardPipeline pipeline = PipelineFrom(first);
      pipeline.bias = bias == nullptr ? nullptr : bias + first;
      const ConstMatrix filter{weights + ptrdiff_t{first} * shape.depth(),
                               linear.type,
                               shape.depth(),
                               shape.group_outputs(),
                               shape.depth(),
                               Order::kColMajor,
                               linear.weight_zero_points[0]};
      INTAGLIO_RETURN_IF_ERROR(Gemm(
          arguments.context,
          shape.Input(arguments.inputs[0], linear.type, linear.input.zero_point, g), filter,
          shape.Output(arguments.outputs[0], linear.type, arguments.output_stride, g), pipeline));
    }
    return {};
  }

  // As convolutions have it, or, from real multipliers, as FULLY_CONNECTED does.
  Status SetMultipliers(const LayerView& layer, bool real64) {
    if (!real64) {
      Result<Multipliers> made =
          MakeMultipliers(layer, RealMultipliers(linear, linear.type == Type::kUInt8));
      if (!made.ok()) return made.status();
      multipliers = std::move(*made);
      return {};
    }
    real = RealMultipliers(linear, false);
    std::optional<Multipliers> single =
        SingleRoundingMultipliers(real, linear.output.zero_point, linear.clamp);
    if (!single.has_value()) return {};
    multipliers = std::move(*single);
    scaling = Scaling::kSingleRounding;
    real.clear();
    return {};
  }

  ProductShape shape;
  LinearLayer linear;

 private:
  StandardPipeline PipelineFrom(int first) const {
    if (!real.empty()) return MakePipeline(linear, real);
    StandardPipeline pipeline = MakePipeline(linear, multipliers, first);
    pipeline.scaling = scaling;
    return pipeline;
  }

  Multipliers multipliers;
  Scaling scaling = Scaling::kDoubleRounding;
  std::vector<double> real;  // where there are no such multipliers
};

}  // namespace

Result<PreparedLayer> PrepareChangingProduct(const LayerView& layer, const ProductShape& shape) {
  const Placeholders placeholders(layer);
  auto routine = std::make_shared<ProductRoutine>();
  routine->shape = shape;
  Result<LinearLayer> linear =
      CheckLinear(placeholders.layer(), shape.activation, 0, shape.outputs, shape.depth());
  if (!linear.ok()) return linear.status();
  routine->linear = std::move(*linear);
  for (const int32_t zero_point : routine->linear.weight_zero_points) {
    if (zero_point == routine->linear.weight_zero_points[0]) continue;
    return layer.Unsupported("weights that change have zero points that differ per channel");
  }
  INTAGLIO_RETURN_IF_ERROR(
      routine->SetMultipliers(layer, std::holds_alternative<FullyConnected>(layer.layer().op)));
  PreparedLayer prepared;
  prepared.name = RoutineName(routine->linear.type, "gemm");
  prepared.macs = CountMacs({shape.rows(), shape.outputs}, shape.depth());
  prepared.strides_output = true;
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
