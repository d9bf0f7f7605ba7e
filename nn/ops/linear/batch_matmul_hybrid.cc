// BATCH_MATMUL of float32 by constant int8: each row is quantized on the fly (hybrid.h).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "intaglio/nn/ops/linear/batch_matmul.h"
#include "intaglio/nn/ops/linear/hybrid.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/linear/pack_matrix.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

class HybridMatMulRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    if (sizes.cols == 0) return {};
    const auto* a = static_cast<const float*>(arguments.inputs[0]);
    void* scratch = arguments.scratch;
    if (adjoint_a) {
      auto* const transposed = static_cast<float*>(scratch);
      Transpose(a, transposed);
      a = transposed;
      scratch = transposed + rows * sizes.depth;
    }
    const QuantizedItems x = QuantizeItems(arguments.context, *hybrid.floats, a, rows, sizes.depth,
                                           hybrid.asymmetric, scratch);
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    const Loops<3>::Offsets steps = loops.inner_strides();
    Status status;
    loops.Run([&](const Loops<3>::Offsets& at) {
      for (ptrdiff_t i = 0; i < loops.inner_extent() && status.ok(); ++i) {
        status = Multiply(arguments.context, x, (at[0] + i * steps[0]) / sizes.depth,
                          (at[1] + i * steps[1]) / sizes.depth, out + at[2] + i * steps[2]);
      }
    });
    return status;
  }

  MatMulSizes sizes;
  Loops<3> loops;
  bool adjoint_a = false;
  int64_t rows = 0;  // of all batches of the first operand
  HybridLayer hybrid;
  std::vector<int32_t> weight_sums;   // of all batches
  std::vector<PackedMatrix> weights;  // per batch

 private:
  // The batches that start at this row and this channel of all.
  Status Multiply(Context& context, const QuantizedItems& x, ptrdiff_t row, ptrdiff_t channel,
                  float* out) const {
    const ToReal real{hybrid,
                      x.scales + row,
                      hybrid.asymmetric ? x.zero_points + row : nullptr,
                      weight_sums.data() + channel,
                      1,
                      0};
    return Gemm(context, MakeConstMatrix(x.values + row * sizes.depth, sizes.rows, sizes.depth),
                weights[static_cast<size_t>(channel / sizes.cols)],
                MakeMatrix(out, sizes.rows, sizes.cols), real.pipeline());
  }

  void Transpose(const float* from, float* to) const {
    const ptrdiff_t size = ptrdiff_t{sizes.rows} * sizes.depth;
    for (int64_t row = 0; row < rows; row += sizes.rows, from += size) {
      for (int r = 0; r < sizes.rows; ++r) {
        for (ptrdiff_t k = 0; k < sizes.depth; ++k) *to++ = from[k * sizes.rows + r];
      }
    }
  }
};

}  // namespace

Result<PreparedLayer> PrepareBatchMatMulHybrid(const LayerView& layer, const LayerOptions& options,
                                               const MatMulSizes& sizes, const Loops<3>& loops) {
  const BatchMatMul& op = layer.op<BatchMatMul>();
  const Shape& shape = layer.input(1).shape;
  const int axis = static_cast<int>(shape.size()) - (op.adjoint_b ? 2 : 1);
  Result<HybridLayer> hybrid = CheckHybrid(layer, options, Activation::kNone, axis, sizes.cols,
                                           sizes.depth, op.asymmetric_quantize_inputs);
  if (!hybrid.ok()) return hybrid.status();
  hybrid->finish.bounds = Bounds<float>::Open(Activation::kNone);
  auto routine = std::make_shared<HybridMatMulRoutine>();
  routine->rows = *CountElements(layer.input(0).shape) / sizes.depth;
  const Result<size_t> scratch = QuantizedItemsBytes(layer, routine->rows, sizes.depth);
  if (!scratch.ok()) return scratch.status();

  PreparedLayer prepared;
  ConstMatrix b{layer.input(1).data,
                Type::kInt8,
                sizes.depth,
                sizes.cols,
                op.adjoint_b ? sizes.depth : sizes.cols,
                op.adjoint_b ? Order::kColMajor : Order::kRowMajor,
                0};
  const ptrdiff_t size = ptrdiff_t{sizes.depth} * sizes.cols;
  const int64_t count = size == 0 ? 0 : *CountElements(shape) / size;
  for (int64_t i = 0; i < count; ++i) {
    Result<PackedOf<PackedMatrix>> packed = PackMatrix(layer, options, b);
    if (!packed.ok()) return packed.status();
    AppendSums(packed->form, routine->weight_sums);
    prepared.constant_bytes += packed->new_bytes;
    routine->weights.push_back(std::move(packed->form));
    b.data = static_cast<const int8_t*>(b.data) + size;
  }
  routine->sizes = sizes;
  routine->loops = loops;
  routine->adjoint_a = op.adjoint_a;
  routine->hybrid = std::move(*hybrid);
  prepared.kernel = options.kernel;
  prepared.macs = CountMacs(layer.output().shape, sizes.depth);
  prepared.scratch_bytes = *scratch;
  if (op.adjoint_a) {
    prepared.scratch_bytes += *CountBytes(layer.input(0).shape, Type::kFloat32);
  }
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
