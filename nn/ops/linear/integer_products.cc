#include "intaglio/nn/ops/linear/integer_products.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/gemm.h"
#include "intaglio/gemm/word_panels.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/batch_matmul.h"
#include "intaglio/nn/ops/linear/conv.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/onnx.h"
#include "intaglio/nn/ops/linear/pack_matrix.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

constexpr size_t kWeightsInput = 1;
constexpr size_t kZeroPoint = 2;
constexpr size_t kWeightZeroPoint = 3;
constexpr size_t kScale = 4;
constexpr size_t kRealBias = 5;

Status CheckElements(const LayerView& layer, size_t input, Type type, int64_t count) {
  if (!layer.has_input(input)) return {};
  const Tensor& tensor = layer.input(input);
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, tensor, type));
  if (*CountElements(tensor.shape) == count) return {};
  return layer.Invalid("input " + std::to_string(input) + " has the shape " +
                       ToString(tensor.shape) + "; " + std::to_string(count) +
                       " elements are needed");
}

// The part that both operators share.
struct Operands {
  Type x = Type::kInt8;
  Type weight = Type::kInt8;
  LinearLayer linear;  // the weights' scales and zero points
  RealOutput real;     // of float32 outputs

  static Result<Operands> Of(const LayerView& layer, const LayerOptions& options, int axis,
                             int channels, int64_t depth) {
    Operands operands;
    operands.x = layer.input(0).type;
    operands.weight = layer.input(kWeightsInput).type;
    LinearLayer& linear = operands.linear;
    if ((kEightBit & SetOf(operands.weight)) == 0) {
      return layer.Unsupported(std::string("weights of ") + NameOf(operands.weight));
    }
    // Without an overflow for any numbers and zero points.
    constexpr int64_t kMostDepth = 2147483647 / (255 * 255);
    if (depth > kMostDepth) {
      return layer.Unsupported("sums " + std::to_string(depth) + " products; at most " +
                               std::to_string(kMostDepth));
    }
    const bool to_real = layer.has_input(kScale);
    linear.numerics.scaling = to_real ? Scaling::kToFloat : Scaling::kNone;
    linear.output_type = to_real ? Type::kFloat32 : Type::kInt32;
    INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(), linear.output_type));
    INTAGLIO_RETURN_IF_ERROR(CheckWeightScales(layer, axis, channels, linear));
    INTAGLIO_RETURN_IF_ERROR(CheckElements(layer, kZeroPoint, operands.x, 1));
    INTAGLIO_RETURN_IF_ERROR(CheckElements(layer, kWeightZeroPoint, operands.weight, 1));
    INTAGLIO_RETURN_IF_ERROR(CheckElements(layer, kScale, Type::kFloat32, 1));
    INTAGLIO_RETURN_IF_ERROR(CheckElements(layer, kRealBias, Type::kFloat32, channels));
    if (layer.has_input(kRealBias) && !to_real) return layer.Invalid("a bias without a scale");
    if (!to_real) return operands;
    Result<RealOutput> real = MakeRealOutput(layer, options, linear, Activation::kNone, channels);
    if (!real.ok()) return real.status();
    operands.real = std::move(*real);
    return operands;
  }

  // The zero point of a run.
  static int32_t ZeroPoint(const RunArguments& arguments, size_t input, Type type,
                           int32_t otherwise) {
    if (input >= arguments.inputs.size() || arguments.inputs[input] == nullptr) return otherwise;
    return type == Type::kInt8 ? *static_cast<const int8_t*>(arguments.inputs[input])
                               : *static_cast<const uint8_t*>(arguments.inputs[input]);
  }

  // Calls multiply(pipeline) with the pipeline of a run.
  template <class Function>
  Status WithPipeline(const RunArguments& arguments, int first_channel,
                      const Function& multiply) const {
    if (linear.output_type == Type::kInt32) return multiply(StandardPipeline());
    RealTile tile = MakeRealTile(real, linear, first_channel);
    tile.scale = *static_cast<const float*>(arguments.inputs[kScale]);
    if (arguments.inputs.size() > kRealBias) {
      tile.SetBias(arguments.inputs[kRealBias], Type::kFloat32);
    }
    return multiply(tile.pipeline());
  }
};

