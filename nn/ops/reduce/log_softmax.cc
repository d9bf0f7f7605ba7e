// LOG_SOFTMAX of 8 bits over the last dimension, into steps of 1/16 down from 0. TFLite's reference
// kernels compute int8 in fixed point and uint8 in float32.
#include "intaglio/nn/ops/reduce/log_softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "intaglio/fixedpoint/logarithm.h"
#include "intaglio/fixedpoint/transcendental.h"
#include "intaglio/gemm/byte_elementwise.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

constexpr int kDifferenceIntegers = 5;
constexpr int kSumIntegers = 12;
constexpr int kOutputIntegers = 4;
constexpr int kMaxRow = 1 << (kSumIntegers - 1);  // terms that a sum holds for sure

// int8, which counts as uint8 moved by 128. Differences to the row's maximum by their magnitude.
//
// TFLite gives the least output to differences whose sum with minus the logarithm is no number of 5
// integer bits. They need no care here: the input's step is below 16, so that those are 24 or more
// below 0, and the least output is 16 below.
struct FixedTables {
  std::array<int32_t, 256> scaled;     // with 26 fraction bits; the least number out of range
  std::array<int32_t, 256> exps = {};  // with 19; 0 out of range
};

class FixedRoutine final : public Routine {
 public:
  FixedRoutine(ptrdiff_t rows, ptrdiff_t depth, const FixedTables& tables,
               const LineRoutines& lines, const LookupRoutines& lookups)
      : rows_(rows),
        depth_(depth),
        terms_([&](int d) { return tables.exps[static_cast<size_t>(d)]; }),
        lines_(lines),
        lookups_(lookups) {
    std::reverse_copy(tables.scaled.begin(), tables.scaled.end(), reversed_.begin());
  }

  Status Run(const RunArguments& arguments) const override {
    const auto* const in = static_cast<const uint8_t*>(arguments.inputs[0]);
    auto* const out = static_cast<uint8_t*>(arguments.outputs[0]);
    ForParts(arguments.context, rows_, kLeastBytesOfThread / 4 / std::max<ptrdiff_t>(1, depth_) + 1,
             [&](ptrdiff_t first, ptrdiff_t last) {
               for (ptrdiff_t row = first; row < last; row += kRowsAtOnce) {
                 RunRows(in + row * depth_, out + row * depth_, std::min(kRowsAtOnce, last - row));
               }
             });
    return {};
  }

 private:
  static constexpr ptrdiff_t kRowsAtOnce = 64;
  static constexpr uint8_t kFlip = 0x80;
  // From here on a row's results are looked up among those of all bytes.
  static constexpr ptrdiff_t kLongRow = 128;

  void RunRows(const uint8_t* in, uint8_t* out, ptrdiff_t count) const {
    RowSum sums[kRowsAtOnce];
    lookups_.sum_rows(terms_, {in, kFlip, count, depth_}, sums);
    LogByReciprocal<kDifferenceIntegers> logs[kRowsAtOnce];
    int32_t reciprocals[kRowsAtOnce];
    for (ptrdiff_t r = 0; r < count; ++r) {
      using Sum = FixedPoint<Scalar, kSumIntegers>;
      logs[r] =
          LogByReciprocal<kDifferenceIntegers>(Sum::FromRaw(static_cast<int32_t>(sums[r].sum)));
      reciprocals[r] = logs[r].denominator_less_1().raw();
    }
    lines_.reciprocals(reciprocals, reciprocals, count);
    for (ptrdiff_t r = 0; r < count; ++r, in += depth_, out += depth_) {
      const int32_t log = logs[r].Log(FixedPoint<Scalar, 0>::FromRaw(reciprocals[r])).raw();
      // By the byte, up to the largest.
      const int32_t* const scaled = reversed_.data() + 255 - sums[r].largest;
      if (depth_ < kLongRow) {
        WriteShort(log, scaled, in, out);
      } else {
        WriteLong(log, scaled, sums[r].largest, in, out);
      }
    }
  }

  // Logarithms may be some units below 0, no more: with the half no number is negative.
  static void Finish(int32_t log, const int32_t* scaled, ptrdiff_t count, int8_t* out) {
    constexpr int kShift = 31 - kDifferenceIntegers - kOutputIntegers;
    const uint32_t top = static_cast<uint32_t>(log) + (1u << (kShift - 1));
    for (ptrdiff_t i = 0; i < count; ++i) {
      const auto steps = static_cast<int32_t>((top - static_cast<uint32_t>(scaled[i])) >> kShift);
      out[i] = static_cast<int8_t>(127 - std::min(steps, 255));
    }
  }

  void WriteShort(int32_t log, const int32_t* scaled, const uint8_t* in, uint8_t* out) const {
    int32_t found[kLongRow];
    for (ptrdiff_t i = 0; i < depth_; ++i) found[i] = scaled[in[i] ^ kFlip];
    Finish(log, found, depth_, reinterpret_cast<int8_t*>(out));
  }

