// CONV_2D and FULLY_CONNECTED: one product per group, over weights packed on the device.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/cuda/gemm.h"
#include "intaglio/nn/cuda/layers.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/single_rounding.h"

namespace intaglio::nn::cuda {
namespace {

// A pipeline's arrays on the device, of all channels of a layer.
struct Arrays {
  std::shared_ptr<const int32_t> bias, mantissa, exponent;
  std::shared_ptr<const double> real;

  // `host`, over the channels from `first`. A single multiplier stays where it is.
  StandardPipeline Of(StandardPipeline host, int first) const {
    if (bias != nullptr) host.bias = bias.get() + first;
    if (!host.per_channel) return host;
    if (mantissa != nullptr) host.mantissa = mantissa.get() + first;
    if (exponent != nullptr) host.exponent = exponent.get() + first;
    if (real != nullptr) host.real = real.get() + first;
    return host;
  }
};

template <class T>
Status UploadOne(const Stream& stream, const T* values, size_t count,
                 std::shared_ptr<const T>& to) {
  if (values == nullptr) return {};
  auto uploaded = Upload(stream, values, count);
  if (!uploaded.ok()) return uploaded.status();
  to = *uploaded;
  return {};
}

Result<Arrays> UploadArrays(const Stream& stream, const StandardPipeline& host, size_t channels) {
  Arrays arrays;
  INTAGLIO_RETURN_IF_ERROR(UploadOne(stream, host.bias, channels, arrays.bias));
  if (!host.per_channel) return arrays;
  INTAGLIO_RETURN_IF_ERROR(UploadOne(stream, host.mantissa, channels, arrays.mantissa));
  INTAGLIO_RETURN_IF_ERROR(UploadOne(stream, host.exponent, channels, arrays.exponent));
  INTAGLIO_RETURN_IF_ERROR(UploadOne(stream, host.real, channels, arrays.real));
  return arrays;
}

// For what is decided before the arena is: as an arena's tensors are, at multiples of 64 bytes.
constexpr uintptr_t kFarAway = uintptr_t{1} << (sizeof(void*) == 8 ? 40 : 30);
void* Anywhere(uintptr_t offset) { return reinterpret_cast<void*>(kFarAway + offset); }

class ProductRoutine final : public Routine {
 public:
  struct Group {
    device::PackedMatrix weights;
    StandardPipeline pipeline;
    std::optional<device::BoundPipeline> bound;  // where the pipeline can be
  };

  explicit ProductRoutine(const Stream& on) : stream(on) {}

  Status Run(const RunArguments& arguments) const override {
    const Stream with_scratch = stream.WithWorkspace(arguments.scratch, scratch_bytes);
    for (size_t g = 0; g < groups.size(); ++g) {
      const Im2col input = Input(arguments.inputs[0], g);
      const MutableMatrix dst = Output(arguments.outputs[0], g);
      INTAGLIO_RETURN_IF_ERROR(
          groups[g].bound.has_value()
              ? Gemm(with_scratch, input, groups[g].weights, dst, *groups[g].bound)
              : Gemm(with_scratch, input, groups[g].weights, dst, groups[g].pipeline));
    }
    return {};
  }

  // Packs the weights, binds the pipelines, and sums up the scratch.
  Status Make(const LayerView& layer, const StandardPipeline& host) {
    auto made = UploadArrays(stream, host, static_cast<size_t>(shape.outputs));
    if (!made.ok()) return made.status();
    arrays = *made;
    const Tensor& weights = layer.input(1);
    auto uploaded = Upload(stream, static_cast<const std::byte*>(weights.data), weights.data_bytes);
    if (!uploaded.ok()) return uploaded.status();
    for (int g = 0; g < shape.groups; ++g) {
      INTAGLIO_RETURN_IF_ERROR(AddGroup(uploaded->get(), host, g));
    }
    return {};
  }

  // What the engine chooses for the first group.
  Result<std::string> Kernel() const {
    if (groups.empty()) return std::string();
    auto text = DescribeGemm(stream, Input(Anywhere(0), 0), groups[0].weights,
                             Output(Anywhere(kFarAway), 0), groups[0].pipeline);
    if (!text.ok()) return text.status();
    return text->substr(0, text->find(','));
  }

  Stream stream;
  ConvShape shape;
  LinearLayer linear;
  Multipliers multipliers;
  std::vector<double> real;  // where no integers stand for them
  Arrays arrays;
  std::vector<Group> groups;
  size_t scratch_bytes = 0;
  size_t constant_bytes = 0;

 private:
  Im2col Input(const void* data, size_t group) const {
    Im2col input = shape.view;
    input.data = data;
    input.type = linear.type;
    input.zero_point = linear.input.zero_point;
    input.first_channel = static_cast<int>(group) * input.group_channels;
    return input;
  }
  MutableMatrix Output(void* data, size_t group) const {
    const int columns = shape.group_outputs();
    return {static_cast<std::byte*>(data) + static_cast<ptrdiff_t>(group) * columns,
            linear.type,
            shape.rows(),
            columns,
            shape.outputs,
            Order::kRowMajor};
  }

