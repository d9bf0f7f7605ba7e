// CONV_2D and FULLY_CONNECTED of quantized numbers with changing weights: the engine packs the
// weights during each product.
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "intaglio/nn/ops/linear/changing_weights.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/linear16.h"
#include "intaglio/nn/ops/linear/onnx.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/run_16x8.h"
#include "intaglio/nn/ops/linear/single_rounding.h"

namespace intaglio::nn {
namespace {

// The weights of a group.
ConstMatrix FilterOf(const ConvShape& shape, const RunArguments& arguments, Type type,
                     int32_t zero_point, int group) {
  const auto* const weights = static_cast<const std::byte*>(arguments.inputs[1]);
  const int channels = shape.group_outputs();
  return {weights + ptrdiff_t{group} * channels * shape.depth(),
          type,
          shape.depth(),
          channels,
          shape.depth(),
          Order::kColMajor,
          zero_point};
}

class ProductRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    for (int g = 0; g < shape.groups; ++g) {
      const int first = g * shape.group_outputs();
      if (linear.output_type == Type::kFloat32) {
        RealTile tile = MakeRealTile(real_output, linear, first);
        tile.SetBias(BiasOf(arguments), bias_type);
        INTAGLIO_RETURN_IF_ERROR(Multiply(arguments, g, tile.pipeline()));
        continue;
      }
      StandardPipeline pipeline = PipelineFrom(first);
      const auto* const bias = static_cast<const int32_t*>(BiasOf(arguments));
      pipeline.bias = bias == nullptr ? nullptr : bias + first;
      INTAGLIO_RETURN_IF_ERROR(Multiply(arguments, g, pipeline));
    }
    return {};
  }

  // Takes the multipliers that the numerics want.
  Status SetMultipliers(const LayerView& layer) {
    scaling = linear.numerics.scaling;
    if (scaling != Scaling::kReal64) {
      Result<Multipliers> made = MakeMultipliers(layer, linear);
      if (!made.ok()) return made.status();
      multipliers = std::move(*made);
      return {};
    }
    real = RealMultipliers(linear);
    std::optional<Multipliers> single =
        SingleRoundingMultipliers(real, linear.output.zero_point, linear.clamp);
    if (!single.has_value()) return {};
    multipliers = std::move(*single);
    scaling = Scaling::kSingleRounding;
    real.clear();
    return {};
  }

  ConvShape shape;
  LinearLayer linear;
  RealOutput real_output;  // of float32 outputs
  Type bias_type = Type::kInt32;

 private:
  template <class AnyPipeline>
  Status Multiply(const RunArguments& arguments, int g, const AnyPipeline& pipeline) const {
    return Gemm(arguments.context,
                shape.Input(arguments.inputs[0], linear.type, linear.input.zero_point, g),
                FilterOf(shape, arguments, linear.weight_type, linear.weight_zero_points[0], g),
                shape.Output(arguments.outputs[0], linear.output_type, arguments.output_stride, g),
                pipeline);
  }

  StandardPipeline PipelineFrom(int first) const {
    if (!real.empty()) return MakePipeline(linear, real);
    StandardPipeline pipeline = MakePipeline(linear, multipliers, first);
    pipeline.scaling = scaling;
    return pipeline;
  }

  Multipliers multipliers;
  Scaling scaling = Scaling::kDoubleRounding;
  std::vector<double> real;  // used if `multipliers` cannot replace them
};

class Routine16 final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    Linear16 with_bias = layer;
    INTAGLIO_RETURN_IF_ERROR(with_bias.SetBias(BiasOf(arguments)));
    return RunProduct16x8(arguments, shape, with_bias, [&](int g) {
      return Operand(FilterOf(shape, arguments, Type::kInt8, 0, g));
    });
  }

  ConvShape shape;
  Linear16 layer;
};

}  // namespace

Result<PreparedLayer> PrepareChangingProduct16x8(const LayerView& layer, const LayerOptions&,
                                                 const ConvShape& shape) {
  const Placeholders placeholders(layer);
  Result<Linear16> linear =
      CheckLinear16(placeholders.layer(), shape.activation, 0, shape.outputs, shape.depth());
  if (!linear.ok()) return linear.status();
  const Result<size_t> scratch =
      HalvesBytes(layer, shape.inputs(), int64_t{shape.rows()} * shape.group_outputs());
  if (!scratch.ok()) return scratch.status();
  auto routine = std::make_shared<Routine16>();
  routine->shape = shape;
  routine->layer = std::move(*linear);
  PreparedLayer prepared;
  prepared.macs = CountMacs({shape.rows(), shape.outputs}, shape.depth());
  prepared.scratch_bytes = *scratch;
  prepared.strides_output = true;
  prepared.routine = std::move(routine);
  return prepared;
}

Result<PreparedLayer> PrepareChangingProduct(const LayerView& layer, const LayerOptions& options,
                                             const ConvShape& shape) {
  const Placeholders placeholders(layer);
  auto routine = std::make_shared<ProductRoutine>();
  routine->shape = shape;
  Result<LinearLayer> linear =
      CheckLinear(placeholders.layer(), shape.activation, 0, shape.outputs, shape.depth());
  if (!linear.ok()) return linear.status();
  routine->linear = std::move(*linear);
  INTAGLIO_RETURN_IF_ERROR(CheckOneZeroPoint(layer, routine->linear.weight_zero_points));
  INTAGLIO_RETURN_IF_ERROR(routine->SetMultipliers(layer));
  if (routine->linear.output_type == Type::kFloat32) {
    Result<RealOutput> real = MakeRealOutput(placeholders.layer(), options, routine->linear,
                                             shape.activation, shape.outputs);
    if (!real.ok()) return real.status();
    routine->real_output = std::move(*real);
    if (layer.has_input(2)) routine->bias_type = layer.input(2).type;
  }
  PreparedLayer prepared;
  prepared.macs = CountMacs({shape.rows(), shape.outputs}, shape.depth());
  prepared.strides_output = true;
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