// Weights that are packed once: constants, whose zero point no run tells.
bool CanPack(const LayerView& layer) {
  return layer.input(kWeightsInput).constant && !layer.has_input(kWeightZeroPoint);
}

class MatMulRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    return operands.WithPipeline(arguments, 0, [&](const auto& pipeline) {
      const Loops<3>::Offsets steps = loops.inner_strides();
      Status status;
      loops.Run([&](const Loops<3>::Offsets& at) {
        for (ptrdiff_t i = 0; i < loops.inner_extent() && status.ok(); ++i) {
          status = Multiply(arguments, at[0] + i * steps[0], at[1] + i * steps[1],
                            at[2] + i * steps[2], pipeline);
        }
      });
      return status;
    });
  }

  Operands operands;
  MatMulSizes sizes;
  Loops<3> loops;
  std::vector<PackedMatrix> packed;  // per batch; empty if the weights change

 private:
  template <class AnyPipeline>
  Status Multiply(const RunArguments& arguments, ptrdiff_t x, ptrdiff_t weights, ptrdiff_t out,
                  const AnyPipeline& pipeline) const {
    const ConstMatrix a{static_cast<const std::byte*>(arguments.inputs[0]) + x,
                        operands.x,
                        sizes.rows,
                        sizes.depth,
                        sizes.depth,
                        Order::kRowMajor,
                        Operands::ZeroPoint(arguments, kZeroPoint, operands.x, 0)};
    const MutableMatrix to{static_cast<std::byte*>(arguments.outputs[0]) + out * 4,
                           operands.linear.output_type,
                           sizes.rows,
                           sizes.cols,
                           sizes.cols,
                           Order::kRowMajor};
    if (!packed.empty()) {
      const ptrdiff_t size = ptrdiff_t{sizes.depth} * sizes.cols;
      return Gemm(arguments.context, a, packed[static_cast<size_t>(weights / size)], to, pipeline);
    }
    const int32_t zero_point = Operands::ZeroPoint(arguments, kWeightZeroPoint, operands.weight,
                                                   operands.linear.weight_zero_points[0]);
    const ConstMatrix b{static_cast<const std::byte*>(arguments.inputs[1]) + weights,
                        operands.weight,
                        sizes.depth,
                        sizes.cols,
                        sizes.cols,
                        Order::kRowMajor,
                        zero_point};
    return Gemm(arguments.context, a, b, to, pipeline);
  }
};

Status CheckChanging(const LayerView& layer, const LinearLayer& linear) {
  for (const int32_t zero_point : linear.weight_zero_points) {
    if (zero_point == linear.weight_zero_points[0]) continue;
    return layer.Unsupported("weights that change have zero points that differ per channel");
  }
  return {};
}

Status PackMatrices(const LayerView& layer, const LayerOptions& options, PanelsFor results,
                    MatMulRoutine& routine, PreparedLayer& prepared) {
  const Tensor& weights = layer.input(kWeightsInput);
  const LinearLayer& linear = routine.operands.linear;
  const MatMulSizes& sizes = routine.sizes;
  const ptrdiff_t size = ptrdiff_t{sizes.depth} * sizes.cols;
  const int64_t count = size == 0 ? 0 : *CountElements(weights.shape) / size;
  const PackOptions pack = MakePackOptions(linear, options, 0, sizes.cols);
  for (int64_t i = 0; i < count; ++i) {
    const ConstMatrix matrix{static_cast<const std::byte*>(weights.data) + i * size,
                             weights.type,
                             sizes.depth,
                             sizes.cols,
                             sizes.cols,
                             Order::kRowMajor,
                             linear.weight_zero_points[0]};
    Result<PackedOf<PackedMatrix>> packed =
        PackMatrix(layer, options, matrix, pack.channel_zero_points, results);
    if (!packed.ok()) return packed.status();
    prepared.constant_bytes += packed->new_bytes;
    routine.packed.push_back(std::move(packed->form));
  }
  prepared.kernel = options.kernel;
  prepared.packed_inputs = 1 << kWeightsInput;
  return {};
}

