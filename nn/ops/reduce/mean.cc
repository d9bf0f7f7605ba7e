// MEAN, quantized SUM and QLINEAR_MEAN: sums per output element, then one requantization, whose
// multiplier includes the division by the number of elements. As in TFLite, sums wrap around like
// int32, and the result for no elements at all is 0, whatever the zero point. QLINEAR_MEAN scales
// its sums in float32.
#include "intaglio/nn/ops/reduce/mean.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "intaglio/fixedpoint/requantize_bounded.h"
#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/reduce/reduce.h"
#include "intaglio/nn/ops/support/binary.h"
#include "intaglio/nn/ops/support/half_even.h"
#include "intaglio/nn/ops/support/loops.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// Sums times `scale` count steps of the output.
struct HalfEvenMean {
  float scale = 1;
  HalfEvenQuantizer steps;  // of scale 1
};

template <class T>
class MeanRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const T*>(arguments.inputs[0]);
    auto* const sums = static_cast<int32_t*>(arguments.scratch);
    std::fill_n(sums, count, WrappingSub(0, zero_sum));
    AddAll(in, sums);
    auto* const out = static_cast<T*>(arguments.outputs[0]);
    if (half_even) {
      for (size_t i = 0; i < count; ++i) {
        const float mean = static_cast<float>(sums[i]) * half_even->scale;
        out[i] = static_cast<T>(QuantizeHalfEven(half_even->steps, mean));
      }
    } else if (bounded) {
      Finish(sums, DoubleRoundingBounded<Scalar>(multiplier.mantissa, multiplier.right_shift()),
             out);
    } else {
      const auto scaled = [m = multiplier](int32_t sum) { return Requantize(sum, m); };
      Finish(sums, scaled, out);
    }
    return {};
  }

  Loops<2> loops;  // the input, the sums; a reduced dimension has stride 0 in the sums
  // Where bytes of lines are added up, by the kernel: what lies inside `loops`.
  LineStack lines{};
  decltype(LineRoutines::add_lines) add_lines = nullptr;
  size_t count = 0;
  int32_t zero_sum = 0;  // input zero point times the number of elements of a sum
  QuantizedMultiplier multiplier;
  bool bounded = false;  // as DoubleRoundingBounded asks
  int32_t zero_point = 0;
  Range range;
  std::optional<HalfEvenMean> half_even;  // instead of the four above

 private:
  template <class Scaled>
  void Finish(const int32_t* sums, const Scaled& scaled, T* out) const {
    for (size_t i = 0; i < count; ++i) {
      out[i] = static_cast<T>(AddAndClamp(scaled(sums[i]), zero_point, range));
    }
  }
  void AddAll(const T* in, int32_t* sums) const {
    const ptrdiff_t extent = loops.inner_extent();
    const bool reduces = loops.inner_strides()[1] == 0;
    loops.Run([&](const Loops<2>::Offsets& offsets) {
      const T* const from = in + offsets[0];
      int32_t* const to = sums + offsets[1];
      if (add_lines != nullptr) {
        LineStack stack = lines;
        stack.in = reinterpret_cast<const uint8_t*>(from);
        add_lines(stack, to);
      } else if (reduces) {
        *to = WrappingAdd(*to, SumOf(from, extent));
      } else {
        AddTo(to, from, extent);
      }
    });
  }
  static int32_t SumOf(const T* in, ptrdiff_t extent) {
    uint32_t sum = 0;
    for (ptrdiff_t i = 0; i < extent; ++i) sum += static_cast<uint32_t>(int32_t{in[i]});
    return static_cast<int32_t>(sum);
  }
  static void AddTo(int32_t* sums, const T* in, ptrdiff_t extent) {
    for (ptrdiff_t i = 0; i < extent; ++i) sums[i] = WrappingAdd(sums[i], int32_t{in[i]});
  }
};

