// CONV_2D, FULLY_CONNECTED and DEPTHWISE_CONV_2D of float32 inputs and int8 weights (hybrid.h).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "intaglio/gemm/depthwise.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/hybrid.h"
#include "intaglio/nn/ops/linear/operators.h"

namespace intaglio::nn {
namespace {

// Sums of fewer rows are computed by themselves, with all that does not change from run to run
// bound before: preparing a call takes longer than another pass over them.
constexpr int kFewRows = 4;

// Computes one product of all items, and corrects the zero points afterwards. If padding needs the
// zero points, it computes one product per item instead.
class ProductRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const int items = shape.view.batch;
    const int64_t size = shape.inputs() / items;
    const QuantizedItems x =
        QuantizeInput(arguments, *hybrid.floats, items, size, hybrid.asymmetric);
    auto* const out = static_cast<std::byte*>(arguments.outputs[0]);
    const int rows = shape.rows() / items;
    const bool correct = hybrid.asymmetric && shape.pointwise;
    if (correct || !hybrid.asymmetric) {
      const ToReal real{hybrid, x.scales, correct ? x.zero_points : nullptr, weight_sums.data(),
                        rows,   0};
      return Multiply(arguments, shape, x.values, 0, real, out);
    }
    ConvShape one = shape;
    one.view.batch = 1;
    for (int item = 0; item < items; ++item) {
      const ToReal real{hybrid, x.scales + item, nullptr, nullptr, rows, 0};
      INTAGLIO_RETURN_IF_ERROR(Multiply(arguments, one, x.values + item * size, x.zero_points[item],
                                        real, out + item * rows * arguments.output_stride));
    }
    return {};
  }

  ConvShape shape;
  HybridLayer hybrid;
  std::vector<int32_t> weight_sums;
  std::vector<PackedMatrix> filters;  // per group
  std::vector<BoundPipeline> bound;   // per group, of few rows; else empty
  size_t sums_offset = 0;             // in the scratch

 private:
  Status Multiply(const RunArguments& arguments, const ConvShape& part, const int8_t* x,
                  int32_t zero_point, ToReal real, void* out) const {
    if (!bound.empty()) return MultiplyFewRows(arguments, x, real, out);
    for (int g = 0; g < part.groups; ++g) {
      real.first_channel = g * part.group_outputs();
      const MutableMatrix dst = part.Output(out, Type::kFloat32, arguments.output_stride, g);
      INTAGLIO_RETURN_IF_ERROR(Gemm(arguments.context, part.Input(x, Type::kInt8, zero_point, g),
                                    filters[static_cast<size_t>(g)], dst, real.pipeline()));
    }
    return {};
  }

  // Without zero points, which a whole product corrects afterwards.
  Status MultiplyFewRows(const RunArguments& arguments, const int8_t* x, ToReal real,
                         void* out) const {
    auto* const sums =
        reinterpret_cast<int32_t*>(static_cast<std::byte*>(arguments.scratch) + sums_offset);
    const int channels = shape.group_outputs();
    const ptrdiff_t stride = arguments.output_stride / ptrdiff_t{sizeof(float)};
    for (int g = 0; g < shape.groups; ++g) {
      const MutableMatrix dst{sums,     Type::kInt32, shape.rows(),
                              channels, channels,     Order::kRowMajor};
      INTAGLIO_RETURN_IF_ERROR(Gemm(arguments.context, shape.Input(x, Type::kInt8, 0, g),
                                    filters[static_cast<size_t>(g)], dst,
                                    bound[static_cast<size_t>(g)]));
      real.first_channel = g * channels;
      real.Run({sums, channels, shape.rows(), channels, Axis::kCols, 0, 0,
                static_cast<float*>(out) + real.first_channel, stride, 1});
    }
    return {};
  }
};

class DepthwiseRoutine final : public Routine {
 public:
  explicit DepthwiseRoutine(PackedDepthwise packed) : filters(std::move(packed)) {}

  Status Run(const RunArguments& arguments) const override {
    const int64_t size = int64_t{view.height} * view.width * view.channels;
    const QuantizedItems x = QuantizeInput(arguments, *hybrid.floats, view.batch, size, true);
    const int rows = view.out_height * view.out_width;
    const ptrdiff_t stride = arguments.output_stride / ptrdiff_t{sizeof(float)};
    auto* out = static_cast<float*>(arguments.outputs[0]);
    Im2col one = view;
    one.batch = 1;
    for (int item = 0; item < view.batch; ++item, out += rows * stride) {
      one.data = x.values + item * size;
      one.zero_point = x.zero_points[item];
      const ToReal real{hybrid, x.scales + item, nullptr, nullptr, rows, 0};
      INTAGLIO_RETURN_IF_ERROR(
          Depthwise(arguments.context, one, filters, out, real.pipeline(), stride));
    }
    return {};
  }

