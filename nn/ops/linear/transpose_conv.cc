#include "intaglio/nn/ops/linear/transpose_conv.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/changing_weights.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/onnx.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/pack_matrix.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

Result<ScatterAxis> PlaceAxis(const LayerView& layer, int in, int kernel, int stride, int out) {
  if (in < 1 || kernel < 1 || stride < 1 || out < 1) {
    return layer.Invalid("cannot place " + std::to_string(in) + " inputs, a filter of " +
                         std::to_string(kernel) + " and the stride " + std::to_string(stride) +
                         " in " + std::to_string(out) + " outputs");
  }
  // The padding of a convolution from the output back to the input, whose extent it fixes itself.
  int64_t pad = 0;
  if (layer.op<TransposeConv>().padding.kind == Padding::Kind::kSame) {
    const int64_t back = (int64_t{out} + stride - 1) / stride;
    pad = std::max<int64_t>(0, (back - 1) * stride + kernel - out) / 2;
  }
  if (int64_t{in} * stride + kernel > std::numeric_limits<int>::max()) {
    return layer.Invalid("the stride " + std::to_string(stride) + " is too large");
  }
  return ScatterAxis{in, kernel, stride, static_cast<int>(pad), out};
}

class TransposeConvRoutine final : public Routine {
 public:
  explicit TransposeConvRoutine(PackedMatrix packed) : filters(std::move(packed)) {}

  Status Run(const RunArguments& arguments) const override {
    const auto* in = static_cast<const std::byte*>(arguments.inputs[0]);
    auto* out = static_cast<std::byte*>(arguments.outputs[0]);
    auto* const products = static_cast<int32_t*>(arguments.scratch);
    int32_t* const sums = products + scatter.row_products();
    const int width = scatter.x.in;
    const auto size = static_cast<ptrdiff_t>(SizeOf(linear.output_type));
    for (int n = 0; n < scatter.batch; ++n, out += scatter.image() * size) {
      std::fill_n(sums, scatter.image(), 0);
      for (int y = 0; y < scatter.y.in; ++y, in += scatter.row_inputs()) {
        const ConstMatrix row{in,
                              linear.type,
                              width,
                              scatter.depth,
                              scatter.depth,
                              Order::kRowMajor,
                              linear.input.zero_point};
        const MutableMatrix to{products,          Type::kInt32,      width,
                               scatter.columns(), scatter.columns(), Order::kRowMajor};
        INTAGLIO_RETURN_IF_ERROR(Gemm(arguments.context, row, filters, to, sums_pipeline));
        scatter.AddRow(products, y, 1, sums);
      }
      Finish(sums, out);
    }
    return {};
  }

  Scatter scatter;
  LinearLayer linear;
  Multipliers multipliers;
  PackedMatrix filters;
  BoundPipeline sums_pipeline;  // of their products with a row
  RealOutput real;              // of float32 outputs

 private:
  // Finishes an image, line by line.
  void Finish(const int32_t* sums, std::byte* out) const {
    const int channels = scatter.channels;
    const ptrdiff_t line = ptrdiff_t{scatter.x.out} * channels;
    const auto size = static_cast<ptrdiff_t>(SizeOf(linear.output_type));
    const StandardPipeline standard = MakePipeline(linear, multipliers, 0);
    const RealTile tile = MakeRealTile(real, linear, 0);
    const bool to_real = linear.output_type == Type::kFloat32;
    const TilePipeline pipeline = to_real ? tile.pipeline() : AsTilePipeline(standard);
    for (int y = 0; y < scatter.y.out; ++y) {
      pipeline.run(pipeline.pipeline, {sums + y * line, channels, scatter.x.out, channels,
                                       Axis::kCols, 0, 0, out + y * line * size, channels, 1});
    }
  }
};

// TFLite's filters of int8 are symmetric.
Status CheckFilters(const LayerView& layer, const LinearLayer& linear) {
  if (IsOnnx(linear.numerics.scaling)) return CheckOneZeroPoint(layer, linear.weight_zero_points);
  if (linear.type == Type::kUInt8) return {};
  for (const int32_t zero_point : linear.weight_zero_points) {
    if (zero_point != 0) return layer.Unsupported("int8 filters with other zero points than 0");
  }
  return {};
}

}  // namespace