  void WriteLong(int32_t log, const int32_t* scaled, int32_t largest, const uint8_t* in,
                 uint8_t* out) const {
    std::array<int8_t, 256> results = {};
    Finish(log, scaled, largest + 1, results.data());
    std::rotate(results.begin(), results.begin() + kFlip, results.end());
    lookups_.translate(reinterpret_cast<const uint8_t*>(results.data()), in, out, depth_);
  }

  ptrdiff_t rows_;
  ptrdiff_t depth_;
  std::array<int32_t, 256> reversed_;
  TermTable terms_;
  const LineRoutines& lines_;
  const LookupRoutines& lookups_;
};

class FloatRoutine final : public Routine {
 public:
  FloatRoutine(ptrdiff_t rows, ptrdiff_t depth, float in_scale, float out_scale)
      : rows_(rows), depth_(depth), in_scale_(in_scale), out_scale_(out_scale) {
    for (size_t d = 0; d < exps_.size(); ++d)
      exps_[d] = std::exp(-in_scale * static_cast<float>(d));
  }

  Status Run(const RunArguments& arguments) const override {
    const auto* in = static_cast<const uint8_t*>(arguments.inputs[0]);
    auto* out = static_cast<uint8_t*>(arguments.outputs[0]);
    for (ptrdiff_t row = 0; row < rows_; ++row, in += depth_, out += depth_) RunRow(in, out);
    return {};
  }

 private:
  void RunRow(const uint8_t* in, uint8_t* out) const {
    const int32_t max = *std::max_element(in, in + depth_);
    float sum = 0;
    for (ptrdiff_t i = 0; i < depth_; ++i) sum += exps_[static_cast<size_t>(max - in[i])];
    const float steps = in_scale_ / out_scale_;
    const float offset = (in_scale_ * static_cast<float>(max) + std::log(sum)) / out_scale_;
    for (ptrdiff_t i = 0; i < depth_; ++i) {
      const float value = std::rint(steps * static_cast<float>(in[i]) - offset);
      const auto limited = static_cast<int32_t>(std::fmax(value, -256.0f));
      out[i] = static_cast<uint8_t>(AddAndClamp(limited, 255, RangeOf(Type::kUInt8)));
    }
  }

  ptrdiff_t rows_;
  ptrdiff_t depth_;
  float in_scale_;
  float out_scale_;
  std::array<float, 256> exps_ = {};  // of differences by their magnitude
};

Result<FixedTables> MakeFixedTables(const LayerView& layer, float scale) {
  const double real = static_cast<double>(scale) * (1 << (31 - kDifferenceIntegers));
  if (!(real > 1))
    return layer.Invalid("the input scale " + std::to_string(scale) + " is too small");
  const Result<QuantizedMultiplier> multiplier = MakeMultiplier(layer, real);
  if (!multiplier.ok()) return multiplier.status();
  FixedTables tables;
  tables.scaled.fill(std::numeric_limits<int32_t>::min());
  const auto limit = static_cast<int32_t>(
      std::floor(31.0 * (1 << (31 - kDifferenceIntegers)) / std::ldexp(1, multiplier->exponent)));
  for (int32_t d = 0; d < 256 && d <= limit; ++d) {
    using Difference = FixedPoint<Scalar, kDifferenceIntegers>;
    const auto at = static_cast<size_t>(d);
    tables.scaled[at] = Requantize(-d, *multiplier);
    tables.exps[at] =
        Rescale<kSumIntegers>(ExpOnNegativeValues(Difference::FromRaw(tables.scaled[at]))).raw();
  }
  return tables;
}

}  // namespace

Result<PreparedLayer> PrepareLogSoftmax8(const LayerView& layer, const LayerOptions& options) {
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  const Type type = layer.output().type;
  if (q->output.scale != 1.0f / 16 || q->output.zero_point != RangeOf(type).max) {
    return layer.Unsupported("an output with another quantization than steps of 1/16 below 0");
  }
  const Shape& shape = layer.input(0).shape;
  const ptrdiff_t depth = shape.back();
  const ptrdiff_t rows = depth == 0 ? 0 : static_cast<ptrdiff_t>(*CountElements(shape) / depth);
  PreparedLayer prepared;
  prepared.in_place_inputs = 1;
  if (type == Type::kUInt8) {
    prepared.constant_bytes = sizeof(FloatRoutine);
    prepared.routine = std::make_shared<FloatRoutine>(rows, depth, q->input.scale, q->output.scale);
    return prepared;
  }
  if (depth > kMaxRow) {
    return layer.Unsupported("rows of " + std::to_string(depth) + " elements; at most " +
                             std::to_string(kMaxRow));
  }
  const Result<FixedTables> tables = MakeFixedTables(layer, q->input.scale);
  if (!tables.ok()) return tables.status();
  const Result<const LineRoutines*> lines = LinesOf(options.kernel);
  if (!lines.ok()) return layer.Wrap(lines.status());
  const Result<const LookupRoutines*> lookups = LookupsOf(options.kernel);
  if (!lookups.ok()) return layer.Wrap(lookups.status());
  prepared.constant_bytes = sizeof(FixedRoutine);
  prepared.routine = std::make_shared<FixedRoutine>(rows, depth, *tables, **lines, **lookups);
  return prepared;
}

}  // namespace intaglio::nn
