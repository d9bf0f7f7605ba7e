// BATCH_MATMUL of 8 bits: a product of matrices for each batch. A constant second operand is packed
// once.
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/gemm/bound_pipeline.h"
#include "intaglio/gemm/gemm.h"
#include "intaglio/nn/ops/linear/batch_matmul.h"
#include "intaglio/nn/ops/linear/changing_weights.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/onnx.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/pack_matrix.h"
#include "intaglio/nn/ops/support/binary.h"

namespace intaglio::nn {
namespace {

constexpr int kMaxDepth = 1 << 15;  // times 255 * 255 fits int32

Status CheckTflite(const LayerView& layer, LinearLayer& linear) {
  INTAGLIO_RETURN_IF_ERROR(CheckScaling(layer, {Scaling::kDoubleRounding}));
  const Result<ThreeAffines> q = AffinesOf(layer);
  if (!q.ok()) return q.status();
  linear.type = linear.weight_type = linear.output_type = layer.output().type;
  linear.input = q->a;
  linear.weight_scales = {q->b.scale};
  linear.weight_zero_points = {q->b.zero_point};
  linear.output = q->out;
  linear.clamp = RangeOf(linear.output_type);
  return {};
}

Result<LinearLayer> CheckOperands(const LayerView& layer, const MatMulSizes& sizes) {
  LinearLayer linear;
  linear.numerics = layer.numerics();
  if (!IsOnnx(linear.numerics.scaling)) {
    INTAGLIO_RETURN_IF_ERROR(CheckTflite(layer, linear));
  } else {
    const size_t rank = layer.input(1).shape.size();
    const size_t axis = rank - (layer.op<BatchMatMul>().adjoint_b ? 2 : 1);
    INTAGLIO_RETURN_IF_ERROR(CheckOnnx(layer, Activation::kNone, linear));
    INTAGLIO_RETURN_IF_ERROR(CheckWeightScales(layer, static_cast<int>(axis), sizes.cols, linear));
  }
  if (sizes.depth <= kMaxDepth) return linear;
  return layer.Unsupported("sums " + std::to_string(sizes.depth) + " products; at most 2^15");
}

// A matrix that lies as [rows, cols], or transposed.
ConstMatrix MatrixOf(Type type, int rows, int cols, bool transposed, int32_t zero_point) {
  const Order order = transposed ? Order::kColMajor : Order::kRowMajor;
  return {nullptr, type, rows, cols, transposed ? rows : cols, order, zero_point};
}

// What both routines share. A derived class multiplies the matrices of one batch.
class MatMulRoutine : public Routine {
 public:
  Status Run(const RunArguments& arguments) const final {
    const auto size = static_cast<ptrdiff_t>(SizeOf(out.type));
    const Loops<3>::Offsets steps = loops.inner_strides();
    Status status;
    loops.Run([&](const Loops<3>::Offsets& at) {
      for (ptrdiff_t i = 0; i < loops.inner_extent() && status.ok(); ++i) {
        ConstMatrix x = a;
        x.data = static_cast<const std::byte*>(arguments.inputs[0]) + at[0] + i * steps[0];
        MutableMatrix to = out;
        to.data = static_cast<std::byte*>(arguments.outputs[0]) + (at[2] + i * steps[2]) * size;
        status = Multiply(arguments, x, at[1] + i * steps[1], to);
      }
    });
    return status;
  }

  Status Init(const LayerView& layer, const LayerOptions& options, const MatMulSizes& sizes,
              const Loops<3>& batches) {
    Result<LinearLayer> checked = CheckOperands(layer, sizes);
    if (!checked.ok()) return checked.status();
    linear = std::move(*checked);
    Result<Multipliers> made = MakeMultipliers(layer, linear);
    if (!made.ok()) return made.status();
    multipliers = std::move(*made);
    const BatchMatMul& op = layer.op<BatchMatMul>();
    loops = batches;
    a = MatrixOf(linear.type, sizes.rows, sizes.depth, op.adjoint_a, linear.input.zero_point);
    b = MatrixOf(linear.weight_type, sizes.depth, sizes.cols, op.adjoint_b,
                 linear.weight_zero_points[0]);
    out = {nullptr, linear.output_type, sizes.rows, sizes.cols, sizes.cols, Order::kRowMajor};
    if (!IsReal()) return {};
    Result<RealOutput> output =
        MakeRealOutput(layer, options, linear, Activation::kNone, sizes.cols);
    if (!output.ok()) return output.status();
    real = std::move(*output);
    real_tile = MakeRealTile(real, linear, 0);
    return {};
  }

  bool IsReal() const { return linear.output_type == Type::kFloat32; }

  LinearLayer linear;
  Multipliers multipliers;
  RealOutput real;  // of float32 outputs
  RealTile real_tile;
  Loops<3> loops;
  ConstMatrix a;  // without their data
  ConstMatrix b;
  MutableMatrix out;