Result<Scatter> ScatterOf(const LayerView& layer) {
  INTAGLIO_RETURN_IF_ERROR(CheckImage(layer));
  const TransposeConv& op = layer.op<TransposeConv>();
  const Shape& x = layer.input(0).shape;
  const Shape& filter = layer.input(1).shape;
  const bool valid = filter.size() == 4 && op.shape.size() == 4 && op.shape[0] == x[0] &&
                     op.shape[3] == filter[0] && filter[3] == x[3] && x[3] > 0 && filter[0] > 0;
  if (!valid) {
    return layer.Invalid("filters " + ToString(filter) + " do not bring " + ToString(x) + " to " +
                         ToString(op.shape));
  }
  const Result<ScatterAxis> y = PlaceAxis(layer, x[1], filter[1], op.stride.height, op.shape[1]);
  if (!y.ok()) return y.status();
  const Result<ScatterAxis> along = PlaceAxis(layer, x[2], filter[2], op.stride.width, op.shape[2]);
  if (!along.ok()) return along.status();
  const Result<int64_t> columns = CountElements({filter[0], filter[1], filter[2]});
  if (!columns.ok() || *columns > std::numeric_limits<int>::max()) {
    return layer.Unsupported("filters of the shape " + ToString(filter));
  }
  return Scatter{x[0], x[3], filter[0], *y, *along};
}

std::vector<std::byte> FiltersByTap(const LayerView& layer) {
  const Tensor& filter = layer.input(1);
  const auto* const from = static_cast<const std::byte*>(filter.data);
  const size_t row = static_cast<size_t>(filter.shape[3]) * SizeOf(filter.type);
  const size_t taps = static_cast<size_t>(filter.shape[1]) * static_cast<size_t>(filter.shape[2]);
  const auto channels = static_cast<size_t>(filter.shape[0]);
  std::vector<std::byte> columns(filter.data_bytes);
  std::byte* to = columns.data();
  for (size_t tap = 0; tap < taps; ++tap) {
    for (size_t o = 0; o < channels; ++o, to += row) {
      std::memcpy(to, from + (o * taps + tap) * row, row);
    }
  }
  return columns;
}

Result<PackedOf<PackedMatrix>> PackByTap(const LayerView& layer, const LayerOptions& options,
                                         int32_t zero_point) {
  const Tensor& filter = layer.input(1);
  const int depth = filter.shape[3];
  const int taps = filter.shape[1] * filter.shape[2];
  const ConstMatrix matrix{nullptr, filter.type,      depth,     filter.shape[0] * taps,
                           depth,   Order::kColMajor, zero_point};
  return PackCopied(layer, options, matrix, {KeyOf(filter.data), taps},
                    [&] { return FiltersByTap(layer); });
}

ShapesResult InferTransposeConv(const LayerView& layer) {
  const Result<Scatter> scatter = ScatterOf(layer);
  if (!scatter.ok()) return scatter.status();
  return std::vector<Shape>{layer.op<TransposeConv>().shape};
}

namespace {

Result<PreparedLayer> PrepareBytes(const LayerView& layer, const LayerOptions& options,
                                   const Scatter& scatter) {
  const Shape& filter = layer.input(1).shape;
  const int64_t depth = *CountElements({filter[1], filter[2], filter[3]});
  Result<LinearLayer> linear =
      CheckLinear(layer, layer.op<TransposeConv>().activation, 0, filter[0], depth);
  if (!linear.ok()) return linear.status();
  INTAGLIO_RETURN_IF_ERROR(CheckFilters(layer, *linear));
  INTAGLIO_RETURN_IF_ERROR(CheckScaling(layer, {Scaling::kDoubleRounding, Scaling::kFloatHalfEven,
                                                Scaling::kToFloat, Scaling::kNone}));
  Result<Multipliers> multipliers = MakeMultipliers(layer, *linear);
  if (!multipliers.ok()) return multipliers.status();
  Result<PackedOf<PackedMatrix>> packed = PackByTap(layer, options, linear->weight_zero_points[0]);
  if (!packed.ok()) return packed.status();

  const Shape& out = layer.output().shape;
  const Result<size_t> row_bytes = CountBytes({scatter.x.in, scatter.columns()}, Type::kInt32);
  const Result<size_t> image_bytes = CountBytes({out[1], out[2], out[3]}, Type::kInt32);
  if (!row_bytes.ok()) return layer.Wrap(row_bytes.status());
  if (!image_bytes.ok()) return layer.Wrap(image_bytes.status());

  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.input(0).shape, scatter.columns());
  prepared.scratch_bytes = *row_bytes + *image_bytes;
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.constant_bytes = packed->new_bytes;
  prepared.kernel = options.kernel;
  auto routine = std::make_shared<TransposeConvRoutine>(std::move(packed->form));
  routine->scatter = scatter;
  routine->linear = std::move(*linear);
  routine->multipliers = std::move(*multipliers);
  if (routine->linear.output_type == Type::kFloat32) {
    Result<RealOutput> real = MakeRealOutput(layer, options, routine->linear,
                                             layer.op<TransposeConv>().activation, filter[0]);
    if (!real.ok()) return real.status();
    routine->real = std::move(*real);
  }
  Result<BoundPipeline> bound =
      BoundPipeline::Bind(routine->filters, StandardPipeline(), routine->linear.type,
                          routine->linear.input.zero_point, {.rows = scatter.x.in});
  if (!bound.ok()) return layer.Wrap(bound.status());
  routine->sums_pipeline = std::move(*bound);
  prepared.constant_bytes += routine->sums_pipeline.bytes();
  prepared.routine = std::move(routine);
  return prepared;
}