template <PanelsFor kResults>
Result<PreparedLayer> PrepareMatMul(const LayerView& layer, const LayerOptions& options) {
  const Result<MatMulSizes> sizes = MatMulSizesOf(layer, {});
  if (!sizes.ok()) return sizes.status();
  const auto axis = static_cast<int>(layer.input(kWeightsInput).shape.size()) - 1;
  Result<Operands> operands = Operands::Of(layer, options, axis, sizes->cols, sizes->depth);
  if (!operands.ok()) return operands.status();
  auto routine = std::make_shared<MatMulRoutine>();
  routine->operands = std::move(*operands);
  routine->sizes = *sizes;
  routine->loops = MatMulLoops(layer, *sizes);
  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.output().shape, sizes->depth);
  const Status status = CanPack(layer) ? PackMatrices(layer, options, kResults, *routine, prepared)
                                       : CheckChanging(layer, routine->operands.linear);
  if (!status.ok()) return status;
  prepared.routine = std::move(routine);
  return prepared;
}

// Whether the weights have other zero points, as they are stored in panels, than 0. Those ask for
// terms of rows.
bool HaveZeroPoints(const Tensor& weights) {
  const int32_t zero = weights.type == Type::kUInt8 ? 128 : 0;
  const std::vector<int32_t>& all = weights.quantization.zero_points;
  if (all.empty()) return zero != 0;
  return std::any_of(all.begin(), all.end(), [&](int32_t z) { return z != zero; });
}

const char* WhyNotForWords(const LayerView& layer, const LayerOptions& options) {
  if (!CanPack(layer)) return "the weights change";
  if (layer.has_input(kScale)) return "the results are float32";
  if (HaveZeroPoints(layer.input(kWeightsInput))) return "the weights have zero points";
  const Result<MatMulSizes> sizes = MatMulSizesOf(layer, {});
  if (!sizes.ok()) return "the layer has an error";
  if (!options.routine.empty()) return WhyNoWordPanels(options.kernel);
  // Other panels have a kernel that reads such rows where they lie.
  if (layer.input(0).type == Type::kInt8) return "rows of int8 would be packed by each run";
  return WhyNotWordPanels(options.kernel, sizes->rows, sizes->cols, sizes->depth);
}

constexpr Candidate kMatMulCandidates[] = {
    {.algorithm = "gemm-words",
     .prepare = PrepareMatMul<PanelsFor::kWords>,
     .why_not = WhyNotForWords},
    {.algorithm = "gemm", .prepare = PrepareMatMul<PanelsFor::kAny>}};

class ConvRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const int32_t zero_point = Operands::ZeroPoint(arguments, kZeroPoint, operands.x, 0);
    const auto size = static_cast<ptrdiff_t>(SizeOf(operands.linear.output_type));
    for (int g = 0; g < shape.groups; ++g) {
      const int first = g * shape.group_outputs();
      const Operand x = shape.Input(arguments.inputs[0], operands.x, zero_point, g);
      const MutableMatrix to =
          shape.Output(arguments.outputs[0], operands.linear.output_type, shape.outputs * size, g);
      INTAGLIO_RETURN_IF_ERROR(operands.WithPipeline(arguments, first, [&](const auto& pipeline) {
        if (!packed.empty()) {
          return Gemm(arguments.context, x, packed[static_cast<size_t>(g)], to, pipeline);
        }
        return Gemm(arguments.context, x, Filter(arguments, first), to, pipeline);
      }));
    }
    return {};
  }

  Operands operands;
  ConvShape shape;
  std::vector<PackedMatrix> packed;  // per group; empty if the weights change

 private:
  ConstMatrix Filter(const RunArguments& arguments, int first_channel) const {
    const int32_t zero_point = Operands::ZeroPoint(arguments, kWeightZeroPoint, operands.weight,
                                                   operands.linear.weight_zero_points[0]);
    const auto* const filters = static_cast<const std::byte*>(arguments.inputs[kWeightsInput]);
    return {filters + ptrdiff_t{first_channel} * shape.depth(),
            operands.weight,
            shape.depth(),
            shape.group_outputs(),
            shape.depth(),
            Order::kColMajor,
            zero_point};
  }
};