 private:
  // `offset` is where the second operand of the batch lies, in elements.
  virtual Status Multiply(const RunArguments& arguments, const ConstMatrix& x, ptrdiff_t offset,
                          const MutableMatrix& to) const = 0;
};

class ChangingRoutine final : public MatMulRoutine {
  Status Multiply(const RunArguments& arguments, const ConstMatrix& x, ptrdiff_t offset,
                  const MutableMatrix& to) const override {
    ConstMatrix y = b;
    y.data = static_cast<const std::byte*>(arguments.inputs[1]) + offset;
    if (IsReal()) return Gemm(arguments.context, x, y, to, real_tile.pipeline());
    return Gemm(arguments.context, x, y, to, MakePipeline(linear, multipliers, 0));
  }
};

class PackedRoutine final : public MatMulRoutine {
 public:
  Status Pack(const LayerView& layer, const LayerOptions& options, PreparedLayer& prepared) {
    const ptrdiff_t size = ptrdiff_t{b.rows} * b.cols;
    const int64_t count = size == 0 ? 0 : *CountElements(layer.input(1).shape) / size;
    const PackOptions pack = MakePackOptions(linear, options, 0, b.cols);
    if (count == 1) MergeRows(layer);
    for (int64_t i = 0; i < count; ++i) {
      ConstMatrix matrix = b;
      matrix.data = static_cast<const std::byte*>(layer.input(1).data) + i * size;
      Result<PackedOf<PackedMatrix>> packed =
          PackMatrix(layer, options, matrix, pack.channel_zero_points);
      if (!packed.ok()) return packed.status();
      prepared.constant_bytes += packed->new_bytes;
      weights_.push_back(std::move(packed->form));
      if (!IsReal()) INTAGLIO_RETURN_IF_ERROR(Bind(layer, options, prepared));
    }
    return {};
  }

 private:
  // The rows of all batches as one matrix.
  void MergeRows(const LayerView& layer) {
    const int64_t rows = *CountElements(layer.input(0).shape) / a.cols;
    if (a.order != Order::kRowMajor || rows > std::numeric_limits<int>::max()) return;
    a.rows = out.rows = static_cast<int>(rows);
    loops = Loops<3>();
  }

  Status Bind(const LayerView& layer, const LayerOptions& options, PreparedLayer& prepared) {
    Result<BoundPipeline> bound = BoundPipeline::Bind(
        weights_.back(), MakePipeline(linear, multipliers, 0), linear.type, linear.input.zero_point,
        {.fit = options.fit, .rows = a.rows, .keep_rows_per_thread = true});
    if (!bound.ok()) return layer.Wrap(bound.status());
    prepared.constant_bytes += bound->bytes();
    bound_.push_back(std::move(*bound));
    return {};
  }

  Status Multiply(const RunArguments& arguments, const ConstMatrix& x, ptrdiff_t offset,
                  const MutableMatrix& to) const override {
    if (b.cols == 0) return {};
    const auto i = static_cast<size_t>(offset / (ptrdiff_t{b.rows} * b.cols));
    if (IsReal()) return Gemm(arguments.context, x, weights_[i], to, real_tile.pipeline());
    return Gemm(arguments.context, x, weights_[i], to, bound_[i]);
  }

  std::vector<PackedMatrix> weights_;  // per batch of the second operand
  std::vector<BoundPipeline> bound_;   // of integer outputs
};

PreparedLayer Describe(const LayerView& layer, const MatMulSizes& sizes) {
  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.output().shape, sizes.depth);
  return prepared;
}

}  // namespace

Result<PreparedLayer> PrepareBatchMatMulBytes(const LayerView& layer, const LayerOptions& options,
                                              const MatMulSizes& sizes, const Loops<3>& loops) {
  auto routine = std::make_shared<ChangingRoutine>();
  INTAGLIO_RETURN_IF_ERROR(routine->Init(layer, options, sizes, loops));
  INTAGLIO_RETURN_IF_ERROR(CheckOneZeroPoint(layer, routine->linear.weight_zero_points));
  PreparedLayer prepared = Describe(layer, sizes);
  prepared.routine = std::move(routine);
  return prepared;
}

Result<PreparedLayer> PrepareBatchMatMulPacked(const LayerView& layer, const LayerOptions& options,
                                               const MatMulSizes& sizes, const Loops<3>& loops) {
  auto routine = std::make_shared<PackedRoutine>();
  INTAGLIO_RETURN_IF_ERROR(routine->Init(layer, options, sizes, loops));
  PreparedLayer prepared = Describe(layer, sizes);
  INTAGLIO_RETURN_IF_ERROR(routine->Pack(layer, options, prepared));
  prepared.kernel = options.kernel;
  prepared.packed_inputs = 1 << 1;  // the weights
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