  Im2col view;
  HybridLayer hybrid;
  PackedDepthwise filters;
};

// Sets what differs between TFLite's two operators. CONV_2D with a scale per channel multiplies by
// the scales in turn. The activations of FULLY_CONNECTED let infinities pass.
void FollowOperator(const LayerView& layer, HybridLayer& hybrid) {
  const auto* const connected = layer.layer().op.As<FullyConnected>();
  hybrid.scales_in_turn = connected == nullptr && hybrid.asymmetric;
  if (connected != nullptr) hybrid.finish.bounds = Bounds<float>::Open(connected->activation);
}

}  // namespace

Result<PreparedLayer> PrepareProductHybrid(const LayerView& layer, const LayerOptions& options,
                                           const ConvShape& shape, bool asymmetric) {
  const int depth = shape.depth();
  Result<HybridLayer> hybrid =
      CheckHybrid(layer, options, shape.activation, 0, shape.outputs, depth, asymmetric);
  if (!hybrid.ok()) return hybrid.status();
  FollowOperator(layer, *hybrid);
  auto filters = PackWeights(layer, hybrid->linear, options, shape.groups, depth);
  if (!filters.ok()) return filters.status();
  const Result<size_t> scratch =
      QuantizedItemsBytes(layer, shape.view.batch, shape.inputs() / shape.view.batch);
  if (!scratch.ok()) return scratch.status();
  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.macs = CountMacs({shape.rows(), shape.outputs}, depth);
  prepared.scratch_bytes = *scratch;
  prepared.shared_scratch_key = QuantizedInputForm(shape.view.batch, asymmetric);
  prepared.strides_output = true;
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.constant_bytes = filters->new_bytes;
  auto routine = std::make_shared<ProductRoutine>();
  routine->shape = shape;
  routine->hybrid = std::move(*hybrid);
  routine->filters = std::move(filters->form);
  for (const PackedMatrix& filter : routine->filters) AppendSums(filter, routine->weight_sums);
  if (shape.rows() <= kFewRows && (shape.pointwise || !asymmetric)) {
    for (const PackedMatrix& filter : routine->filters) {
      Result<BoundPipeline> bound = BoundPipeline::Bind(filter, StandardPipeline{}, Type::kInt8, 0);
      if (!bound.ok()) return layer.Wrap(bound.status());
      prepared.constant_bytes += bound->bytes();
      routine->bound.push_back(std::move(*bound));
    }
    constexpr size_t kAlignment = alignof(int32_t);
    routine->sums_offset = (*scratch + kAlignment - 1) / kAlignment * kAlignment;
    prepared.scratch_bytes = routine->sums_offset + static_cast<size_t>(shape.rows()) *
                                                        static_cast<size_t>(shape.group_outputs()) *
                                                        sizeof(int32_t);
  }
  prepared.routine = std::move(routine);
  return prepared;
}

Result<PreparedLayer> PrepareDepthwiseHybrid(const LayerView& layer, const LayerOptions& options,
                                             const Im2col& view) {
  const Tensor& filter = layer.input(1);
  const int outputs = filter.shape[3];
  const int64_t taps = int64_t{filter.shape[1]} * filter.shape[2];
  Result<HybridLayer> hybrid =
      CheckHybrid(layer, options, layer.op<DepthwiseConv2D>().activation, 3, outputs, taps, true);
  if (!hybrid.ok()) return hybrid.status();
  Result<PackedOf<PackedDepthwise>> packed =
      PackDepthwise(layer, options, 0, filter.shape[2], outputs / view.channels);
  if (!packed.ok()) return packed.status();
  const Result<size_t> scratch =
      QuantizedItemsBytes(layer, view.batch, int64_t{view.height} * view.width * view.channels);
  if (!scratch.ok()) return scratch.status();
  PreparedLayer prepared;
  prepared.kernel = options.kernel;
  prepared.macs = CountMacs(layer.output().shape, taps);
  prepared.scratch_bytes = *scratch;
  prepared.shared_scratch_key = QuantizedInputForm(view.batch, true);
  prepared.strides_output = true;
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.constant_bytes = packed->new_bytes;
  auto routine = std::make_shared<DepthwiseRoutine>(std::move(packed->form));
  routine->view = view;
  routine->hybrid = std::move(*hybrid);
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