Result<PreparedLayer> PrepareConv(const LayerView& layer, const LayerOptions& options) {
  const Result<ConvShape> shape = ShapeOfConv2D(layer, layer.op<IntegerConv2D>().conv);
  if (!shape.ok()) return shape.status();
  Result<Operands> operands = Operands::Of(layer, options, 0, shape->outputs, shape->depth());
  if (!operands.ok()) return operands.status();
  auto routine = std::make_shared<ConvRoutine>();
  routine->operands = std::move(*operands);
  routine->shape = *shape;
  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.output().shape, shape->depth());
  if (CanPack(layer)) {
    auto filters =
        PackWeights(layer, routine->operands.linear, options, shape->groups, shape->depth());
    if (!filters.ok()) return filters.status();
    routine->packed = std::move(filters->form);
    prepared.constant_bytes = filters->new_bytes;
    prepared.kernel = options.kernel;
    prepared.packed_inputs = 1 << kWeightsInput;
  } else {
    INTAGLIO_RETURN_IF_ERROR(CheckChanging(layer, routine->operands.linear));
  }
  prepared.routine = std::move(routine);
  return prepared;
}

ShapesResult InferMatMul(const LayerView& layer) {
  Result<MatMulSizes> sizes = MatMulSizesOf(layer, {});
  if (!sizes.ok()) return sizes.status();
  Shape shape = std::move(sizes->batch);
  shape.push_back(sizes->rows);
  shape.push_back(sizes->cols);
  return std::vector<Shape>{shape};
}

ShapesResult InferConv(const LayerView& layer) {
  return InferConv2D(layer, layer.op<IntegerConv2D>().conv);
}

MatrixCounts MatricesOfMatMul(const LayerView&, const Tensor& constant) {
  const int64_t rows = constant.shape[constant.shape.size() - 2];
  const int64_t columns = constant.shape.back();
  return {CountOrMax(constant) / (rows * columns), columns, rows};
}

// Groups of a convolution, or one for other constants.
MatrixCounts MatricesOfConv(const LayerView& layer, const Tensor& constant) {
  const Shape& shape = constant.shape;
  if (shape.size() != 4) return RowsAsChannels(layer, constant);
  const int64_t groups = std::clamp(layer.input(0).shape[3] / shape[3], 1, shape[0]);
  return {groups, shape[0] / groups + 1, CountOrMax(constant) / shape[0]};
}

}  // namespace

constinit const OperatorRow IntegerMatMul::kRow = {
    .name = "INTEGER_MATMUL",
    .min_inputs = 2,
    .max_inputs = 6,
    .types = kEightBit,
    .infer = InferMatMul,
    .candidates = kMatMulCandidates,
    .parameters = kWeights,
    .packing = {.matrices = MatricesOfMatMul, .packs_activations = true}};

constinit const OperatorRow IntegerConv2D::kRow = {
    .name = "INTEGER_CONV_2D",
    .min_inputs = 2,
    .max_inputs = 6,
    .types = kEightBit,
    .infer = InferConv,
    .candidates = Candidate{"gemm", PrepareConv},
    .parameters = kWeights,
    .packing = {.matrices = MatricesOfConv, .packs_activations = true}};

}  // namespace intaglio::nn
