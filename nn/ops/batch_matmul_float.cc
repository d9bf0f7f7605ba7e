// BATCH_MATMUL of float32: every element is the sum of its products in the order of the depth.
#include <algorithm>
#include <cstddef>

#include "intaglio/nn/ops/batch_matmul.h"
#include "intaglio/nn/ops/checks.h"
#include "intaglio/nn/ops/linear.h"
#include "intaglio/nn/ops/routine.h"

namespace intaglio::nn {
namespace {

// A matrix whose element [i, j] lies at data[i * row + j * col].
struct Strided {
  const float* data;
  ptrdiff_t row;
  ptrdiff_t col;
};

void Multiply(const MatMulSizes& sizes, const Strided& a, const Strided& b, float* out) {
  for (int i = 0; i < sizes.rows; ++i, out += sizes.cols) {
    std::fill_n(out, sizes.cols, 0.0f);
    for (int k = 0; k < sizes.depth; ++k) {
      const float x = a.data[i * a.row + k * a.col];
      const float* const row = b.data + k * b.row;
      for (int j = 0; j < sizes.cols; ++j) out[j] += x * row[j * b.col];
    }
  }
}

}  // namespace

Result<PreparedLayer> PrepareBatchMatMulFloat(const LayerView& layer, const MatMulSizes& sizes,
                                              const Loops<3>& loops) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const BatchMatMul& op = layer.op<BatchMatMul>();
  PreparedLayer prepared;
  prepared.name = RoutineName(Type::kFloat32, "matmul");
  prepared.macs = CountMacs(layer.output().shape, sizes.depth);
  prepared.routine = RoutineOf([=](const RunArguments& arguments) {
    Strided a{nullptr, op.adjoint_a ? 1 : sizes.depth, op.adjoint_a ? sizes.rows : 1};
    Strided b{nullptr, op.adjoint_b ? 1 : sizes.cols, op.adjoint_b ? sizes.depth : 1};
    const Loops<3>::Offsets steps = loops.inner_strides();
    loops.Run([&](const Loops<3>::Offsets& at) {
      for (ptrdiff_t i = 0; i < loops.inner_extent(); ++i) {
        a.data = static_cast<const float*>(arguments.inputs[0]) + at[0] + i * steps[0];
        b.data = static_cast<const float*>(arguments.inputs[1]) + at[1] + i * steps[1];
        Multiply(sizes, a, b, static_cast<float*>(arguments.outputs[0]) + at[2] + i * steps[2]);
      }
    });
  });
  return prepared;
}

}  // namespace intaglio::nn