// As TFLite folds 1 / count into the multiplier: the mantissa is made longer by as many bits as the
// division will take, as far as 64 bits and the exponent allow, and the quotient is truncated.
QuantizedMultiplier DividedBy(QuantizedMultiplier multiplier, int64_t count) {
  const int bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(count))) - 1;
  const int shift = std::max(0, std::min({bits, 32, 31 + multiplier.exponent}));
  const int64_t mantissa = (int64_t{multiplier.mantissa} << shift) / count;
  return {static_cast<int32_t>(mantissa), multiplier.exponent - shift};
}

// Whether the innermost dimension is of lines, which the one around it adds up.
bool AddsLines(const Loops<2>& loops) {
  return loops.rank() > 1 && loops.inner_strides() == Loops<2>::Offsets{1, 1} &&
         loops.strides(loops.rank() - 2)[1] == 0;
}

// Whether sums of numbers of this range are what DoubleRoundingBounded takes.
bool IsBounded(const QuantizedSum& sum, Range range) {
  constexpr int64_t kBound = int64_t{1} << 30;
  const int64_t count = sum.reduction.count;
  return sum.multiplier.exponent <= 0 && count < kBound / 256 &&
         range.min * count - sum.zero_sum >= -kBound && range.max * count - sum.zero_sum < kBound;
}

template <class T>
std::shared_ptr<const Routine> MakeRoutine(const QuantizedSum& sum, size_t count,
                                           const LineRoutines& routines,
                                           const std::optional<HalfEvenMean>& half_even) {
  auto routine = std::make_shared<MeanRoutine<T>>();
  const Loops<2>& loops = sum.reduction.loops;
  routine->loops = loops;
  if (sizeof(T) == 1 && AddsLines(loops)) {
    const size_t around = loops.rank() - 2;
    routine->lines = {nullptr, loops.strides(around)[0], loops.extent(around), loops.inner_extent(),
                      static_cast<uint8_t>(std::is_signed_v<T> ? 0x80 : 0)};
    routine->add_lines = routines.add_lines;
    routine->loops = loops.Outer();
  }
  routine->count = count;
  routine->zero_sum = sum.zero_sum;
  routine->multiplier = sum.multiplier;
  routine->bounded = IsBounded(sum, RangeOf(TypeOf<T>));
  routine->zero_point = sum.out.zero_point;
  routine->range = RangeOf(TypeOf<T>);
  routine->half_even = half_even;
  return routine;
}

Result<PreparedLayer> PrepareSum(const LayerView& layer, const LayerOptions& options,
                                 const QuantizedSum& sum,
                                 const std::optional<HalfEvenMean>& half_even = {}) {
  const Result<const LineRoutines*> routines = LinesOf(options.kernel);
  if (!routines.ok()) return layer.Wrap(routines.status());
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  PreparedLayer prepared;
  prepared.routine = VisitType<int8_t, uint8_t, int16_t>(layer.output().type, [&](auto zero) {
    return MakeRoutine<decltype(zero)>(sum, count, **routines, half_even);
  });
  prepared.scratch_bytes = *CountBytes(layer.output().shape, Type::kInt32);
  return prepared;
}

Result<PreparedLayer> PrepareQuantizedSum(const LayerView& layer, const LayerOptions& options,
                                          const std::vector<int>& axes, bool divide) {
  const Result<QuantizedSum> sum = QuantizedSumOf(layer, axes, divide);
  if (!sum.ok()) return sum.status();
  return PrepareSum(layer, options, *sum);
}

