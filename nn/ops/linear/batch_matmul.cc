// BATCH_MATMUL: a product of matrices for every index of the other dimensions, which broadcast.
#include "intaglio/nn/ops/linear/batch_matmul.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/ops/linear/changing_weights.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/rows.h"

namespace intaglio::nn {
namespace {

// The extent of a shape, counted from its end.
int FromEnd(const Shape& shape, size_t back) { return shape[shape.size() - back]; }
Shape BatchOf(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }

}  // namespace

Result<MatMulSizes> MatMulSizesOf(const LayerView& layer, const BatchMatMul& op) {
  const Shape& a = layer.input(0).shape;
  const Shape& b = layer.input(1).shape;
  const Status error =
      layer.Invalid("the shapes " + ToString(a) + (op.adjoint_a ? " transposed" : "") + " and " +
                    ToString(b) + (op.adjoint_b ? " transposed" : "") + " do not multiply");
  if (a.size() < 2 || b.size() < 2) return error;
  MatMulSizes sizes;
  sizes.rows = FromEnd(a, op.adjoint_a ? 1 : 2);
  sizes.depth = FromEnd(a, op.adjoint_a ? 2 : 1);
  sizes.cols = FromEnd(b, op.adjoint_b ? 2 : 1);
  if (FromEnd(b, op.adjoint_b ? 1 : 2) != sizes.depth || sizes.depth < 1) return error;
  const Shape batch_a = BatchOf(a);
  const Shape batch_b = BatchOf(b);
  sizes.batch.assign(std::max(batch_a.size(), batch_b.size()), 1);
  for (size_t back = 1; back <= sizes.batch.size(); ++back) {
    const int x = back <= batch_a.size() ? FromEnd(batch_a, back) : 1;
    const int y = back <= batch_b.size() ? FromEnd(batch_b, back) : 1;
    if (x != y && x != 1 && y != 1) return error;
    sizes.batch[sizes.batch.size() - back] = x == 1 ? y : x;
  }
  return sizes;
}

Loops<3> MatMulLoops(const LayerView& layer, const MatMulSizes& sizes) {
  const std::vector<ptrdiff_t> a = BroadcastStrides(BatchOf(layer.input(0).shape), sizes.batch);
  const std::vector<ptrdiff_t> b = BroadcastStrides(BatchOf(layer.input(1).shape), sizes.batch);
  const std::vector<ptrdiff_t> out = DenseStrides(sizes.batch);
  const ptrdiff_t size_a = ptrdiff_t{sizes.rows} * sizes.depth;
  const ptrdiff_t size_b = ptrdiff_t{sizes.depth} * sizes.cols;
  const ptrdiff_t size_out = ptrdiff_t{sizes.rows} * sizes.cols;
  Loops<3> loops;
  for (size_t i = 0; i < sizes.batch.size(); ++i) {
    loops.Add(sizes.batch[i], {a[i] * size_a, b[i] * size_b, out[i] * size_out});
  }
  return loops;
}

namespace {

ShapesResult InferBatchMatMul(const LayerView& layer) {
  Result<MatMulSizes> sizes = MatMulSizesOf(layer, layer.op<BatchMatMul>());
  if (!sizes.ok()) return sizes.status();
  Shape shape = std::move(sizes->batch);
  shape.push_back(sizes->rows);
  shape.push_back(sizes->cols);
  return std::vector<Shape>{shape};
}

// The product of the scales is rounded to float32, as in TFLite's uint8 convolutions.
Numerics NumericsOfBatchMatMul(const LayerView&) { return {.float32_scales = true}; }

Result<QuantizedMultiplier> MultiplierOf(const LayerView& layer, const ThreeAffines& q) {
  INTAGLIO_RETURN_IF_ERROR(CheckScaling(layer, {Scaling::kDoubleRounding}));
  LinearLayer linear;
  linear.numerics = layer.numerics();
  linear.input = q.a;
  linear.weight_scales = {q.b.scale};
  linear.output = q.out;
  return MakeMultiplier(layer, RealMultipliers(linear)[0]);
}

Result<PreparedLayer> PrepareWords(const LayerView& layer, const LayerOptions&,
                                   const MatMulSizes& sizes, const Loops<3>& loops) {
  const Result<ThreeAffines> q = AffinesOf(layer);
  if (!q.ok()) return q.status();
  const Result<QuantizedMultiplier> multiplier = MultiplierOf(layer, *q);
  if (!multiplier.ok()) return multiplier.status();
  if (q->a.zero_point != 0 || q->b.zero_point != 0 || q->out.zero_point != 0) {
    return layer.Unsupported("int16 with zero points other than 0");
  }
  return PrepareBatchMatMul16(layer, sizes, loops, *multiplier);
}

template <auto kPrepare>
Result<PreparedLayer> PrepareSized(const LayerView& layer, const LayerOptions& options) {
  const Result<MatMulSizes> sizes = MatMulSizesOf(layer, layer.op<BatchMatMul>());
  if (!sizes.ok()) return sizes.status();
  return kPrepare(layer, options, *sizes, MatMulLoops(layer, *sizes));
}

constexpr Candidate kBatchMatMulWays[] = {
    {"gemm", PrepareSized<PrepareBatchMatMulPacked>, kEightBit, NeedsConstants},
    {"gemm-unpacked", PrepareSized<PrepareBatchMatMulBytes>, kEightBit},
    {"matmul", PrepareSized<PrepareWords>, kInt16},
    HybridCandidate<>("gemm", PrepareSized<PrepareBatchMatMulHybrid>),
    FloatCandidate<>("matmul", PrepareSized<PrepareBatchMatMulFloat>)};

MatrixCounts MatricesOf(const LayerView&, const Tensor& constant) {
  const int64_t rows = constant.shape[constant.shape.size() - 2];
  const int64_t columns = constant.shape.back();
  return {CountOrMax(constant) / (rows * columns), std::min(rows, columns),
          std::max(rows, columns)};
}

}  // namespace

constinit const OperatorRow BatchMatMul::kRow = {
    .name = "BATCH_MATMUL",
    .min_inputs = 2,
    .max_inputs = 2,
    .types = kReal | SetOf(Type::kUInt8),
    .infer = InferBatchMatMul,
    .candidates = kBatchMatMulWays,
    .remark = "int16 with zero points 0; float32 also with constant int8",
    .parameters = kWeights,
    .numerics = NumericsOfBatchMatMul,
    .packing = {.matrices = MatricesOf}};

}  // namespace intaglio::nn
