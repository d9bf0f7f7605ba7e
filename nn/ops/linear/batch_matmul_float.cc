// BATCH_MATMUL of float32: every element is the sum of its products in the order of the depth.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "intaglio/nn/ops/linear/batch_matmul.h"
#include "intaglio/nn/ops/linear/float_panels.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// Fewer rows do not win back the packing of the other operand. Fewer columns than a vector has are
// not packed: panels would be many times as large as what they hold.
constexpr int kLeastRows = 4;
constexpr ptrdiff_t kLeastMacsOfThread = 1 << 17;

// A matrix whose element [i, j] lies at data[i * row + j * col].
struct Strided {
  const float* data;
  ptrdiff_t row;
  ptrdiff_t col;
};

void MultiplyRows(const MatMulSizes& sizes, const FloatLoops& floats, const Strided& a,
                  const Strided& b, float* out) {
  const StridedMatrix w{b.data, b.row, b.col, sizes.cols, sizes.depth};
  for (int i = 0; i < sizes.rows; ++i) {
    floats.multiply_row(w, a.data + i * a.row, a.col, out + ptrdiff_t{i} * sizes.cols);
  }
}

// The rows of `a` must be dense.
void MultiplyPanels(Context& context, const MatMulSizes& sizes, const FloatLoops& floats,
                    const Strided& a, const Strided& b, float* panels, float* out) {
  PackFloatPanels({b.data, b.row, b.col, sizes.cols, sizes.depth}, floats.lanes, panels);
  PanelProduct product;
  product.panels = panels;
  product.channels = sizes.cols;
  product.depth = sizes.depth;
  product.low = -std::numeric_limits<float>::infinity();
  product.high = std::numeric_limits<float>::infinity();
  const ptrdiff_t macs_of_row = std::max<ptrdiff_t>(1, ptrdiff_t{sizes.depth} * sizes.cols);
  ForParts(context, sizes.rows, kLeastMacsOfThread / macs_of_row + 1,
           [&](ptrdiff_t begin, ptrdiff_t end) {
             floats.multiply(product, a.data + begin * a.row, a.row, static_cast<int>(end - begin),
                             out + begin * sizes.cols, sizes.cols);
           });
}

}  // namespace

Result<PreparedLayer> PrepareBatchMatMulFloat(const LayerView& layer, const LayerOptions& options,
                                              const MatMulSizes& sizes, const Loops<3>& loops) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const BatchMatMul& op = layer.op<BatchMatMul>();
  const FloatLoops& floats = FloatLoopsOf(options.kernel, options.float_sums);
  const bool packs = !op.adjoint_a && sizes.rows >= kLeastRows && sizes.cols >= floats.lanes;
  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.output().shape, sizes.depth);
  if (packs) {
    prepared.scratch_bytes =
        FloatPanelElements(sizes.cols, sizes.depth, floats.lanes) * sizeof(float);
  }
  prepared.routine = RoutineOf([=, &floats](const RunArguments& arguments) {
    Strided a{nullptr, op.adjoint_a ? 1 : sizes.depth, op.adjoint_a ? sizes.rows : 1};
    Strided b{nullptr, op.adjoint_b ? 1 : sizes.cols, op.adjoint_b ? sizes.depth : 1};
    const Loops<3>::Offsets steps = loops.inner_strides();
    loops.Run([&](const Loops<3>::Offsets& at) {
      for (ptrdiff_t i = 0; i < loops.inner_extent(); ++i) {
        a.data = static_cast<const float*>(arguments.inputs[0]) + at[0] + i * steps[0];
        b.data = static_cast<const float*>(arguments.inputs[1]) + at[1] + i * steps[1];
        float* const out = static_cast<float*>(arguments.outputs[0]) + at[2] + i * steps[2];
        if (packs) {
          MultiplyPanels(arguments.context, sizes, floats, a, b,
                         static_cast<float*>(arguments.scratch), out);
        } else {
          MultiplyRows(sizes, floats, a, b, out);
        }
      }
    });
  });
  return prepared;
}

}  // namespace intaglio::nn