Result<PreparedLayer> PrepareFloatMean(const LayerView& layer, const LayerOptions&) {
  const std::vector<int>& axes = layer.op<Mean>().axes;
  Result<PreparedLayer> prepared = PreparePlainSum(layer, axes);
  const Result<Reduction> reduction = ReductionOf(layer, axes);
  if (!prepared.ok() || !reduction.ok()) return prepared;
  const auto count = static_cast<size_t>(*CountElements(layer.output().shape));
  prepared->routine = RoutineOf([count, divisor = static_cast<float>(reduction->count),
                                 sums = prepared->routine](const RunArguments& arguments) {
    const Status status = sums->Run(arguments);
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    for (size_t i = 0; i < count; ++i) out[i] /= divisor;
    // The sign of 0 / 0 would depend on the CPU.
    if (divisor == 0) std::fill_n(out, count, std::numeric_limits<float>::quiet_NaN());
    return status;
  });
  return prepared;
}

}  // namespace

Result<QuantizedSum> QuantizedSumOf(const LayerView& layer, const std::vector<int>& axes,
                                    bool divide) {
  const Result<Reduction> reduction = ReductionOf(layer, axes);
  if (!reduction.ok()) return reduction.status();
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Result<QuantizedMultiplier> multiplier = MakeMultiplier(
      layer, static_cast<double>(q->input.scale) / static_cast<double>(q->output.scale));
  if (!multiplier.ok()) return multiplier.status();
  const auto zero_sum = static_cast<int32_t>(q->input.zero_point * reduction->count);
  if (reduction->count == 0) return QuantizedSum{*reduction, 0, {}, {}};
  return QuantizedSum{*reduction, zero_sum,
                      divide ? DividedBy(*multiplier, reduction->count) : *multiplier, q->output};
}

namespace {

Result<PreparedLayer> PrepareQuantizedMean(const LayerView& layer, const LayerOptions& options) {
  return PrepareQuantizedSum(layer, options, layer.op<Mean>().axes, true);
}

Result<PreparedLayer> PrepareQLinearMean(const LayerView& layer, const LayerOptions& options) {
  const Result<Reduction> reduction = ReductionOf(layer, layer.op<QLinearMean>().axes);
  if (!reduction.ok()) return reduction.status();
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Result<HalfEvenQuantizer> to = OutputQuantizer(layer);
  if (!to.ok()) return to.status();
  HalfEvenMean mean{0, *to};
  mean.steps.scale = 1;
  const int64_t count = reduction->count;
  if (count > 0) mean.scale = q->input.scale / (q->output.scale * static_cast<float>(count));
  const auto zero_sum = static_cast<int32_t>(q->input.zero_point * count);
  return PrepareSum(layer, options, {*reduction, zero_sum, {}, {}}, mean);
}

constexpr Candidate kMeanWays[] = {{"mean", PrepareQuantizedMean, kQuantized},
                                   {"mean", PrepareFloatMean, kFloat}};

Result<PreparedLayer> PrepareRescaledSum(const LayerView& layer, const LayerOptions& options) {
  return PrepareQuantizedSum(layer, options, layer.op<Sum>().axes, false);
}

Result<PreparedLayer> PrepareUnscaledSum(const LayerView& layer, const LayerOptions&) {
  return PreparePlainSum(layer, layer.op<Sum>().axes);
}

constexpr Candidate kSumWays[] = {{"sum", PrepareRescaledSum, kQuantized},
                                  {"reduce", PrepareUnscaledSum, ~kQuantized}};

}  // namespace

constinit const OperatorRow Mean::kRow = {.name = "MEAN",
                                          .min_inputs = 1,
                                          .max_inputs = 1,
                                          .types = kQuantized | kFloat,
                                          .infer = InferReduce<Mean>,
                                          .candidates = kMeanWays};

constinit const OperatorRow QLinearMean::kRow = {
    .name = "QLINEAR_MEAN",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = kEightBit,
    .infer = InferReduce<QLinearMean>,
    .candidates = Candidate{"mean", PrepareQLinearMean}};

constinit const OperatorRow Sum::kRow = {.name = "SUM",
                                         .min_inputs = 1,
                                         .max_inputs = 1,
                                         .types = kNumbers,
                                         .infer = InferReduce<Sum>,
                                         .candidates = kSumWays};

}  // namespace intaglio::nn
