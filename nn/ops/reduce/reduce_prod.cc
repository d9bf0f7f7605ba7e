// REDUCE_PROD of quantized numbers. As in TFLite, every product is rescaled by that part of the
// whole multiplier that is due to one of its factors, so that it stays small.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/requantize_wide.h"
#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/reduce/reduce.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

constexpr int64_t kNoFactor = std::numeric_limits<int64_t>::max();

template <class T>
class ProdRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const T*>(arguments.inputs[0]);
    auto* const products = static_cast<int64_t*>(arguments.scratch);
    std::fill_n(products, count, kNoFactor);
    const ptrdiff_t extent = loops.inner_extent();
    const Loops<2>::Offsets steps = loops.inner_strides();
    loops.Run([&](const Loops<2>::Offsets& at) {
      for (ptrdiff_t i = 0; i < extent; ++i) {
        int64_t& product = products[at[1] + i * steps[1]];
        const int32_t factor = in[at[0] + i * steps[0]] - input_zero_point;
        product = product == kNoFactor ? factor : RequantizeWide(product * factor, multiplier);
      }
    });
    auto* const out = static_cast<T*>(arguments.outputs[0]);
    for (size_t i = 0; i < count; ++i) {
      const int32_t scaled = RequantizeWide(products[i], multiplier);
      out[i] = static_cast<T>(AddAndClamp(scaled, output_zero_point, RangeOf(TypeOf<T>)));
    }
    return {};
  }

  Loops<2> loops;  // the input, the products; a reduced dimension has stride 0 in the products
  size_t count = 0;
  int32_t input_zero_point = 0;
  int32_t output_zero_point = 0;
  WideMultiplier multiplier;
};

}  // namespace

Result<PreparedLayer> PrepareQuantizedProd(const LayerView& layer, const LayerOptions&) {
  const std::vector<int>& axes = layer.op<ReduceProd>().axes;
  const Result<Reduction> reduction = ReductionOf(layer, axes);
  if (!reduction.ok()) return reduction.status();
  if (reduction->count < 1) return layer.Unsupported("multiplies 0 elements");
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Type type = layer.output().type;
  if (type == Type::kInt16 && (q->input.zero_point != 0 || q->output.zero_point != 0)) {
    return layer.Unsupported("int16 with zero points other than 0");
  }
  const double root =
      std::pow(static_cast<double>(q->output.scale), 1.0 / static_cast<double>(reduction->count));
  const Result<QuantizedMultiplier> multiplier =
      MakeMultiplier(layer, static_cast<double>(q->input.scale) / root);
  if (!multiplier.ok()) return multiplier.status();
  const Result<size_t> scratch = CountBytes(layer.output().shape, Type::kInt64);
  if (!scratch.ok()) return layer.Wrap(scratch.status());
  PreparedLayer prepared;
  prepared.scratch_bytes = *scratch;
  prepared.routine =
      VisitType<int8_t, int16_t>(type, [&](auto zero) -> std::shared_ptr<const Routine> {
        auto routine = std::make_shared<ProdRoutine<decltype(zero)>>();
        routine->loops = reduction->loops;
        routine->count = *scratch / sizeof(int64_t);
        routine->input_zero_point = q->input.zero_point;
        routine->output_zero_point = q->output.zero_point;
        routine->multiplier = MakeWideMultiplier(*multiplier);
        return routine;
      });
  return prepared;
}

}  // namespace intaglio::nn