  Status AddGroup(const std::byte* weights, const StandardPipeline& host, int g) {
    const int columns = shape.group_outputs();
    const int first = g * columns;
    const ConstMatrix matrix{weights + ptrdiff_t{first} * shape.depth(),
                             linear.type,
                             shape.depth(),
                             columns,
                             shape.depth(),
                             Order::kColMajor,
                             linear.weight_zero_points[0]};
    std::span<const int32_t> zero_points;
    if (linear.weight_zero_points.size() > 1) {
      zero_points = std::span(linear.weight_zero_points)
                        .subspan(static_cast<size_t>(first), static_cast<size_t>(columns));
    }
    auto packed = device::PackedMatrix::Pack(stream, Side::kRhs, matrix, zero_points);
    if (!packed.ok()) return packed.status();
    Group group{*packed, arrays.Of(host, first), {}};
    if (host.scaling != Scaling::kReal64) {
      auto bound = device::BoundPipeline::Bind(stream, *packed, group.pipeline, linear.type,
                                               linear.input.zero_point);
      if (!bound.ok()) return bound.status();
      group.bound = *bound;
    }
    groups.push_back(std::move(group));
    constant_bytes += packed->bytes();
    return AddScratch(groups.back(), static_cast<size_t>(g));
  }

  Status AddScratch(const Group& group, size_t g) {
    const Im2col input = Input(Anywhere(0), g);
    const MutableMatrix dst = Output(Anywhere(kFarAway), g);
    const auto bytes = group.bound.has_value()
                           ? WorkspaceBytes(stream, input, group.weights, dst, *group.bound)
                           : WorkspaceBytes(stream, input, group.weights, dst, group.pipeline);
    if (!bytes.ok()) return bytes.status();
    scratch_bytes = std::max(scratch_bytes, *bytes);
    return {};
  }
};

Result<PreparedLayer> Finish(const LayerView& layer, std::shared_ptr<ProductRoutine> routine,
                             const StandardPipeline& host) {
  if (const Status s = routine->Make(layer, host); !s.ok()) return layer.Wrap(s);
  const Result<std::string> kernel = routine->Kernel();
  if (!kernel.ok()) return layer.Wrap(kernel.status());
  PreparedLayer prepared;
  prepared.kernel = *kernel;
  prepared.macs = CountMacs(layer.output().shape, routine->shape.depth());
  prepared.constant_bytes = routine->constant_bytes;
  prepared.scratch_bytes = routine->scratch_bytes;
  prepared.routine = std::move(routine);
  return prepared;
}

// The routine of a layer, as far as it is the same for both operators.
Result<std::shared_ptr<ProductRoutine>> Start(const Stream& stream, const LayerView& layer,
                                              const Result<ConvShape>& shape) {
  if (!shape.ok()) return shape.status();
  auto routine = std::make_shared<ProductRoutine>(stream);
  routine->shape = *shape;
  Result<LinearLayer> linear =
      CheckLinear(layer, shape->activation, 0, shape->outputs, shape->depth());
  if (!linear.ok()) return linear.status();
  routine->linear = std::move(*linear);
  return routine;
}

}  // namespace

Result<PreparedLayer> PrepareConv2D(const Stream& stream, const LayerView& layer) {
  auto routine = Start(stream, layer, ShapeOfConv2D(layer));
  if (!routine.ok()) return routine.status();
  ProductRoutine& r = **routine;
  Result<Multipliers> multipliers = MakeMultipliers(layer, r.linear);
  if (!multipliers.ok()) return multipliers.status();
  r.multipliers = std::move(*multipliers);
  return Finish(layer, *routine, MakePipeline(r.linear, r.multipliers, 0));
}

Result<PreparedLayer> PrepareFullyConnected(const Stream& stream, const LayerView& layer) {
  auto routine = Start(stream, layer, ShapeOfFullyConnected(layer));
  if (!routine.ok()) return routine.status();
  INTAGLIO_RETURN_IF_ERROR(CheckScaling(layer, {Scaling::kReal64}));
  ProductRoutine& r = **routine;
  r.real = RealMultipliers(r.linear);
  auto single = SingleRoundingMultipliers(r.real, r.linear.output.zero_point, r.linear.clamp);
  if (!single.has_value()) return Finish(layer, *routine, MakePipeline(r.linear, r.real));
  r.multipliers = std::move(*single);
  StandardPipeline pipeline = MakePipeline(r.linear, r.multipliers, 0);
  pipeline.scaling = Scaling::kSingleRounding;
  return Finish(layer, *routine, pipeline);
}

}  // namespace intaglio::nn::cuda
