// ADD. Both operands are brought to the scale 2 max(S1, S2) / 2^20, added there, and the sum is
// brought to the output's scale, each time by a fixed-point multiplier. An operand has 256 values,
// so its first step is a table.
#include <algorithm>
#include <array>
#include <string>

#include "intaglio/nn/ops/broadcast.h"
#include "intaglio/nn/ops/ops.h"
#include "intaglio/nn/quantization.h"

namespace intaglio::nn {
namespace {

constexpr int kLeftShift = 20;

using TermTable = std::array<int32_t, 256>;

class AddRoutine final : public Routine {
 public:
  Status Run(const RunArguments& arguments) const override {
    const auto* const a = static_cast<const uint8_t*>(arguments.inputs[0]);
    const auto* const b = static_cast<const uint8_t*>(arguments.inputs[1]);
    auto* const out = static_cast<uint8_t*>(arguments.outputs[0]);
    const ptrdiff_t step_a = loops.inner_strides()[0];
    const ptrdiff_t step_b = loops.inner_strides()[1];
    const ptrdiff_t extent = loops.inner_extent();
    // Copies, because the compiler must take a byte written for a part of any object.
    const int32_t* const table_a = first.data();
    const int32_t* const table_b = second.data();
    const int32_t zero = zero_point;
    const Range range = clamp;
    // Terms are below 255 * 2^20 / 2, and the multiplier is below 1.
    const DoubleRoundingBounded<Scalar> scale(multiplier.mantissa, multiplier.right_shift());
    loops.Run([=](const Loops<3>::Offsets& offsets) {
      const uint8_t* in_a = a + offsets[0];
      const uint8_t* in_b = b + offsets[1];
      uint8_t* const row = out + offsets[2];
      for (ptrdiff_t i = 0; i < extent; ++i, in_a += step_a, in_b += step_b) {
        const int32_t sum = scale(table_a[*in_a] + table_b[*in_b]) + zero;
        row[i] = static_cast<uint8_t>(std::clamp(sum, range.min, range.max));
      }
    });
    return {};
  }

  Loops<3> loops;  // the operands, the output
  TermTable first;
  TermTable second;
  QuantizedMultiplier multiplier;
  int32_t zero_point = 0;
  Range clamp;
};

// Below 1, as TFLite asks: no sum of terms can overflow then.
Result<QuantizedMultiplier> MultiplierBelowOne(const LayerView& layer, double real) {
  const Result<QuantizedMultiplier> multiplier = MakeMultiplier(layer, real);
  if (!multiplier.ok() || multiplier->exponent <= 0) return multiplier;
  return layer.Unsupported("the multiplier of the scales is " + std::to_string(real) +
                           "; it must be below 1");
}

Result<TermTable> MakeTerms(const LayerView& layer, Type type, const Affine& q, double twice_max) {
  const Result<QuantizedMultiplier> multiplier =
      MultiplierBelowOne(layer, static_cast<double>(q.scale) / twice_max);
  if (!multiplier.ok()) return multiplier.status();
  TermTable terms{};
  const Range range = RangeOf(type);
  for (int32_t x = range.min; x <= range.max; ++x) {
    terms[static_cast<uint8_t>(x)] =
        Requantize((x - q.zero_point) * (1 << kLeftShift), *multiplier);
  }
  return terms;
}

}  // namespace

Result<PreparedLayer> PrepareAdd(const LayerView& layer, const LayerOptions&) {
  const Type type = layer.output().type;
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  if (layer.input(1).type != type) {
    return layer.Unsupported(std::string("the inputs are ") + NameOf(type) + " and " +
                             NameOf(layer.input(1).type));
  }
  const Result<Affine> second = AffineOf(layer, layer.input(1));
  if (!second.ok()) return second.status();
  const Result<Range> clamp = ActivationRange(layer, layer.op<Add>().activation, type, q->output);
  if (!clamp.ok()) return clamp.status();

  const double twice_max = static_cast<double>(2 * std::max(q->input.scale, second->scale));
  const Result<TermTable> terms_a = MakeTerms(layer, type, q->input, twice_max);
  if (!terms_a.ok()) return terms_a.status();
  const Result<TermTable> terms_b = MakeTerms(layer, type, *second, twice_max);
  if (!terms_b.ok()) return terms_b.status();
  const Result<QuantizedMultiplier> multiplier = MultiplierBelowOne(
      layer, twice_max / static_cast<double>((1 << kLeftShift) * q->output.scale));
  if (!multiplier.ok()) return multiplier.status();

  auto routine = std::make_shared<AddRoutine>();
  routine->loops = BroadcastLoops<3>(layer);
  routine->first = *terms_a;
  routine->second = *terms_b;
  routine->multiplier = *multiplier;
  routine->zero_point = q->output.zero_point;
  routine->clamp = *clamp;

  PreparedLayer prepared;
  prepared.name = RoutineName(type, "elementwise");
  prepared.constant_bytes = 2 * sizeof(TermTable);
  for (size_t i = 0; i < 2; ++i) {
    if (layer.input(i).shape == layer.output().shape) prepared.in_place_inputs |= 1u << i;
  }
  prepared.routine = std::move(routine);
  return prepared;
}

}  // namespace intaglio::nn