// The routine, after a check that input 3 is the shape.
std::shared_ptr<const Routine> CheckingShape(const LayerView& layer,
                                             std::shared_ptr<const Routine> routine) {
  const Shape& shape = layer.op<TransposeConv>().shape;
  const Status error = layer.Invalid("the output's shape is not " + ToString(shape));
  return RoutineOf(
      [shape, error, routine = std::move(routine)](const RunArguments& arguments) -> Status {
        const bool same =
            std::memcmp(arguments.inputs[3], shape.data(), shape.size() * sizeof(int32_t)) == 0;
        return same ? routine->Run(arguments) : error;
      });
}

template <auto kPrepare>
Result<PreparedLayer> PrepareScatter(const LayerView& layer, const LayerOptions& options) {
  const Result<Scatter> scatter = ScatterOf(layer);
  if (!scatter.ok()) return scatter.status();
  Result<PreparedLayer> prepared = kPrepare(layer, options, *scatter);
  if (!prepared.ok() || !layer.has_input(3)) return prepared;
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.input(3), Type::kInt32));
  if (layer.input(3).shape != Shape{4}) {
    return layer.Invalid("the shape has the shape " + ToString(layer.input(3).shape) + ", not [4]");
  }
  prepared->routine = CheckingShape(layer, prepared->routine);
  return prepared;
}

constexpr PrepareConstant kBytes = PrepareScatter<PrepareBytes>;
constexpr PrepareConstant k16x8 = PrepareScatter<PrepareTransposeConv16x8>;
constexpr PrepareConstant kScattered = PrepareScatter<PrepareTransposeConvFloat>;

const char* NeedsConstantTiles(const LayerView& layer, const LayerOptions& options) {
  const char* const why = NeedsConstants(layer, options);
  return why != nullptr ? why : WhyNotTiles(layer, options);
}

constexpr Candidate kTransposeConvWays[] = {
    {"gemm", kBytes, kEightBit, NeedsConstants},
    {"gemm-unpacked", PrepareUnpacked<kBytes>, kEightBit},
    {"gemm", k16x8, kInt16, NeedsConstants},
    {"gemm-unpacked", PrepareUnpacked<k16x8>, kInt16},
    {"gemm", PrepareScatter<PrepareTransposeConvTiles>, kFloat, NeedsConstantTiles},
    {"scatter", kScattered, kFloat, NeedsConstants},
    {"scatter-unpacked", PrepareUnpacked<kScattered>, kFloat}};

// Each place of the filter is a channel of its own.
MatrixCounts MatricesOf(const LayerView&, const Tensor& constant) {
  return {1, CountOrMax(constant) / constant.shape.back(), constant.shape.back()};
}

}  // namespace

constinit const OperatorRow TransposeConv::kRow = {
    .name = "TRANSPOSE_CONV",
    .min_inputs = 2,
    .max_inputs = 4,
    .types = kQuantized | kFloat,
    .infer = InferTransposeConv,
    .candidates = kTransposeConvWays,
    .remark = "int8 weights with int16; not hybrid, as in TFLite",
    .parameters = kWeightsAndBias,
    .numerics = NumericsOfConvolution,
    .packing = {.matrices = MatricesOf, .packs_activations = true}};

}  // namespace intaglio::nn
