// BATCH_MATMUL of int16: sums in int64, requantized as those of int16 convolutions are.
#include <cstddef>
#include <cstdint>

#include "intaglio/fixedpoint/requantize_wide.h"
#include "intaglio/nn/ops/linear/batch_matmul.h"
#include "intaglio/nn/ops/linear/linear.h"
#include "intaglio/nn/ops/linear/operators.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {

Result<PreparedLayer> PrepareBatchMatMul16(const LayerView& layer, const MatMulSizes& sizes,
                                           const Loops<3>& loops,
                                           const QuantizedMultiplier& scales) {
  const WideMultiplier multiplier = MakeWideMultiplier(scales);
  if (sizes.depth > 1 << 16) {
    return layer.Unsupported("sums " + std::to_string(sizes.depth) + " products; at most 2^16");
  }
  const BatchMatMul& op = layer.op<BatchMatMul>();
  PreparedLayer prepared;
  prepared.macs = CountMacs(layer.output().shape, sizes.depth);
  const ptrdiff_t row_a = op.adjoint_a ? 1 : sizes.depth;
  const ptrdiff_t step_a = op.adjoint_a ? sizes.rows : 1;
  const ptrdiff_t col_b = op.adjoint_b ? sizes.depth : 1;
  const ptrdiff_t step_b = op.adjoint_b ? 1 : sizes.cols;
  prepared.routine = RoutineOf([=](const RunArguments& arguments) {
    const auto multiply = [&](const int16_t* a, const int16_t* b, int16_t* out) {
      for (int i = 0; i < sizes.rows; ++i) {
        for (int j = 0; j < sizes.cols; ++j) {
          int64_t sum = 0;
          for (int k = 0; k < sizes.depth; ++k) {
            sum += int32_t{a[i * row_a + k * step_a]} * b[j * col_b + k * step_b];
          }
          *out++ = static_cast<int16_t>(
              AddAndClamp(RequantizeWide(sum, multiplier), 0, RangeOf(Type::kInt16)));
        }
      }
    };
    const Loops<3>::Offsets steps = loops.inner_strides();
    loops.Run([&](const Loops<3>::Offsets& at) {
      for (ptrdiff_t i = 0; i < loops.inner_extent(); ++i) {
        multiply(static_cast<const int16_t*>(arguments.inputs[0]) + at[0] + i * steps[0],
                 static_cast<const int16_t*>(arguments.inputs[1]) + at[1] + i * steps[1],
                 static_cast<int16_t*>(arguments.outputs[0]) + at[2] + i * steps[2]);
      }
    });
  });
  return prepared;
}

}  // namespace intaglio::nn
